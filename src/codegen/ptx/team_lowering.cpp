#include "codegen/ptx/team_lowering.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "codegen/ptx/row_cache.h"
#include "codegen/ptx/team.h"

namespace weft::codegen {
namespace {

using ir::AddressSpace;
using ir::BufferType;
using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

constexpr int kTurnsOfWriting = 4;
// Of a whole block, whose instructions take turns: constants are fetched once, and no result is waited for.
constexpr size_t kTurnsSideBySide = 4;
constexpr int64_t kMostElements = int64_t{1} << 48;  // more than any memory has

class PtxTeamLowering final : public PtxTeam {
public:
    using PtxTeam::PtxTeam;

private:
    // --- the grid ------------------------------------------------------------------------------------

    void lower_grid(const Region& region, std::span<llvm::Value* const> sizes) override {
        image_.teams = true;
        find_conflicts();
        find_team_size(region);
        find_threads();
        if (is_second_) {
            if (for_second_.columns != kNoColumns) {
                lower_columns(region, sizes);
            } else {
                set_point(region, decompose(for_second_.number, sizes, in_order(sizes.size())), 0);
                lower_region(region);
            }
            return;
        }
        llvm::Value* block = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
        llvm::Value* teams = special_register(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y);
        if (is_followed()) {
            find_shared_point(region, sizes, block, teams);
            lower_point(region);
            return;
        }
        llvm::Value* unit = builder_.CreateNSWAdd(builder_.CreateNSWMul(block, teams),
                                                  builder_.CreateZExt(team_, index_type()), "unit");
        if (sizes.empty()) {
            return_unless(builder_.CreateICmpEQ(unit, index_constant(0)));
        } else {
            const std::vector<llvm::Value*> point = decompose(unit, sizes, in_order(sizes.size()));
            return_unless(builder_.CreateICmpSLT(point[0], sizes[0]));
            set_point(region, point, 0);
        }
        lower_point(region);
    }

    void set_point(const Region& region, const std::vector<llvm::Value*>& point, size_t first) {
        for (size_t d = 0; d < point.size(); ++d)
            scalars_[region.arguments[first + d].index].parts[0] = from_index(point[d]);
    }

    // Blocks whose teams share the leading indices, those of the second kernel's point.
    void find_shared_point(const Region& region, std::span<llvm::Value* const> sizes, llvm::Value* block,
                           llvm::Value* teams) {
        const size_t shared = shared_dimensions();
        const std::span<llvm::Value* const> leading = sizes.first(shared), others = sizes.subspan(shared);
        llvm::Value* units = index_constant(1);
        for (llvm::Value* size : others) units = builder_.CreateNSWMul(units, size);
        llvm::Value* blocks = builder_.CreateUDiv(
            builder_.CreateNSWAdd(units, builder_.CreateNSWSub(teams, index_constant(1))), teams, "blocks");
        llvm::Value* shared_point = builder_.CreateUDiv(block, blocks, "shared_point");
        for_second_ = {.ticket = shared_point, .blocks = blocks, .number = shared_point};
        llvm::Value* own = builder_.CreateNSWSub(block, builder_.CreateNSWMul(shared_point, blocks));
        llvm::Value* unit = builder_.CreateNSWAdd(builder_.CreateNSWMul(own, teams),
                                                  builder_.CreateZExt(team_, index_type()), "unit");
        return_unless(builder_.CreateICmpSLT(unit, units));
        set_point(region, decompose(shared_point, leading, in_order(leading.size())), 0);
        set_point(region, decompose(unit, others, in_order(others.size())), shared);
    }

    // Points of a second kernel that are neighbours, by teams of as many threads as the partial results of
    // one keep busy. All threads take as many turns; those without a point take part in the last one's.
    void lower_columns(const Region& region, std::span<llvm::Value* const> sizes) {
        const auto along = static_cast<size_t>(for_second_.columns);
        make_small_teams(region);
        llvm::Type* type = index_type();
        llvm::Value* teams = builder_.CreateZExt(builder_.CreateUDiv(threads_, team_threads_), type);
        llvm::Value* team = builder_.CreateZExt(builder_.CreateUDiv(block_thread_, team_threads_), type);
        std::vector<size_t> order = in_order(sizes.size());
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(along));
        if (!order.empty()) {
            const std::vector<llvm::Value*> point = decompose(for_second_.number, sizes, order);
            for (const size_t d : order) scalars_[region.arguments[d].index].parts[0] = from_index(point[d]);
        }
        llvm::Value* last = builder_.CreateNSWSub(for_second_.column_count, index_constant(1));
        counted_loop(
            index_constant(0), for_second_.column_count, teams, {}, [&](llvm::Value* begin, const Values&) {
                llvm::Value* own = builder_.CreateNSWAdd(begin, team);
                takes_part_ = builder_.CreateICmpSLE(own, last);
                llvm::Value* column = builder_.CreateNSWAdd(for_second_.first_column, smaller(own, last));
                scalars_[region.arguments[along].index].parts[0] = from_index(column);
                lower_region(region);
                return Values{};
            });
    }

