#include "codegen/ptx/lowering.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/ptx/run_lowering.h"
#include "codegen/ptx/team_lowering.h"
#include "passes/lower_reductions.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

constexpr size_t kViewsOfStencil = 3;
constexpr int64_t kRowsOfStencil = 2;
constexpr int64_t kDistanceOfStencil = 32;  // a warp reads neighbours
// At once on a multiprocessor. Of chains what counts are the reads under way, which need registers, as does
// what elementary functions of float64 compute side by side.
constexpr int kBlocksOfChains = 2;
constexpr int kBlocksOfDear = 5;
constexpr int kBlocksOfDearFloat64 = 3;
constexpr int kBlocksOfSmall = 4;  // 64 registers: the assembler would take 87, and spills none with these

// A thread computes a point, or some neighbours.
class PtxThreadLowering final : public PtxRunLowering {
public:
    using PtxRunLowering::PtxRunLowering;

private:
    void lower_grid(const Region& region, std::span<llvm::Value* const> sizes) override {
        const size_t rank = sizes.size();
        if (rank > 0) choose_points(region);
        limit_registers(region);
        if (is_followed()) {
            lower_columns(region, sizes);
            return;
        }
        llvm::Value* block = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
        llvm::Value* threads = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
        llvm::Value* thread = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
        if (rank == 0) {
            return_unless(builder_.CreateICmpEQ(
                builder_.CreateNSWAdd(builder_.CreateNSWMul(block, threads), thread), index_constant(0)));
            lower_region(region);
            return;
        }
        // What threads are counted by: points, or runs of points, and rows of a tile.
        std::vector<llvm::Value*> units(sizes.begin(), sizes.end());
        units[along_] = distance_ == 1 ? quotient_up(sizes[along_], lanes_) : spread_units(sizes[along_]);
        if (any_address_) units[along_] = builder_.CreateNSWAdd(units[along_], index_constant(1), "units");
        if (tiled_) units[tile_] = quotient_up(sizes[tile_], rows_);
        const std::vector<llvm::Value*> point =
            tiled_ ? point_of_tile(block, units)
                   : point_of_row(
                         builder_.CreateNSWAdd(builder_.CreateNSWMul(block, threads), thread, "unit"), units);
        for (size_t d = 0; d < rank; ++d) {
            if (d != along_ && (!tiled_ || d != tile_)) set_index(region, d, point[d]);
        }
        if (tiled_) set_index(region, tile_, builder_.CreateNSWMul(point[tile_], index_constant(rows_)));
        if (any_address_) {
            lower_shifted_run(region, point[along_], units[along_], sizes[along_]);
        } else if (lanes_ * rows_ == 1) {
            set_index(region, along_, point[along_]);
            lower_region(region);
        } else {
            lower_runs(region, point, units[along_], sizes);
        }
    }

    // How many points a thread takes, and which are neighbours.
    void choose_points(const Region& region) {
        const size_t rank = region.arguments.size();
        along_ = has_chains(region) ? nearest_dimension(region) : rank - 1;
        find_runs(region);
        if (lanes_ == 1 && !is_followed()) along_ = nearest_dimension(region);
        any_address_ = distance_ == 1 && reaches_any_address(region);
        tiled_ = distance_ == 1 && rank > 1 && is_stencil(region);
        if (tiled_) {
            tile_ = along_ == rank - 1 ? rank - 2 : rank - 1;
            if (!any_address_ && is_short(region)) {
                rows_ = kRowsOfStencil;
                distance_ = kDistanceOfStencil;
            }
        }
        image_.points_per_thread = static_cast<int>(lanes_);
        image_.run_dimension = lanes_ > 1 || tiled_ || is_followed() ? static_cast<int>(along_) : -1;
        image_.shifted_runs = any_address_;
        image_.tile_dimension = tiled_ ? static_cast<int>(tile_) : -1;
        image_.rows_per_thread = static_cast<int>(rows_);
        image_.run_distance = static_cast<int>(distance_);
    }