    static std::vector<size_t> in_order(size_t rank) {
        std::vector<size_t> order(rank);
        std::iota(order.begin(), order.end(), size_t{0});
        return order;
    }

    // A row that is short enough for the values that are needed again is walked with these in shared memory.
    void lower_point(const Region& region) {
        if (!fixed_team_ && has_walk_ && !is_followed())
            kept_ = find_kept_values(kernel_, region, unwritten_);
        if (kept_.bytes == 0 || word_of_parameter(kept_.size) != image_.row_word || image_.row_word < 0) {
            kept_ = {};
            lower_region(region);
            return;
        }
        image_.kept_bytes = kept_.bytes;
        row_ = index(kept_.size);
        llvm::BasicBlock* keeping = new_block("keeping");
        llvm::BasicBlock* walking = new_block("walking");
        llvm::BasicBlock* after = new_block("point.end");
        builder_.CreateCondBr(builder_.CreateICmpSLE(row_, number(kMostKeptBytes / kept_.bytes)), keeping,
                              walking);
        builder_.SetInsertPoint(keeping);
        llvm::Value* bytes = builder_.CreateAnd(
            builder_.CreateAdd(builder_.CreateMul(row_, number(kept_.bytes)), number(kKeptAlignment - 1)),
            number(-kKeptAlignment));
        kept_memory_ = builder_.CreateInBoundsGEP(
            builder_.getInt8Ty(), kept_array(),
            {builder_.CreateMul(builder_.CreateZExt(team_, builder_.getInt64Ty()), bytes)});
        keeping_ = true;
        lower_region(region);
        keeping_ = false;
        builder_.CreateBr(after);
        builder_.SetInsertPoint(walking);
        lower_region(region);
        builder_.CreateBr(after);
        builder_.SetInsertPoint(after);
    }