    // Whether several views of what may be one array are read, in a plane: rows that are near each other are
    // then worth reading by one block.
    bool is_stencil(const Region& region) const {
        std::map<std::pair<uint16_t, std::vector<uint32_t>>, std::set<uint32_t>> views;
        for (const Instruction& instruction : region.body) {
            if (!instruction.regions.empty()) return false;
            if (instruction.opcode != Opcode::kLoad || instruction.predicated) continue;
            const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
            if (type.space != AddressSpace::kGlobal) continue;
            std::vector<uint32_t> indices;
            bool along = false;
            for (size_t d = 0; d < type.strides.size(); ++d) {
                if (type.strides[d] == 0) continue;
                indices.push_back(instruction.operands[d + 1].index);
                along |= instruction.operands[d + 1] == region.arguments[along_];
            }
            if (along && indices.size() > 1)
                views[{type.alias_scope, indices}].insert(instruction.operands[0].index);
        }
        return std::any_of(views.begin(), views.end(),
                           [](const auto& entry) { return entry.second.size() >= kViewsOfStencil; });
    }

    // --- which point is a thread's -------------------------------------------------------------------

    void set_index(const Region& region, size_t d, llvm::Value* index) {
        scalars_[region.arguments[d].index].parts[0] = from_index(index);
    }
    llvm::Value* quotient_up(llvm::Value* value, int64_t divisor) {
        if (divisor == 1) return value;
        return builder_.CreateUDiv(builder_.CreateAdd(value, index_constant(divisor - 1)),
                                   index_constant(divisor), "units");
    }
    // Threads that take all points of a row, each some that are `distance_` apart.
    llvm::Value* spread_units(llvm::Value* size) {
        llvm::Value* span = index_constant(lanes_ * distance_);
        llvm::Value* whole = builder_.CreateUDiv(size, span);
        llvm::Value* rest = builder_.CreateSub(size, builder_.CreateMul(whole, span));
        return builder_.CreateAdd(
            builder_.CreateMul(whole, index_constant(distance_)),
            builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, rest, index_constant(distance_)), "units");
    }
    // The dimensions but `along_`.
    std::vector<size_t> others(size_t rank) const {
        std::vector<size_t> order(rank);
        std::iota(order.begin(), order.end(), size_t{0});
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(along_));
        return order;
    }

    // Neighbouring threads read neighbours in memory.
    std::vector<llvm::Value*> point_of_row(llvm::Value* unit, std::span<llvm::Value* const> units) {
        std::vector<size_t> order = others(units.size());
        order.push_back(along_);
        std::vector<llvm::Value*> point = decompose(unit, units, order);
        return_unless(builder_.CreateICmpSLT(point[order[0]], units[order[0]]));
        return point;
    }

    // A block's threads are a tile, as wide and as high as the launch says: powers of two.
    std::vector<llvm::Value*> point_of_tile(llvm::Value* block, std::span<llvm::Value* const> units) {
        llvm::Value* width = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
        llvm::Value* height = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y);
        llvm::Value* padded = builder_.CreateAdd(units[along_], builder_.CreateSub(width, index_constant(1)));
        llvm::Value* tiles = builder_.CreateLShr(
            padded, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, width, builder_.getTrue()),
            "tiles");
        block = in_turn(block);
        llvm::Value* y = builder_.CreateUDiv(block, tiles);
        llvm::Value* x = builder_.CreateNSWSub(block, builder_.CreateNSWMul(y, tiles));
        const auto place = [&](llvm::Value* tile, llvm::Value* size, llvm::Intrinsic::ID thread) {
            return builder_.CreateNSWAdd(builder_.CreateNSWMul(tile, size), special_register(thread));
        };
        llvm::Value* run = place(x, width, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
        llvm::Value* row = place(y, height, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y);
        const std::vector<size_t> order = others(units.size());
        std::vector<llvm::Value*> point = decompose(row, units, order);
        point[along_] = run;
        return_unless(builder_.CreateAnd(builder_.CreateICmpSLT(run, units[along_]),
                                         builder_.CreateICmpSLT(point[order[0]], units[order[0]])));
        return point;
    }

    // Steps of a loop write to two buffers in turn. Blocks run backwards where what is written lies before
    // what is read, so that a step first reads what the step before it wrote last, which a cache may still
    // have.
    llvm::Value* in_turn(llvm::Value* block) {
        llvm::Value *read = nullptr, *written = nullptr;
        for (const ValueId parameter : kernel_.parameters) {
            const ir::Type& type = kernel_.type(parameter);
            if (!type.is_buffer) continue;
            llvm::Value*& first = type.buffer.readonly ? read : written;
            if (first == nullptr) first = buffers_.at(parameter.index).base;
        }
        if (read == nullptr || written == nullptr) return block;
        llvm::Value* blocks = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
        llvm::Value* backwards =
            builder_.CreateNSWSub(builder_.CreateNSWSub(blocks, index_constant(1)), block);
        return builder_.CreateSelect(builder_.CreateICmpULT(written, read), backwards, block);
    }

    // The dimension along which most accesses run without gaps, the last one of equals.
    static size_t most_of(std::span<const int> votes) {
        size_t most = votes.size() - 1;
        for (size_t d = votes.size(); d-- > 0;) {
            if (votes[d] > votes[most]) most = d;
        }
        return most;
    }
    // Of those that a second kernel shares, if there is one.
    size_t nearest_dimension(const Region& region) const {
        std::vector<int> votes(region.arguments.size());
        count_accesses(region, region.arguments, 1, votes);
        if (is_followed()) votes.resize(shared_dimensions());
        return most_of(votes);
    }
    // What is in a loop counts more.
    void count_accesses(const Region& region, std::span<const ValueId> point, int weight,
                        std::span<int> votes) const {
        for (const Instruction& instruction : region.body) {
            for (const Region& inner : instruction.regions)
                count_accesses(inner, point,
                               instruction.opcode == Opcode::kIf ? weight : std::min(16 * weight, 1 << 16),
                               votes);
            const bool loads = instruction.opcode == Opcode::kLoad;
            if (!loads && instruction.opcode != Opcode::kStore) continue;
            const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
            if (type.space != AddressSpace::kGlobal) continue;
            for (size_t d = 0; d < type.strides.size(); ++d) {
                const int64_t itemsize = DType(type.element).itemsize();  // a dynamic stride has no magnitude
                if (type.strides[d] != itemsize && type.strides[d] != -itemsize) continue;
                const ValueId index = instruction.operands[d + (loads ? 1 : 2)];
                const auto found = std::find(point.begin(), point.end(), index);
                if (found != point.end()) votes[static_cast<size_t>(found - point.begin())] += weight;
            }
        }
    }

    // --- runs ----------------------------------------------------------------------------------------

    // The lanes of each of a thread's rows.
    using Rows = std::vector<Lanes>;
    Rows make_rows() const {
        return Rows(static_cast<size_t>(rows_), Lanes(static_cast<size_t>(lanes_), scalars_));
    }

    // Runs of points, at once where accesses are aligned and the runs are whole; else the points, far apart
    // in the row where nothing is aligned, side by side as well if that is not much code, or one after
    // another.
    void lower_runs(const Region& region, std::span<llvm::Value* const> point, llvm::Value* units,
                    std::span<llvm::Value* const> sizes) {
        llvm::Value* unit = point[along_];
        llvm::Value* size = sizes[along_];
        if (distance_ > 1) {
            lower_spread(region, unit, sizes);
            return;
        }
        llvm::Value* aligned = runs_are_aligned();
        llvm::Value* first = builder_.CreateNSWMul(unit, index_constant(lanes_), "first");
        lower_run(region, aligned, first,
                  {builder_.CreateSelect(aligned, first, unit),
                   builder_.CreateSelect(aligned, index_constant(1), units)},
                  size);
    }

    // Where a thread's points are that are not computed at once: the first, and how far the next is.
    struct Apart {
        llvm::Value *begin, *step;
    };
    void lower_run(const Region& region, llvm::Value* aligned, llvm::Value* first, const Apart& iterations,
                   llvm::Value* size) {
        llvm::Value* whole =
            builder_.CreateICmpSLE(first, builder_.CreateNSWSub(size, index_constant(lanes_)));
        llvm::BasicBlock* at_once = new_block("lanes");
        llvm::BasicBlock* apart = new_block("apart");
        llvm::BasicBlock* after = new_block("end");
        builder_.CreateCondBr(builder_.CreateAnd(aligned, whole), at_once, apart);

        builder_.SetInsertPoint(at_once);
        lower_whole(region, first, Reach::kAligned);
        builder_.CreateBr(after);

        builder_.SetInsertPoint(apart);
        if (is_short(region)) {
            lower_apart(region, iterations.begin, iterations.step, size, nullptr, nullptr);
            builder_.CreateBr(after);
        } else {
            lower_iterations(region, iterations.begin, iterations.step, size, after);
        }
        builder_.SetInsertPoint(after);
    }

    // Before a second kernel: a block has some columns of some rows, and the last of those columns goes on
    // with them. The row of a thread is all that the second kernel does not share.
    void lower_columns(const Region& region, std::span<llvm::Value* const> sizes) {
        llvm::Value* block = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
        llvm::Value* width = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
        llvm::Value* height = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y);
        llvm::Value* x = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
        llvm::Value* y = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y);
        const auto quotient = [&](llvm::Value* value, llvm::Value* divisor) {
            llvm::Value* padded = builder_.CreateAdd(value, builder_.CreateSub(divisor, index_constant(1)));
            return builder_.CreateUDiv(padded, divisor);
        };
        std::vector<size_t> leading, rest;
        llvm::Value* rows = index_constant(1);
        for (size_t d = 0; d < sizes.size(); ++d) {
            if (d == along_) continue;
            (d < shared_dimensions() ? leading : rest).push_back(d);
            if (d >= shared_dimensions()) rows = builder_.CreateNSWMul(rows, sizes[d]);
        }
        llvm::Value* size = sizes[along_];
        llvm::Value* columns = builder_.CreateNSWMul(width, index_constant(lanes_), "columns");
        llvm::Value* tiles = quotient(size, columns);
        llvm::Value* blocks = quotient(rows, height);
        llvm::Value* tile = builder_.CreateUDiv(block, blocks, "tile");
        llvm::Value* number = builder_.CreateUDiv(tile, tiles);
        llvm::Value* start = builder_.CreateNSWMul(
            builder_.CreateNSWSub(tile, builder_.CreateNSWMul(number, tiles)), columns, "start");
        for_second_ = {
            tile,
            blocks,
            number,
            static_cast<int>(along_),
            start,
            builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, columns, builder_.CreateNSWSub(size, start))};
        llvm::Value* above =
            builder_.CreateNSWMul(builder_.CreateNSWSub(block, builder_.CreateNSWMul(tile, blocks)), height);
        llvm::Value* row = builder_.CreateNSWAdd(above, y, "row");
        llvm::Value* aligned = lanes_ == 1 ? builder_.getTrue() : runs_are_aligned();
        llvm::Value* first =
            builder_.CreateNSWAdd(start, builder_.CreateNSWMul(x, index_constant(lanes_)), "first");
        const Apart iterations{builder_.CreateSelect(aligned, first, builder_.CreateNSWAdd(start, x)),
                               builder_.CreateSelect(aligned, index_constant(1), width)};
        return_unless(builder_.CreateAnd(builder_.CreateICmpSLT(iterations.begin, size),
                                         builder_.CreateICmpSLT(row, rows)));
        const auto set = [&](llvm::Value* from, const std::vector<size_t>& order) {
            if (order.empty()) return;
            const std::vector<llvm::Value*> point = decompose(from, sizes, order);
            for (const size_t d : order) set_index(region, d, point[d]);
        };
        set(number, leading);
        set(row, rest);
        if (lanes_ == 1) {
            set_index(region, along_, first);
            lower_region(region);
        } else {
            lower_run(region, aligned, first, iterations, size);
        }
    }

    // Some rows of points that are `distance_` apart, since the views of a stencil are hardly ever aligned
    // together. Where all are there, and where some may be missing.
    // And a row of points that are drawn.
    void lower_spread(const Region& region, llvm::Value* unit, std::span<llvm::Value* const> sizes) {
        llvm::Value* distance = index_constant(distance_);
        llvm::Value* group = builder_.CreateUDiv(unit, distance);
        llvm::Value* before = builder_.CreateNSWMul(group, index_constant((lanes_ - 1) * distance_));
        llvm::Value* first = builder_.CreateNSWAdd(unit, before, "first");
        const auto there = [&](llvm::Value* at, int64_t further, llvm::Value* size) {
            return builder_.CreateICmpSLT(at, builder_.CreateNSWSub(size, index_constant(further)));
        };
        llvm::Value* all = there(first, (lanes_ - 1) * distance_, sizes[along_]);
        llvm::Value* row = nullptr;
        if (rows_ > 1) {
            row = to_index(scalars_[region.arguments[tile_].index].parts[0]);
            all = builder_.CreateAnd(all, there(row, rows_ - 1, sizes[tile_]));
        }
        if (row == nullptr) begin_steps_at(builder_.CreateZExt(first, builder_.getInt64Ty()));
        llvm::BasicBlock* whole = new_block("spread");
        llvm::BasicBlock* apart = new_block("apart");
        llvm::BasicBlock* after = new_block("end");
        builder_.CreateCondBr(all, whole, apart);
        builder_.SetInsertPoint(whole);
        Rows rows = make_rows();
        for (size_t r = 0; r < rows.size(); ++r) {
            llvm::Value* at = nullptr;
            if (row != nullptr)
                at = from_index(builder_.CreateNSWAdd(row, index_constant(static_cast<int64_t>(r))));
            for (size_t k = 0; k < rows[r].size(); ++k) {
                const int64_t further = static_cast<int64_t>(k) * distance_;
                if (at != nullptr) rows[r][k][region.arguments[tile_].index].parts[0] = at;
                rows[r][k][region.arguments[along_].index].parts[0] =
                    from_index(builder_.CreateNSWAdd(first, index_constant(further)));
            }
        }
        lower_rows(region, rows, Reach::kSpread);
        builder_.CreateBr(after);
        builder_.SetInsertPoint(apart);
        if (row != nullptr) {
            lower_apart(region, first, distance, sizes[along_], row, sizes[tile_]);
            builder_.CreateBr(after);
        } else {
            begin_steps_again();
            lower_iterations(region, first, distance, sizes[along_], after);
            end_steps();
        }
        builder_.SetInsertPoint(after);
    }

    // Runs that begin where what is written is aligned, which may be before the row's first point; what is
    // read may begin anywhere. Runs that are not whole, and all where several things are written that are not
    // aligned together, are computed point by point.
    void lower_shifted_run(const Region& region, llvm::Value* unit, llvm::Value* units, llvm::Value* size) {
        const RowStart start = start_of_row(region);
        llvm::Value* first =
            builder_.CreateNSWSub(builder_.CreateNSWMul(unit, index_constant(lanes_)), start.shift, "first");
        llvm::Value* end = builder_.CreateNSWAdd(first, index_constant(lanes_));
        llvm::Value* zero = index_constant(0);
        llvm::Value* whole =
            builder_.CreateAnd(builder_.CreateICmpSGE(first, zero), builder_.CreateICmpSLE(end, size));
        llvm::BasicBlock* at_once = new_block("at_once");
        llvm::BasicBlock* aligned = new_block("lanes");
        llvm::BasicBlock* shifted = new_block("shifted");
        llvm::BasicBlock* apart = new_block("apart");
        llvm::BasicBlock* after = new_block("end");
        builder_.CreateCondBr(builder_.CreateAnd(start.writes_aligned, whole), at_once, apart);
        builder_.SetInsertPoint(at_once);
        builder_.CreateCondBr(start.reads_aligned, aligned, shifted);

        builder_.SetInsertPoint(aligned);
        lower_whole(region, first, Reach::kAligned);
        builder_.CreateBr(after);
        builder_.SetInsertPoint(shifted);
        lower_whole(region, first, Reach::kShifted);
        builder_.CreateBr(after);

        builder_.SetInsertPoint(apart);
        llvm::Value* inside = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, zero);
        llvm::Value* before = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, size);
        llvm::Value* begin = builder_.CreateSelect(start.writes_aligned, inside, unit);
        llvm::Value* stop = builder_.CreateSelect(start.writes_aligned, before, size);
        llvm::Value* step = builder_.CreateSelect(start.writes_aligned, index_constant(1), units);
        lower_iterations(region, begin, step, stop, after);
        builder_.SetInsertPoint(after);
    }

    void lower_whole(const Region& region, llvm::Value* first, Reach reach) {
        Rows rows = make_rows();
        for (size_t k = 0; k < rows[0].size(); ++k) {
            rows[0][k][region.arguments[along_].index].parts[0] =
                from_index(builder_.CreateNSWAdd(first, index_constant(static_cast<int64_t>(k))));
        }
        if (any_address_) begin_small();
        lower_rows(region, rows, reach);
        end_small();
    }

    void limit_registers(const Region& region) {
        if (has_chains(region)) {
            blocks_at_once_ = kBlocksOfChains;
        } else if (cost_of(region) >= kDear) {
            blocks_at_once_ = is_dear_float64(region) ? kBlocksOfDearFloat64 : kBlocksOfDear;
        } else if (any_address_ && !computes_floats(region)) {
            blocks_at_once_ = kBlocksOfSmall;
        }
    }

    // 16-bit floats are computed in more registers than integers of their size: divmod would spill.
    bool computes_floats(const Region& region) const {
        return std::any_of(region.body.begin(), region.body.end(), [&](const Instruction& instruction) {
            if (instruction.opcode == Opcode::kApply &&
                DType(kernel_.type(instruction.results[0]).scalar).is_floating())
                return true;
            return std::any_of(instruction.regions.begin(), instruction.regions.end(),
                               [&](const Region& inner) { return computes_floats(inner); });
        });
    }

    bool is_short(const Region& region) const {
        constexpr int kMostCost = 24;
        int cost = 0;
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kReduce) return true;
            if (instruction.opcode == Opcode::kApply) cost += instruction.op->cost;
        }
        return lanes_ <= 4 && cost <= kMostCost;
    }

    // Points that are not there are the last one, computed again and not written.
    void lower_apart(const Region& region, llvm::Value* begin, llvm::Value* step, llvm::Value* size,
                     llvm::Value* row, llvm::Value* row_count) {
        // Which of `count` places are there, and the nearest that is. The first always is.
        struct Place {
            llvm::Value *present = nullptr, *index = nullptr;
        };
        const auto places = [&](llvm::Value* at, llvm::Value* by, llvm::Value* end, int64_t count) {
            std::vector<Place> all;
            llvm::Value* last = builder_.CreateNSWSub(end, index_constant(1));
            for (int64_t k = 0; k < count; ++k) {
                // Below `size + units` at most, and unsigned.
                llvm::Value* present = builder_.CreateICmpULE(at, last);
                llvm::Value* nearest = builder_.CreateSelect(present, at, last);
                all.push_back(
                    {k == 0 ? nullptr : present, builder_.CreateZExt(nearest, builder_.getInt64Ty())});
                at = builder_.CreateAdd(at, by);
            }
            return all;
        };
        const std::vector<Place> columns = places(begin, step, size, lanes_);
        std::vector<Place> row_places(1);
        if (row != nullptr) row_places = places(row, index_constant(1), row_count, rows_);
        Rows rows = make_rows();
        for (size_t r = 0; r < rows.size(); ++r) {
            for (size_t k = 0; k < columns.size(); ++k) {
                rows[r][k][region.arguments[along_].index].parts[0] = columns[k].index;
                if (row != nullptr) rows[r][k][region.arguments[tile_].index].parts[0] = row_places[r].index;
                llvm::Value* present = columns[k].present;
                if (llvm::Value* there = row_places[r].present)
                    present = present == nullptr ? there : builder_.CreateAnd(present, there);
                present_.push_back(present);
            }
        }
        lower_rows(region, rows, Reach::kEach);
        present_.clear();
    }

    void lower_iterations(const Region& region, llvm::Value* begin, llvm::Value* step, llvm::Value* end,
                          llvm::BasicBlock* after) {
        llvm::BasicBlock* before = builder_.GetInsertBlock();
        llvm::BasicBlock* test = new_block("iterations");
        llvm::BasicBlock* body = new_block("iteration");
        builder_.CreateBr(test);
        builder_.SetInsertPoint(test);
        llvm::PHINode* i = builder_.CreatePHI(index_type(), 2, "i");
        llvm::PHINode* iteration = builder_.CreatePHI(builder_.getInt32Ty(), 2, "iteration");
        i->addIncoming(begin, before);
        iteration->addIncoming(builder_.getInt32(0), before);
        carry_steps(before);
        // Below `end + units` at most, and unsigned.
        llvm::Value* inside = builder_.CreateICmpULT(i, end);
        llvm::Value* more =
            builder_.CreateICmpULT(iteration, builder_.getInt32(static_cast<uint32_t>(lanes_)));
        builder_.CreateCondBr(builder_.CreateAnd(inside, more), body, after);
        builder_.SetInsertPoint(body);
        scalars_[region.arguments[along_].index].parts[0] = builder_.CreateZExt(i, builder_.getInt64Ty());
        lower_region(region);
        i->addIncoming(builder_.CreateAdd(i, step), builder_.GetInsertBlock());
        iteration->addIncoming(builder_.CreateAdd(iteration, builder_.getInt32(1)),
                               builder_.GetInsertBlock());
        carry_on_steps();
        llvm::BranchInst* back = builder_.CreateBr(test);
        // A loop: unrolled, it would be as long as the lanes' code again.
        back->setMetadata(llvm::LLVMContext::MD_loop, not_unrolled());
    }

    llvm::MDNode* not_unrolled() {
        llvm::Metadata* const parts[] = {
            nullptr,
            llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.unroll.disable")})};
        llvm::MDNode* loop = llvm::MDNode::getDistinct(context_, parts);
        loop->replaceOperandWith(0, loop);
        return loop;
    }

    // Row beside row, so that what all of them read is under way before anything is written.
    void lower_rows(const Region& region, Rows& rows, Reach reach) {
        const std::vector<llvm::Value*> present = std::exchange(present_, {});
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kYield) break;
            for (size_t r = 0; r < rows.size(); ++r) {
                if (!present.empty()) {
                    const auto from = present.begin() + static_cast<std::ptrdiff_t>(r * rows[r].size());
                    present_.assign(from, from + static_cast<std::ptrdiff_t>(rows[r].size()));
                }
                lower_in_lanes(instruction, rows[r], reach);
            }
        }
        present_.clear();
    }

    void lower_in_lanes(const Instruction& instruction, Lanes& lanes, Reach reach) {
        if (instruction.opcode == Opcode::kReduce) {
            lower_chain(instruction, lanes, reach);
            return;
        }
        if (reach == Reach::kSpread && accesses_run(instruction)) {
            access_spread(instruction, lanes);
            return;
        }
        if (reach != Reach::kEach && accesses_run(instruction)) {
            if (instruction.opcode == Opcode::kLoad) {
                load_run(instruction, lanes, reach);
            } else {
                store_run(instruction, lanes);
            }
            return;
        }
        const bool beside = reach == Reach::kAligned || reach == Reach::kShifted;
        if (beside && draws_blocks(instruction)) {
            lower_blocks(instruction, lanes);
            return;
        }
        if (compute_packed(instruction, lanes)) return;
        unpack_operands(instruction, lanes);
        const bool guarded = instruction.opcode == Opcode::kStore && !present_.empty();
        for (size_t k = 0; k < lanes.size(); ++k) {
            scalars_.swap(lanes[k]);
            if (guarded && present_[k] != nullptr) {
                only_if(present_[k], [&] { lower(instruction); });
            } else {
                lower(instruction);
            }
            scalars_.swap(lanes[k]);
        }
    }

    template <class Body>
    void only_if(llvm::Value* condition, const Body& body) {
        llvm::BasicBlock* taken = new_block("present");
        llvm::BasicBlock* after = new_block("present.end");
        builder_.CreateCondBr(condition, taken, after);
        builder_.SetInsertPoint(taken);
        body();
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
    }

    // --- chains: reductions of one lane in one block -------------------------------------------------

    void lower(const Instruction& instruction) override {
        if (instruction.opcode != Opcode::kReduce) {
            PtxRunLowering::lower(instruction);
            return;
        }
        Lanes alone(1, scalars_);
        lower_chain(instruction, alone, Reach::kEach);
        scalars_.swap(alone[0]);
    }

    // Elements are combined one after another, those of several iterations read beforehand, so that many
    // reads are under way at a time.
    void lower_chain(const Instruction& instruction, Lanes& lanes, Reach reach) {
        Values accumulators;
        for (const std::vector<Scalar>& lane : lanes) {
            for (const ValueId initial : std::span(instruction.operands).subspan(1))
                accumulators.push_back(lane[initial.index]);
        }
        const auto i64 = [&](int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
        llvm::Value* size = lanes[0][instruction.operands[0].index].parts[0];
        llvm::Value* whole = i64(0);
        const int64_t iterations = unrolling_of(instruction.regions);
        if (iterations > 1) {
            whole = builder_.CreateSelect(builder_.CreateICmpSGT(size, i64(0)),
                                          builder_.CreateAnd(size, i64(-iterations)), i64(0));
            accumulators = counted_loop(
                i64(0), whole, i64(iterations), accumulators, [&](llvm::Value* at, const Values& before) {
                    return iterations_of_chain(instruction, lanes, reach, at, iterations, before);
                });
        }
        accumulators =
            counted_loop(whole, size, i64(1), accumulators, [&](llvm::Value* at, const Values& before) {
                return iterations_of_chain(instruction, lanes, reach, at, 1, before);
            });
        const size_t width = instruction.results.size();
        for (size_t k = 0; k < lanes.size(); ++k) {
            for (size_t i = 0; i < width; ++i)
                lanes[k][instruction.results[i].index] = accumulators[k * width + i];
        }
    }

    Values iterations_of_chain(const Instruction& instruction, const Lanes& lanes, Reach reach,
                               llvm::Value* at, int64_t count, const Values& before) {
        const Region& element = instruction.regions[0];
        const Region& combination = instruction.regions[1];
        const std::set<const Instruction*> early = reads_of(element);
        std::vector<Lanes> iterations(static_cast<size_t>(count), lanes);
        for (size_t iteration = 0; iteration < iterations.size(); ++iteration) {
            llvm::Value* number = builder_.CreateNSWAdd(at, builder_.getInt64(iteration));
            for (std::vector<Scalar>& lane : iterations[iteration])
                lane[element.arguments[0].index].parts[0] = number;
            for (const Instruction& inner : element.body) {
                if (early.contains(&inner)) lower_in_lanes(inner, iterations[iteration], reach);
            }
        }
        Values values = before;
        const size_t width = instruction.results.size();
        for (Lanes& iteration : iterations) {
            for (const Instruction& inner : element.body) {
                if (inner.opcode != Opcode::kYield && !early.contains(&inner))
                    lower_in_lanes(inner, iteration, reach);
            }
            const Instruction& yield = element.body.back();
            for (size_t k = 0; k < iteration.size(); ++k) {
                scalars_.swap(iteration[k]);
                for (size_t i = 0; i < width; ++i) {
                    scalars_[combination.arguments[i].index] = values[k * width + i];
                    scalars_[combination.arguments[width + i].index] = scalar(yield.operands[i]);
                }
                const Values next = lower_region(combination);
                std::copy(next.begin(), next.end(), values.begin() + static_cast<std::ptrdiff_t>(k * width));
                scalars_.swap(iteration[k]);
            }
        }
        return values;
    }

    bool any_address_ = false;  // what is read may begin anywhere
    bool tiled_ = false;        // blocks are tiles, and a thread takes `rows_` rows of the dimension `tile_`
    size_t tile_ = 0;
    int64_t rows_ = 1;
    std::vector<llvm::Value*> present_;  // which lanes write, where some may be missing; null: those that do
};

}  // namespace

llvm::Function* lower_for_ptx(const ir::Function& kernel, const ir::Function* second,
                              const PtxLoweringOptions& options, llvm::Module& module,
                              BitcodeLibrary& library, CudaKernelImage& image) {
    if (passes::needs_teams(kernel))
        return lower_teams_for_ptx(kernel, second, options, module, library, image);
    return PtxThreadLowering(kernel, options, module, library, image).run(second);
}

}  // namespace weft::codegen