    // What the launch gives to the block.
    llvm::GlobalVariable* kept_array() {
        auto* type = llvm::ArrayType::get(builder_.getInt8Ty(), 0);
        auto* array =
            new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                     "weft_kept", nullptr, llvm::GlobalValue::NotThreadLocal, kSharedSpace);
        array->setAlignment(llvm::Align(kKeptAlignment));
        return array;
    }
    llvm::Value* kept_element(const KeptValues::Value& value, int64_t itemsize,
                              llvm::Value* number_of_element) {
        llvm::Value* array = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), kept_memory_,
                                                        {builder_.CreateNSWMul(row_, number(value.offset))});
        return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), array,
                                          {builder_.CreateNSWMul(number_of_element, number(itemsize))});
    }

    // The body of a walk, for one element and one thread.
    Values lower_element(const Region& region, llvm::Value* number_of_element) {
        lower_reads(region, number_of_element, {});
        return lower_rest(region, number_of_element, {});
    }

    // What is kept is read first, since what is written may take the same place; and what is in `early`.
    void lower_reads(const Region& region, llvm::Value* number_of_element,
                     const std::set<const Instruction*>& early) {
        scalars_[region.arguments[0].index].parts[0] = number_of_element;
        of_thread_ = true;
        for (const Instruction& instruction : region.body) {
            const KeptValues::Value* kept = kept_value(instruction);
            if (kept != nullptr && kept->use == KeptValues::Use::kRead) {
                const auto [type, place] = kept_place(instruction, *kept, number_of_element);
                scalars_[instruction.results[0].index].parts[0] = builder_.CreateLoad(type, place);
            } else if (early.contains(&instruction) && is_computed(kept)) {
                lower(instruction);
            }
        }
        of_thread_ = false;
    }
    Values lower_rest(const Region& region, llvm::Value* number_of_element,
                      const std::set<const Instruction*>& early) {
        std::vector<Turn> alone{{number_of_element, scalars_}};
        std::vector<Values> yielded = lower_rest_of(region, alone, early);
        scalars_ = std::move(alone[0].scalars);
        return std::move(yielded[0]);
    }

    // An element, and the values that are its own.
    struct Turn {
        llvm::Value* number;
        std::vector<Scalar> scalars;
    };
    // Of several elements side by side, instruction for instruction.
    std::vector<Values> lower_rest_of(const Region& region, std::span<Turn> turns,
                                      const std::set<const Instruction*>& early) {
        of_thread_ = true;
        std::vector<Values> yielded(turns.size());
        for (const Instruction& instruction : region.body) {
            const KeptValues::Value* kept = kept_value(instruction);
            if (!is_computed(kept)) continue;
            for (size_t k = 0; k < turns.size(); ++k) {
                scalars_.swap(turns[k].scalars);
                if (instruction.opcode == Opcode::kYield) {
                    yielded[k] = values_of(instruction.operands);
                } else if (!early.contains(&instruction)) {
                    lower(instruction);
                }
                if (kept != nullptr) {
                    builder_.CreateStore(scalar(instruction.results[0]).parts[0],
                                         kept_place(instruction, *kept, turns[k].number).second);
                }
                scalars_.swap(turns[k].scalars);
            }
            if (instruction.opcode == Opcode::kYield) break;
        }
        of_thread_ = false;
        return yielded;
    }

    // Null: nothing is said of the instruction.
    const KeptValues::Value* kept_value(const Instruction& instruction) const {
        if (!keeping_) return nullptr;
        const auto found = kept_.values.find(&instruction);
        return found == kept_.values.end() ? nullptr : &found->second;
    }
    static bool is_computed(const KeptValues::Value* kept) {
        return kept == nullptr || kept->use == KeptValues::Use::kKept;
    }
    std::pair<llvm::Type*, llvm::Value*> kept_place(const Instruction& instruction,
                                                    const KeptValues::Value& value,
                                                    llvm::Value* number_of_element) {
        const ScalarType type = kernel_.type(instruction.results[0]).scalar;
        return {part_type(type), kept_element(value, DType(type).itemsize(), number_of_element)};
    }

    // A thread's part of a whole block of `length` elements: `each` for every turn, the reads of several
    // turns before.
    template <class Each>
    void whole_block(const Region& region, llvm::Value* start, int64_t length, const Each& each) {
        const bool side_by_side = may_read_early(region);
        const std::set<const Instruction*> early =
            side_by_side ? reads_of(region) : std::set<const Instruction*>{};
        const int64_t turns = length / kWarp, batch = std::min<int64_t>(turns, turns_at_once(region));
        llvm::Value* first = first_of_block(start);
        find_draws(region, region.arguments[0]);
        begin_steps();
        for (int64_t begin = 0; begin < turns; begin += batch) {
            std::vector<Turn> read;
            for (int64_t turn = begin; turn < std::min(begin + batch, turns); ++turn) {
                llvm::Value* at = builder_.CreateNSWAdd(first, number(turn * kWarp));
                std::vector<Scalar> before = scalars_;
                lower_reads(region, at, early);
                read.push_back({at, std::move(scalars_)});
                scalars_ = std::move(before);
            }
            const size_t beside = side_by_side ? kTurnsSideBySide : 1;
            for (std::span<Turn> rest(read); !rest.empty();) {
                const std::span<Turn> some = rest.first(std::min(beside, rest.size()));
                for (const Values& values : lower_rest_of(region, some, early)) each(values);
                rest = rest.subspan(some.size());
            }
        }
        end_steps();
    }
    // The lane's first element. Moved, so that the numbers of later ones are sums: LLVM makes `or` of sums
    // whose bits it knows, and addresses of their own of these. And so small that it is no initial number.
    llvm::Value* first_of_block(llvm::Value* start) {
        llvm::Value* first = builder_.CreateNSWAdd(start, builder_.CreateZExt(lane_, builder_.getInt64Ty()));
        first = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_move_i64, {}, {first});
        builder_.CreateAssumption(builder_.CreateICmpULT(first, number(kMostElements)));
        return first;
    }
    // Whether nothing that is read is written before: memory of the thread's own, or of an element.
    bool may_read_early(const Region& region) const {
        return std::all_of(region.body.begin(), region.body.end(), [&](const Instruction& instruction) {
            if (!instruction.regions.empty() || instruction.opcode == Opcode::kAllocate) return false;
            if (instruction.opcode != Opcode::kLoad) return true;
            const BufferType& type = kernel_.type(instruction.operands[0]).buffer;
            return type.space == AddressSpace::kGlobal && unwritten_.contains(type.alias_scope);
        });
    }
    // As many as keep the code short, and hide the time that memory takes.
    static int64_t turns_at_once(const Region& region) {
        int cost = 0;
        for (const Instruction& instruction : region.body) {
            if (instruction.opcode == Opcode::kApply) cost += instruction.op->cost;
        }
        return cost <= 40 ? 16 : 8;
    }

    // --- instructions that all threads of the team come to --------------------------------------------

    bool in_team() const { return !of_thread_; }

    void lower(const Instruction& instruction) override {
        if (of_thread_) {
            if (const auto known = known_.find(&instruction); known != known_.end()) {
                scalars_[instruction.results[0].index].parts[0] = known->second;
                return;
            }
            if (instruction.opcode == Opcode::kBarrier) {
                builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
                return;
            }
            PtxTeam::lower(instruction);
            return;
        }
        switch (instruction.opcode) {
            case Opcode::kReduce: lower_reduce(instruction); return;
            case Opcode::kAtomic:
            case Opcode::kCompareExchange: lower_once(instruction); return;
            case Opcode::kStore:
                if (kernel_.type(instruction.operands[0]).buffer.space == AddressSpace::kLocal) break;
                wait_if_in_conflict();
                by_first_thread([&] { PtxKernelLowering::lower(instruction); });
                wait_if_in_conflict();
                return;
            default: break;
        }
        PtxKernelLowering::lower(instruction);
    }

    // An atomic outside of blocks happens once; all threads learn what it gave.
    void lower_once(const Instruction& instruction) {
        const ValueId result = instruction.results[0];
        const ScalarType type = kernel_.type(result).scalar;
        llvm::GlobalVariable* told = shared_array(part_type(type), kMostWarps, "told");
        const auto own = [&] { return shared_element(told, part_type(type), team_); };
        wait_for_team();
        by_first_thread([&] {
            PtxKernelLowering::lower(instruction);
            builder_.CreateStore(scalars_[result.index].parts[0], own());
        });
        wait_for_team();
        scalars_[result.index].parts[0] = builder_.CreateLoad(part_type(type), own());
    }

    void lower_parallel(const Instruction& instruction) override {
        if (instruction.level == ir::ParallelLevel::kGrid) {
            PtxKernelLowering::lower_parallel(instruction);
            return;
        }
        if (of_thread_) refuse("a block inside of a block");
        const Region& region = instruction.regions[0];
        std::vector<llvm::Value*> sizes;
        for (const ValueId operand : instruction.operands) sizes.push_back(index(operand));
        const std::vector<size_t> order = in_order(sizes.size());
        llvm::Type* wide = builder_.getInt64Ty();
        const auto run = [&](llvm::Value* number) {
            const std::vector<llvm::Value*> point = decompose(number, sizes, order);
            for (size_t d = 0; d < point.size(); ++d) scalars_[region.arguments[d].index].parts[0] = point[d];
            if (point.size() == 1) {
                lower_element(region, point[0]);
                return;
            }
            of_thread_ = true;
            lower_region(region);
            of_thread_ = false;
        };
        llvm::Value* thread = builder_.CreateZExt(thread_, wide);
        if (has_barriers(instruction)) {
            wait_if_in_conflict();
            run(thread);
            wait_if_in_conflict();
            return;
        }
        llvm::Value* total = sizes[0];
        for (size_t d = 1; d < sizes.size(); ++d) total = builder_.CreateMul(total, sizes[d]);
        wait_if_in_conflict();
        const int turns = std::min(unrolling_of(instruction.regions), kTurnsOfWriting);
        if (keeping_ && instruction.operands[0] == kept_.size && kept_.block > 0) {
            lower_along_row(region);
        } else {
            counted_loop(
                thread, total, builder_.CreateZExt(threads_, wide), {},
                [&](llvm::Value* number, const Values&) {
                    run(number);
                    return Values{};
                },
                turns);
        }
        wait_if_in_conflict();
    }

    // Each thread takes the elements that it has in reductions: what is kept was written by itself.
    void lower_along_row(const Region& region) {
        const Share share = share_of_warp(row_, kept_.block);
        counted_loop(share.own, share.end, number(1), {}, [&](llvm::Value* k, const Values&) {
            llvm::Value* start = builder_.CreateNSWMul(k, number(kept_.block));
            llvm::Value* count = smaller(builder_.CreateNSWSub(row_, start), number(kept_.block));
            if_else(
                builder_.CreateICmpEQ(count, number(kept_.block)),
                [&] {
                    whole_block(region, start, kept_.block, [](const Values&) {});
                    return Values{};
                },
                [&] {
                    llvm::Value* lane = builder_.CreateZExt(lane_, builder_.getInt64Ty());
                    return counted_loop(lane, count, number(kWarp), {}, [&](llvm::Value* at, const Values&) {
                        lower_element(region, builder_.CreateNSWAdd(start, at));
                        return Values{};
                    });
                });
            return Values{};
        });
    }

    // --- reductions ----------------------------------------------------------------------------------

    // The reduction that is being lowered.
    struct Reduction {
        const Instruction* instruction;
        llvm::Value* size;  // not negative
        Values initials;
        std::vector<size_t> ordinals = {};  // see find_ordinals
    };

    // Components that are the elements' numbers, and start from the largest number of all, as of argmax.
    std::vector<size_t> find_ordinals(const Instruction& instruction) const {
        const Region& element = instruction.regions[0];
        std::vector<size_t> ordinals;
        for (size_t i = 0; i < instruction.results.size(); ++i) {
            const Instruction* initial = definition(instruction.operands[i + 1]);
            if (initial == nullptr || initial->opcode != Opcode::kConstant ||
                kernel_.type(instruction.results[i]).scalar != ScalarType::kInt64 ||
                initial->constant.as<int64_t>() != INT64_MAX)
                continue;
            const ValueId number = element.arguments[0], yielded = element.body.back().operands[i];
            const Instruction* sum = definition(yielded);
            const bool counts =
                sum != nullptr && sum->opcode == Opcode::kApply && sum->op->id == OpId::kAdd &&
                std::count(sum->operands.begin(), sum->operands.end(), number) == 1 &&
                std::none_of(element.body.begin(), element.body.end(), [&](const Instruction& inner) {
                    return std::any_of(inner.results.begin(), inner.results.end(), [&](ValueId result) {
                        return std::find(sum->operands.begin(), sum->operands.end(), result) !=
                               sum->operands.end();
                    });
                });
            if (counts || yielded == number) ordinals.push_back(i);
        }
        return ordinals;
    }

    // Both regions compute for one thread.
    Values element(const Reduction& reduction, llvm::Value* number) {
        return lower_element(reduction.instruction->regions[0], number);
    }
    Values combined(const Reduction& reduction, const Values& left, const Values& right) {
        const Region& region = reduction.instruction->regions[1];
        for (size_t i = 0; i < left.size(); ++i) {
            scalars_[region.arguments[i].index] = left[i];
            scalars_[region.arguments[left.size() + i].index] = right[i];
        }
        of_thread_ = true;
        Values values = lower_region(region);
        of_thread_ = false;
        return values;
    }
    // An element behind all that `left` is made of: its number is less than none but the initial one, which
    // is left only where no element was taken before, and so neither the first one: that is asked in
    // `none_of_first`.
    Values with_next(const Reduction& reduction, const Values& left, const Values& element, bool is_second,
                     std::vector<llvm::Value*>& none_of_first) {
        const Region& region = reduction.instruction->regions[1];
        const auto is_comparison = [&](const Instruction& instruction, size_t i) {
            return instruction.opcode == Opcode::kApply && instruction.op->id == OpId::kLess &&
                   instruction.operands[0] == region.arguments[left.size() + i] &&
                   instruction.operands[1] == region.arguments[i];
        };
        known_.clear();
        std::vector<llvm::Value*> none;
        none.reserve(reduction.ordinals.size());
        for (const size_t i : reduction.ordinals)
            none.push_back(builder_.CreateICmpEQ(left[i].parts[0], number(INT64_MAX)));
        if (is_second) none_of_first = none;
        for (size_t k = 0; k < none.size(); ++k) {
            if (!none_of_first.empty()) none[k] = builder_.CreateAnd(none_of_first[k], none[k]);
            for (const Instruction& instruction : region.body) {
                if (is_comparison(instruction, reduction.ordinals[k]))
                    known_[&instruction] = builder_.CreateZExt(none[k], part_type(ScalarType::kBool));
            }
        }
        const Values values = combined(reduction, left, element);
        known_.clear();
        return values;
    }

    // Lane l takes in lane l + distance, for each distance in turn; lanes from `taking_part` on have nothing.
    // Lane 0 has the result.
    Values combine_lanes(const Reduction& reduction, Values values, llvm::Value* taking_part,
                         std::span<const int> distances) {
        for (const int distance : distances) {
            const Values above =
                shuffled(values, From::kLaneAbove, builder_.getInt32(static_cast<uint32_t>(distance)));
            llvm::Value* partner =
                builder_.CreateAdd(lane_, builder_.getInt32(static_cast<uint32_t>(distance)));
            values = choose(builder_.CreateICmpSLT(partner, taking_part), combined(reduction, values, above),
                            values);
        }
        return values;
    }

    static constexpr int kFalling[] = {16, 8, 4, 2, 1};
    static constexpr int kRising[] = {1, 2, 4, 8, 16};

    // The same of a whole block.
    Values whole_lanes_block(const Reduction& reduction, llvm::Value* start, int64_t length) {
        Values values = reduction.initials;
        int turn = 0;
        std::vector<llvm::Value*> none_of_first;
        whole_block(reduction.instruction->regions[0], start, length, [&](const Values& element) {
            values = with_next(reduction, values, element, turn++ == 1, none_of_first);
        });
        for (const int distance : kFalling) {
            const Values above =
                shuffled(values, From::kLaneAbove, builder_.getInt32(static_cast<uint32_t>(distance)));
            values = combined(reduction, values, above);
        }
        return of_first_lane(values);
    }

    // `count` elements from `start` in 32 interleaved lanes, by a warp; all of its lanes have the result.
    Values lanes_block(const Reduction& reduction, llvm::Value* start, llvm::Value* count) {
        llvm::Value* lane = builder_.CreateZExt(lane_, builder_.getInt64Ty());
        llvm::Value* first = builder_.CreateNSWAdd(start, lane);
        llvm::Value* end = builder_.CreateNSWAdd(start, builder_.CreateAnd(count, number(-kWarp)));
        // Whole rows of lanes, then what is left.
        llvm::Value* rows = builder_.CreateLShr(count, 5);
        Values values = counted_loop(
            number(0), rows, number(1), reduction.initials,
            [&](llvm::Value* row, const Values& accumulator) {
                llvm::Value* at = builder_.CreateNSWAdd(first, builder_.CreateShl(row, 5));
                return combined(reduction, accumulator, element(reduction, at));
            },
            unrolled_);
        llvm::Value* last = builder_.CreateNSWAdd(end, lane);
        llvm::Value* has_last = builder_.CreateICmpSLT(last, builder_.CreateNSWAdd(start, count));
        values =
            if_then(has_last, values, [&] { return combined(reduction, values, element(reduction, last)); });
        llvm::Value* taking_part = builder_.CreateTrunc(smaller(count, number(kWarp)), builder_.getInt32Ty());
        // By halves, lane l takes in l + h only below h: the others' values are not looked at again.
        return of_first_lane(combine_lanes(reduction, values, taking_part, kFalling));
    }

    // How many a thread combines before the warp does: more where one block combines all, as registers allow.
    int64_t elements_of_thread(const Reduction& reduction) const {
        constexpr int64_t kFewWords = 3, kMore = 2;  // words of 32 bits
        int64_t words = 0;
        for (const ValueId result : reduction.instruction->results)
            words += (DType(kernel_.type(result).scalar).itemsize() + 3) / 4;
        const bool more = is_second_ && team_threads_ == nullptr && words <= kFewWords;
        return more ? kMore * kElementsOfThread : kElementsOfThread;
    }

    // Up to so many elements from `start` pairwise, by a warp: some by each thread, then the threads'.
    Values pairwise_block(const Reduction& reduction, llvm::Value* start, llvm::Value* count) {
        const int64_t each = elements_of_thread(reduction);
        llvm::Value* lane = builder_.CreateZExt(lane_, builder_.getInt64Ty());
        llvm::Value* first = builder_.CreateNSWMul(lane, number(each));
        llvm::Value* last = builder_.CreateNSWSub(count, number(1));
        std::vector<Values> own;
        for (int64_t k = 0; k < each; ++k) {
            // Where there is no element, the last one is read and not used.
            llvm::Value* at = smaller(builder_.CreateNSWAdd(first, number(k)), last);
            own.push_back(element(reduction, builder_.CreateNSWAdd(start, at)));
        }
        llvm::Value* has = builder_.CreateNSWSub(count, first);
        const auto together = [&](int64_t least, const Values& left, const Values& right) {
            return choose(builder_.CreateICmpSGT(has, number(least)), combined(reduction, left, right), left);
        };
        for (size_t distance = 1; distance < own.size(); distance *= 2) {
            for (size_t k = 0; k < own.size(); k += 2 * distance)
                own[k] = together(static_cast<int64_t>(k + distance), own[k], own[k + distance]);
        }
        llvm::Value* threads = builder_.CreateUDiv(builder_.CreateAdd(count, number(each - 1)), number(each));
        return of_first_lane(
            combine_few_lanes(reduction, own[0], builder_.CreateTrunc(threads, builder_.getInt32Ty())));
    }
    // By rising distances, as long as there are lanes so far above.
    Values combine_few_lanes(const Reduction& reduction, Values values, llvm::Value* taking_part) {
        for (const int distance : kRising) {
            llvm::Value* more =
                builder_.CreateICmpSGT(taking_part, builder_.getInt32(static_cast<uint32_t>(distance)));
            values = if_then(more, values, [&] {
                return combine_lanes(reduction, values, taking_part, std::array{distance});
            });
        }
        return values;
    }

    // Results of equally many elements but for the last, combined pairwise as by a binary counter: lane b
    // holds digit b. `result(k)` is called in all lanes and gives all of them number k; there is at least
    // one.
    template <class Result>
    Values pairwise(const Reduction& reduction, llvm::Value* begin, llvm::Value* end, const Result& result) {
        const Values digits = counted_loop(
            begin, end, number(1), reduction.initials, [&](llvm::Value* k, const Values& digits) {
                llvm::Value* ordinal = builder_.CreateNSWSub(k, begin);
                llvm::Value* carries = builder_.CreateTrunc(
                    builder_.CreateIntrinsic(llvm::Intrinsic::cttz, {builder_.getInt64Ty()},
                                             {builder_.CreateNot(ordinal), builder_.getFalse()}),
                    builder_.getInt32Ty());
                const Values carry =
                    counted_loop(builder_.getInt32(0), carries, builder_.getInt32(1), result(k),
                                 [&](llvm::Value* digit, const Values& later) {
                                     return combined(reduction, of_lane(digits, digit), later);
                                 });
                return choose(builder_.CreateICmpEQ(lane_, carries), carry, digits);
            });
        // The smallest of what is left first: each takes in what came after it.
        llvm::Value* count = builder_.CreateNSWSub(end, begin);
        llvm::BasicBlock* before = builder_.GetInsertBlock();
        llvm::Value* lowest = lowest_digit(count);
        const Values start = of_lane(digits, lowest);
        llvm::Value* rest = without_lowest(count);
        before = builder_.GetInsertBlock();
        llvm::BasicBlock* turn = new_block("digits");
        llvm::BasicBlock* after = new_block("digits.end");
        builder_.CreateCondBr(builder_.CreateICmpNE(rest, number(0)), turn, after);
        builder_.SetInsertPoint(turn);
        llvm::PHINode* left = builder_.CreatePHI(builder_.getInt64Ty(), 2);
        left->addIncoming(rest, before);
        const Phis carried = make_phis(start, before);
        const Values next = combined(reduction, of_lane(digits, lowest_digit(left)), values_in(carried));
        llvm::Value* fewer = without_lowest(left);
        llvm::BasicBlock* latch = builder_.GetInsertBlock();
        builder_.CreateCondBr(builder_.CreateICmpNE(fewer, number(0)), turn, after);
        left->addIncoming(fewer, latch);
        add_incoming(carried, next, latch);
        builder_.SetInsertPoint(after);
        const Phis finals = make_phis(start, before);
        add_incoming(finals, next, latch);
        return values_in(finals);
    }
    llvm::Value* lowest_digit(llvm::Value* bits) {
        return builder_.CreateTrunc(builder_.CreateIntrinsic(llvm::Intrinsic::cttz, {builder_.getInt64Ty()},
                                                             {bits, builder_.getFalse()}),
                                    builder_.getInt32Ty());
    }
    llvm::Value* without_lowest(llvm::Value* bits) {
        return builder_.CreateAnd(bits, builder_.CreateSub(bits, number(1)));
    }

    // A warp takes a subtree: a power of two of blocks, from `own` to `end`.
    struct Share {
        llvm::Value *blocks, *bits, *own, *end;
    };
    Share share_of_warp(llvm::Value* size, int64_t length) {
        Share share{};
        share.blocks =
            builder_.CreateSDiv(builder_.CreateNSWAdd(size, number(length - 1)), number(length), "blocks");
        llvm::Value* warps = builder_.CreateZExt(warps_, builder_.getInt64Ty());
        llvm::Value* each = builder_.CreateUDiv(
            builder_.CreateAdd(share.blocks, builder_.CreateSub(warps, number(1))), warps);
        llvm::Value* zeros = builder_.CreateIntrinsic(
            llvm::Intrinsic::ctlz, {builder_.getInt64Ty()},
            {builder_.CreateSub(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, each, number(1)),
                                number(1)),
             builder_.getFalse()});
        share.bits = builder_.CreateSub(number(64), zeros);
        llvm::Value* warp = builder_.CreateZExt(warp_, builder_.getInt64Ty());
        share.own = builder_.CreateShl(warp, share.bits);
        share.end =
            smaller(builder_.CreateShl(builder_.CreateAdd(warp, number(1)), share.bits), share.blocks);
        return share;
    }

    void lower_reduce(const Instruction& instruction) {
        Reduction reduction{&instruction, nullptr, values_of(std::span(instruction.operands).subspan(1)),
                            find_ordinals(instruction)};
        reduction.size =
            builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, index(instruction.operands[0]), number(0));
        const bool elements = instruction.block == 1;
        // Of longer rows what is not a whole block comes once.
        unrolled_ = instruction.block == 0 ? unrolling_of(instruction.regions) : 1;
        const int64_t length = elements ? elements_of_thread(reduction) * kWarp : instruction.block;
        if (length == 0) {
            const Values values =
                if_then(builder_.CreateICmpSGT(reduction.size, number(0)), reduction.initials,
                        [&] { return lanes_block(reduction, number(0), reduction.size); });
            define_all(instruction, values);
            return;
        }
        const auto block = [&](llvm::Value* k) {
            llvm::Value* start = builder_.CreateNSWMul(k, number(length));
            llvm::Value* count = smaller(builder_.CreateNSWSub(reduction.size, start), number(length));
            if (elements) return pairwise_block(reduction, start, count);
            return if_else(
                builder_.CreateICmpEQ(count, number(length)),
                [&] { return whole_lanes_block(reduction, start, length); },
                [&] { return lanes_block(reduction, start, count); });
        };
        const Share share = share_of_warp(reduction.size, length);
        const Values of_warp = if_then(builder_.CreateICmpSLT(share.own, share.end), reduction.initials,
                                       [&] { return pairwise(reduction, share.own, share.end, block); });
        // How many warps had some.
        llvm::Value* subtree = builder_.CreateShl(number(1), share.bits);
        llvm::Value* taking_part = builder_.CreateTrunc(
            builder_.CreateLShr(builder_.CreateAdd(share.blocks, builder_.CreateSub(subtree, number(1))),
                                share.bits),
            builder_.getInt32Ty());
        if (team_threads_ != nullptr) {  // of a warp at most
            define_all(instruction, of_warp);
            return;
        }
        const Values values = if_then(builder_.CreateICmpUGT(warps_, builder_.getInt32(1)), of_warp,
                                      [&] { return combine_warps(reduction, of_warp, taking_part); });
        define_all(instruction, values);
    }

    // Through shared memory; every warp computes the same.
    Values combine_warps(const Reduction& reduction, const Values& of_warp, llvm::Value* taking_part) {
        llvm::Value* own_slots = builder_.CreateMul(team_, warps_);
        std::vector<std::pair<llvm::GlobalVariable*, llvm::Value*>> slots;
        const auto each_part = [&](const auto& visit) {
            size_t at = 0;
            for (size_t i = 0; i < of_warp.size(); ++i) {
                for (int part = 0; part < 2; ++part) {
                    if (of_warp[i].parts[part] != nullptr) visit(i, part, at++);
                }
            }
        };
        std::vector<llvm::GlobalVariable*> arrays;
        wait_for_team();  // before: an earlier reduction's may still be read
        llvm::Value* mine = builder_.CreateAdd(own_slots, warp_);
        each_part([&](size_t i, int part, size_t) {
            llvm::Value* value = of_warp[i].parts[part];
            arrays.push_back(shared_array(value->getType(), kMostWarps, "warps"));
            builder_.CreateStore(value, shared_element(arrays.back(), value->getType(), mine));
        });
        wait_for_team();
        llvm::Value* theirs = builder_.CreateAdd(
            own_slots,
            builder_.CreateSelect(builder_.CreateICmpULT(lane_, warps_), lane_, builder_.getInt32(0)));
        Values values = of_warp;
        each_part([&](size_t i, int part, size_t at) {
            llvm::Type* type = of_warp[i].parts[part]->getType();
            values[i].parts[part] = builder_.CreateLoad(type, shared_element(arrays[at], type, theirs));
        });
        const std::span<const int> distances = std::span<const int>(kRising).first(fixed_team_ ? 5 : 3);
        const Values all = of_first_lane(combine_lanes(reduction, values, taking_part, distances));
        // Nothing takes part when there is no element.
        return choose(builder_.CreateICmpSGT(taking_part, builder_.getInt32(0)), all, reduction.initials);
    }

    void define_all(const Instruction& instruction, const Values& values) {
        for (size_t i = 0; i < values.size(); ++i) scalars_[instruction.results[i].index] = values[i];
    }

    KeptValues kept_;
    bool keeping_ = false;  // what is lowered keeps values
    llvm::Value* kept_memory_ = nullptr;
    llvm::Value* row_ = nullptr;
    bool of_thread_ = false;                            // what is lowered is for one thread
    std::map<const Instruction*, llvm::Value*> known_;  // results that need not be computed
    int unrolled_ = 1;
};

}  // namespace

llvm::Function* lower_teams_for_ptx(const ir::Function& kernel, const ir::Function* second,
                                    const PtxLoweringOptions& options, llvm::Module& module,
                                    BitcodeLibrary& library, CudaKernelImage& image) {
    return PtxTeamLowering(kernel, options, module, library, image).run(second);
}

PtxSecondKernel lower_second_for_ptx(const ir::Function& second, int columns,
                                     const PtxLoweringOptions& options, llvm::Module& module,
                                     BitcodeLibrary& library, CudaKernelImage& image) {
    CudaKernelImage own;
    PtxSecondKernel lowered;
    lowered.function = PtxTeamLowering(second, options, module, library, own).run_as_second(columns);
    lowered.first_word = image.words;
    for (CudaBufferFacts& buffer : own.buffers) {
        buffer.base_word += image.words;
        for (int& word : buffer.stride_words) word += image.words;
        image.buffers.push_back(std::move(buffer));
    }
    image.words += own.words + 1;
    return lowered;
}

}  // namespace weft::codegen
