#include "codegen/interpreter/executor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "codegen/interpreter/program.h"
#include "core/memory/allocation_failure.h"
#include "core/memory/reserved_memory.h"
#include "core/threads/thread_owned.h"
#include "weft/errors.h"

namespace weft::codegen {
namespace {

// Where a value's elements are. Not initialised: arrays of these are filled as far as they are used.
struct Place {
    char* data;
    int64_t stride;
};

constexpr int64_t kCellBytes = 16;  // a uniform value

// Memory that is had and given back in the order of calls; a thread keeps its own from kernel to kernel.
class Scratch {
public:
    char* take(int64_t bytes) {
        const auto size = static_cast<size_t>((bytes + 63) & ~int64_t{63});
        while (chunk_ < chunks_.size() && used_ + size > chunks_[chunk_].size) {
            ++chunk_;
            used_ = 0;
        }
        if (chunk_ == chunks_.size()) {
            const size_t whole = std::max(size, kChunk);
            Memory memory(new (std::align_val_t{64}) char[whole]);
            const bool reserved = is_reserved(memory.get());
            chunks_.push_back({std::move(memory), whole, reserved});
            has_reserved_ |= reserved;
        }
        char* const result = chunks_[chunk_].memory.get() + used_;
        used_ += size;
        return result;
    }

    // What was taken during its life is given back at its end.
    class Mark {
    public:
        explicit Mark(Scratch& scratch) : scratch_(scratch), chunk_(scratch.chunk_), used_(scratch.used_) {}
        ~Mark() {
            scratch_.chunk_ = chunk_;
            scratch_.used_ = used_;
            if (chunk_ == 0 && used_ == 0) scratch_.drop_reserved();
        }
        Mark(const Mark&) = delete;
        Mark& operator=(const Mark&) = delete;

    private:
        Scratch& scratch_;
        size_t chunk_, used_;
    };

private:
    static constexpr size_t kChunk = size_t{256} << 10;
    struct Free {
        void operator()(char* memory) const { operator delete[](memory, std::align_val_t{64}); }
    };
    using Memory = std::unique_ptr<char[], Free>;
    struct Chunk {
        Memory memory;
        size_t size;
        bool reserved;  // of core/memory/reserved_memory.h, which others need as well
    };
    void drop_reserved() {
        if (has_reserved_) std::erase_if(chunks_, [](const Chunk& chunk) { return chunk.reserved; });
        has_reserved_ = false;
    }

    std::vector<Chunk> chunks_;
    size_t chunk_ = 0, used_ = 0;
    bool has_reserved_ = false;
};

template <int64_t size>
void copy_strided(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, size);
}

template <int64_t size>
void fill(char* to, const char* from, int64_t count) {
    char element[size];
    std::memcpy(element, from, size);
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * size, element, size);
}

template <int64_t size>
void copy_elements(Place to, Place from, int64_t count) {
    if (to.stride == size && from.stride == size) {
        std::memmove(to.data, from.data, static_cast<size_t>(count * size));
    } else if (to.stride == size && from.stride == 0) {
        fill<size>(to.data, from.data, count);
    } else if (to.stride == size) {
        copy_strided<size>(to.data, size, from.data, from.stride, count);
    } else if (from.stride == size) {
        copy_strided<size>(to.data, to.stride, from.data, size, count);
    } else {
        copy_strided<size>(to.data, to.stride, from.data, from.stride, count);
    }
}

void copy_elements(int64_t itemsize, Place to, Place from, int64_t count) {
    if (to.data == from.data && to.stride == from.stride) return;
    switch (itemsize) {
        case 1: copy_elements<1>(to, from, count); return;
        case 2: copy_elements<2>(to, from, count); return;
        case 4: copy_elements<4>(to, from, count); return;
        case 8: copy_elements<8>(to, from, count); return;
        default: copy_elements<16>(to, from, count); return;
    }
}

template <int64_t size>
void gather_elements(char* to, const char* from, int64_t from_stride, std::span<const Place> positions,
                     std::span<const int64_t> strides, int64_t count) {
    if (positions.size() == 1) {
        const Place at = positions[0];
        const int64_t stride = strides[0];
        for (int64_t i = 0; i < count; ++i) {
            int64_t position;
            std::memcpy(&position, at.data + i * at.stride, sizeof position);
            std::memcpy(to + i * size, from + i * from_stride + position * stride, size);
        }
        return;
    }
    for (int64_t i = 0; i < count; ++i) {
        const char* element = from + i * from_stride;
        for (size_t d = 0; d < positions.size(); ++d) {
            int64_t position;
            std::memcpy(&position, positions[d].data + i * positions[d].stride, sizeof position);
            element += position * strides[d];
        }
        std::memcpy(to + i * size, element, size);
    }
}

void gather_elements(int64_t itemsize, char* to, const char* from, int64_t from_stride,
                     std::span<const Place> positions, std::span<const int64_t> strides, int64_t count) {
    const auto run = [&]<int64_t size>() {
        gather_elements<size>(to, from, from_stride, positions, strides, count);
    };
    switch (itemsize) {
        case 1: run.template operator()<1>(); return;
        case 2: run.template operator()<2>(); return;
        case 4: run.template operator()<4>(); return;
        case 8: run.template operator()<8>(); return;
        default: run.template operator()<16>(); return;
    }
}

struct BufferAt {
    char* base;
    const int64_t* strides;
};

constexpr size_t kMostComponents = 16;
using Places = std::array<Place, kMostComponents>;

// One box of one launch, on one thread.
class Frame {
public:
    Frame(const BlockProgram& program, const ArgumentWord* words)
        : program_(program), words_(words), scratch_(ThreadOwned<Scratch>::get()), mark_(scratch_) {
        const auto values = static_cast<int64_t>(program.values);
        cells_ = scratch_.take(values * kCellBytes);
        places_ = reinterpret_cast<Place*>(scratch_.take(values * static_cast<int64_t>(sizeof(Place))));
        for (int64_t k = 0; k < values; ++k) places_[k] = {cells_ + k * kCellBytes, 0};
        char* const slots = scratch_.take(program.slot_bytes);
        for (const BlockProgram::Slot& slot : program.slots)
            places_[slot.value] = {slots + slot.offset, slot.itemsize};
        for (const auto& [value, constant] : program.constants)
            std::memcpy(cell(value), constant.bytes.data(), kCellBytes);
        for (const BlockProgram::Scalar& scalar : program.scalars)
            std::memcpy(cell(scalar.value), words + scalar.word, static_cast<size_t>(scalar.words) * 8);
        read_buffers(words);
        run_steps(program.prologue, program.capacity);
    }

    // Runs the box, or its first part until there is a successor, which does the rest.
    void run(const int64_t* lower, const int64_t* upper, const std::atomic<const CpuKernel*>& successor) {
        const auto rank = static_cast<size_t>(program_.grid_dimensions);
        for (size_t d = 0; d < rank; ++d) {
            if (lower[d] >= upper[d]) return;
            set_index(program_.grid[d], lower[d]);
        }
        const auto axis = static_cast<size_t>(program_.axis);
        for (;;) {
            if (program_.axis < 0) {
                if (const CpuKernel* next = successor.load(std::memory_order_acquire))
                    return hand_over(*next, lower, upper, rank);
                run_steps(program_.body, 1);
            } else {
                for (int64_t begin = lower[axis]; begin < upper[axis]; begin += program_.capacity) {
                    set_index(program_.grid[axis], begin);
                    if (const CpuKernel* next = successor.load(std::memory_order_acquire))
                        return hand_over(*next, lower, upper, axis);
                    run_steps(program_.body, std::min(program_.capacity, upper[axis] - begin));
                }
            }
            size_t d = rank;
            while (d-- > 0) {
                if (d == axis) continue;
                const int64_t next = index(program_.grid[d]) + 1;
                set_index(program_.grid[d], next < upper[d] ? next : lower[d]);
                if (next < upper[d]) break;
            }
            if (d == SIZE_MAX) return;
        }
    }

private:
    // What is left of the box from the indices on, the axis being walked first, then the last dimension.
    void hand_over(const CpuKernel& next, const int64_t* lower, const int64_t* upper, size_t axis) {
        const auto rank = static_cast<size_t>(program_.grid_dimensions);
        GridBox box;
        for (size_t d = 0; d < rank; ++d) {
            box.lower[d] = index(program_.grid[d]);
            box.upper[d] = box.lower[d] + 1;
        }
        const auto walk = [&](size_t d) {
            box.upper[d] = upper[d];
            if (box.lower[d] < box.upper[d]) next.run(words_, box.lower.data(), box.upper.data());
            box.lower[d] = lower[d];
        };
        if (axis < rank) {
            walk(axis);
        } else {
            next.run(words_, box.lower.data(), box.upper.data());  // the point itself
        }
        for (size_t d = rank; d-- > 0;) {
            if (d == axis) continue;
            ++box.lower[d];
            walk(d);
        }
    }

    char* cell(BlockValue value) { return cells_ + static_cast<int64_t>(value) * kCellBytes; }
    int64_t index(BlockValue value) {
        int64_t result;
        std::memcpy(&result, cell(value), sizeof result);
        return result;
    }
    void set_index(BlockValue value, int64_t to) { std::memcpy(cell(value), &to, sizeof to); }

    void read_buffers(const ArgumentWord* words) {
        buffers_ = reinterpret_cast<BufferAt*>(
            scratch_.take(static_cast<int64_t>(program_.buffers.size() * sizeof(BufferAt))));
        for (size_t k = 0; k < program_.buffers.size(); ++k) {
            const BlockBuffer& buffer = program_.buffers[k];
            auto* const strides = reinterpret_cast<int64_t*>(
                scratch_.take(static_cast<int64_t>(buffer.strides.size() * sizeof(int64_t))));
            int word = buffer.word;
            char* const base = reinterpret_cast<char*>(words[word++]);
            for (size_t d = 0; d < buffer.strides.size(); ++d) {
                const int64_t stride = buffer.strides[d];
                strides[d] = stride == ir::kDynamic ? static_cast<int64_t>(words[word++]) : stride;
            }
            buffers_[k] = {base, strides};
        }
    }

    // Of the block's first element; the elements that follow are a stride apart.
    Place address(const BlockStep& step) {
        const BufferAt& buffer = buffers_[step.buffer];
        Place place{buffer.base, 0};
        for (size_t d = 0; d < step.indices.size(); ++d) {
            const BlockIndex& use = step.indices[d];
            if (use.kind == BlockClass::kVarying) continue;
            place.data += index(use.value) * buffer.strides[d];
            if (use.kind == BlockClass::kAlong) place.stride += buffer.strides[d];
        }
        return place;
    }

    void run_steps(const BlockRegion& region, int64_t count) {
        for (const BlockStep& step : region.steps) {
            switch (step.kind) {
                case BlockStepKind::kLoop: loop(step, step.varying ? count : 1); break;
                case BlockStepKind::kPositions: positions(step, count); break;
                case BlockStepKind::kSpread:
                    copy_elements(step.itemsize, places_[step.results[0]], places_[step.operands[0]], count);
                    break;
                case BlockStepKind::kLoad: load(step, count); break;
                case BlockStepKind::kGather: gather(step, count); break;
                case BlockStepKind::kDestination: places_[step.results[0]] = address(step); break;
                case BlockStepKind::kStore:
                    copy_elements(step.itemsize, address(step), places_[step.operands[0]],
                                  step.varying ? count : 1);
                    break;
                case BlockStepKind::kFor: for_loop(step, count); break;
                case BlockStepKind::kAlongFor: along_for(step); break;
                case BlockStepKind::kWhile: while_loop(step, count); break;
                case BlockStepKind::kReduce:
                    if (step.along) {
                        reduce_along(step);
                    } else {
                        reduce_across(step, count);
                    }
                    break;
            }
        }
    }

    void loop(const BlockStep& step, int64_t count) {
        char* data[kMaxOperands];
        int64_t strides[kMaxOperands];
        size_t k = 0;
        const auto add = [&](BlockValue value) {
            data[k] = places_[value].data;
            strides[k++] = places_[value].stride;
        };
        for (const BlockValue value : step.operands) add(value);
        for (const BlockValue value : step.results) add(value);
        step.loop->loop(data, strides, count);
    }

    void positions(const BlockStep& step, int64_t count) {
        const int64_t first = index(step.operands[0]);
        char* const to = places_[step.results[0]].data;
        for (int64_t i = 0; i < count; ++i) {
            const int64_t position = first + i;
            std::memcpy(to + i * 8, &position, sizeof position);
        }
    }

    void load(const BlockStep& step, int64_t count) {
        const Place from = address(step);
        const BlockValue value = step.results[0];
        if (!step.varying) {
            std::memcpy(cell(value), from.data, static_cast<size_t>(step.itemsize));
        } else if (step.contiguous && !step.copied) {
            places_[value] = from;
        } else {
            copy_elements(step.itemsize, places_[value], from, count);
        }
    }

    void gather(const BlockStep& step, int64_t count) {
        const Place from = address(step);
        Places at;
        std::array<int64_t, kMostComponents> strides;
        size_t used = 0;
        for (size_t d = 0; d < step.indices.size(); ++d) {
            if (step.indices[d].kind != BlockClass::kVarying) continue;
            at[used] = places_[step.indices[d].value];
            strides[used++] = buffers_[step.buffer].strides[d];
        }
        gather_elements(step.itemsize, places_[step.results[0]].data, from.data, from.stride,
                        std::span(at).first(used), std::span(strides).first(used), count);
    }

    // ---- loops ----

    // Puts values where a loop carries them: all are read before one is written.
    void carry(const BlockStep& step, std::span<const BlockValue> to, std::span<const BlockValue> from,
               int64_t count) {
        std::array<std::array<char, kCellBytes>, kMostComponents> uniform;
        for (size_t k = 0; k < to.size(); ++k) {
            if (step.carried[k] == BlockClass::kUniform) {
                std::memcpy(uniform[k].data(), cell(from[k]), kCellBytes);
            } else {
                copy_elements(step.itemsizes[k], places_[step.next[k]], places_[from[k]], count);
            }
        }
        for (size_t k = 0; k < to.size(); ++k) {
            if (step.carried[k] == BlockClass::kUniform) {
                std::memcpy(cell(to[k]), uniform[k].data(), kCellBytes);
            } else {
                std::swap(places_[to[k]], places_[step.next[k]]);
            }
        }
    }

    void for_loop(const BlockStep& step, int64_t count) {
        const BlockRegion& body = step.regions[0];
        const int64_t upper = index(step.operands[1]), stride = index(step.operands[2]);
        const std::span carried = std::span(body.arguments).subspan(1);
        carry(step, carried, std::span(step.operands).subspan(3), count);
        for (int64_t k = index(step.operands[0]); k < upper; k += stride) {
            set_index(body.arguments[0], k);
            run_steps(body, count);
            carry(step, carried, body.yields, count);
        }
        finish_loop(step, carried);
    }

    void finish_loop(const BlockStep& step, std::span<const BlockValue> last) {
        for (size_t k = 0; k < step.results.size(); ++k) {
            if (step.carried[k] == BlockClass::kUniform) {
                std::memcpy(cell(step.results[k]), cell(last[k]), kCellBytes);
            } else {
                places_[step.results[k]] = places_[last[k]];
            }
        }
    }

    void along_for(const BlockStep& step) {
        const BlockRegion& body = step.regions[0];
        const int64_t upper = index(step.operands[1]);
        for (int64_t k = index(step.operands[0]); k < upper; k += program_.capacity) {
            set_index(body.arguments[0], k);
            run_steps(body, std::min(program_.capacity, upper - k));
        }
    }

    // All that it carries is uniform.
    void while_loop(const BlockStep& step, int64_t count) {
        const BlockRegion &condition = step.regions[0], &body = step.regions[1];
        carry(step, condition.arguments, step.operands, count);
        const std::span forwarded = std::span(condition.yields).subspan(1);
        for (;;) {
            run_steps(condition, count);
            if (*cell(condition.yields[0]) == 0) break;
            for (size_t k = 0; k < forwarded.size(); ++k)
                std::memcpy(cell(body.arguments[k]), cell(forwarded[k]), kCellBytes);
            run_steps(body, count);
            carry(step, condition.arguments, body.yields, count);
        }
        for (size_t k = 0; k < step.results.size(); ++k)
            std::memcpy(cell(step.results[k]), cell(forwarded[k]), kCellBytes);
    }

    // ---- reductions: the tree of docs/reference/kernel-ir.md ----

    // to = combine(left, right), component by component; `to` may be `left`.
    void combine(const BlockStep& step, const Places& to, const Places& left, const Places& right,
                 int64_t count) {
        const size_t components = step.results.size();
        if (!step.folds.empty()) {
            for (size_t c = 0; c < components; ++c) {
                char* const data[] = {left[c].data, right[c].data, to[c].data};
                const int64_t strides[] = {left[c].stride, right[c].stride, to[c].stride};
                step.folds[c](data, strides, count);
            }
            return;
        }
        const BlockRegion& region = step.regions[1];
        for (size_t c = 0; c < components; ++c) {
            places_[region.arguments[c]] = left[c];
            places_[region.arguments[components + c]] = right[c];
        }
        run_steps(region, count);
        for (size_t c = 0; c < components; ++c)
            copy_elements(step.itemsizes[c], to[c], places_[region.yields[c]], count);
    }

    // `elements` further on, and of these each `step`th.
    static Places moved(const Places& places, size_t components, int64_t elements, int64_t step = 1) {
        Places result;
        for (size_t c = 0; c < components; ++c) {
            result[c] = {places[c].data + elements * places[c].stride, places[c].stride * step};
        }
        return result;
    }

    void copy(const BlockStep& step, const Places& to, const Places& from, int64_t count) {
        for (size_t c = 0; c < step.results.size(); ++c)
            copy_elements(step.itemsizes[c], to[c], from[c], count);
    }

    Places take_places(const BlockStep& step, int64_t count) {
        Places places;
        for (size_t c = 0; c < step.results.size(); ++c)
            places[c] = {scratch_.take(step.itemsizes[c] * count), step.itemsizes[c]};
        return places;
    }

    Places places_of(std::span<const BlockValue> values) {
        Places places;
        for (size_t c = 0; c < values.size(); ++c) places[c] = places_[values[c]];
        return places;
    }

    // Combines blocks' results pairwise as they come.
    class Counter {
    public:
        Counter(Frame& frame, const BlockStep& step, int64_t count)
            : frame_(frame), step_(step), count_(count) {}

        // `blocks`: a power of two of blocks that are combined already, and before them a multiple of that.
        void push(const Places& block, int64_t blocks = 1) {
            if (depth_ == entries_.size()) entries_.push_back({frame_.take_places(step_, count_), 0});
            frame_.copy(step_, entries_[depth_].places, block, count_);
            entries_[depth_++].blocks = blocks;
            while (depth_ > 1 && entries_[depth_ - 2].blocks == entries_[depth_ - 1].blocks) {
                entries_[depth_ - 2].blocks *= 2;
                join();
            }
        }

        const Places& result() {
            while (depth_ > 1) join();
            return entries_[0].places;
        }

    private:
        void join() {
            const Places& left = entries_[depth_ - 2].places;
            frame_.combine(step_, left, left, entries_[depth_ - 1].places, count_);
            --depth_;
        }

        struct Entry {
            Places places;
            int64_t blocks;
        };
        Frame& frame_;
        const BlockStep& step_;
        int64_t count_;
        std::vector<Entry> entries_;
        size_t depth_ = 0;
    };

    // The elements lie along the axis; what comes of it is uniform.
    void reduce_along(const BlockStep& step) {
        const size_t components = step.results.size();
        const int64_t size = index(step.operands[0]);
        const Places initial = places_of(std::span(step.operands).subspan(1));
        const Places results = places_of(step.results);
        copy(step, results, initial, 1);
        if (size <= 0) return;
        const Scratch::Mark mark(scratch_);
        const int64_t lanes = step.lanes, block = step.block == 0 ? size : std::min(step.block, size);
        const Places accumulators = take_places(step, lanes);
        Counter counter(*this, step, 1);
        const BlockRegion& element = step.regions[0];
        // A power of two of blocks, or, where these are long, a part of one that begins at the first lane.
        const int64_t blocks =
            static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(program_.capacity / block)));
        const int64_t most = blocks > 0 ? blocks * block : program_.capacity / lanes * lanes;
        const Places folded = take_places(step, std::max<int64_t>(blocks, 1));
        int64_t in_block = 0;
        for (int64_t begin = 0; begin < size; begin += most) {
            const int64_t count = std::min(most, size - begin);
            set_index(element.arguments[0], begin);
            run_steps(element, count);
            const Places elements = places_of(element.yields);
            if (blocks > 1 && count == most && fold_blocks(step, initial, elements, block, blocks, folded)) {
                counter.push(folded, blocks);
                continue;
            }
            for (int64_t at = 0; at < count;) {
                const int64_t block_size = std::min(block, size - (begin + at - in_block));
                const int64_t taken = std::min(block_size - in_block, count - at);
                const Places part = moved(elements, components, at);
                at += taken;
                if (taken < block_size || !fold_block(step, initial, part, taken, accumulators)) {
                    const int64_t width = std::min(lanes, block_size);
                    if (in_block == 0) copy(step, accumulators, initial, width);
                    for (int64_t k = 0; k < taken; k += lanes) {
                        combine(step, accumulators, accumulators, moved(part, components, k),
                                std::min(lanes, taken - k));
                    }
                    in_block += taken;
                    if (in_block < block_size) continue;
                    join_lanes(step, accumulators, width, 1);
                    in_block = 0;
                }
                if (block_size == size) {
                    copy(step, results, accumulators, 1);
                    return;
                }
                counter.push(accumulators);
            }
        }
        copy(step, results, counter.result(), 1);
    }

    // So many whole blocks into one result, pairwise.
    bool fold_blocks(const BlockStep& step, const Places& initial, const Places& elements, int64_t block,
                     int64_t blocks, const Places& results) {
        const size_t components = step.results.size();
        for (int64_t k = 0; k < blocks; ++k) {
            if (!fold_block(step, initial, moved(elements, components, k * block), block,
                            moved(results, components, k)))
                return false;
        }
        const Scratch::Mark mark(scratch_);
        Places from = results, to = take_places(step, blocks / 2);
        for (int64_t left = blocks; left > 1; left /= 2) {
            combine(step, to, moved(from, components, 0, 2), moved(from, components, 1, 2), left / 2);
            std::swap(from, to);
        }
        copy(step, results, from, 1);
        return true;
    }

    // A whole block of elements that lie side by side, by loops that keep the lanes in registers.
    static bool fold_block(const BlockStep& step, const Places& initial, const Places& elements,
                           int64_t count, const Places& results) {
        for (size_t c = 0; c < step.lane_folds.size(); ++c) {
            if (step.lane_folds[c] == nullptr || elements[c].stride != step.itemsizes[c]) return false;
        }
        for (size_t c = 0; c < step.lane_folds.size(); ++c)
            step.lane_folds[c](elements[c].data, count, initial[c].data, results[c].data);
        return !step.lane_folds.empty();
    }

    // Combines `width` lanes of `count` elements each by halves into the first.
    void join_lanes(const BlockStep& step, const Places& lanes, int64_t width, int64_t count) {
        for (int64_t half = step.lanes / 2; half >= 1; half /= 2) {
            if (width <= half) continue;
            const size_t components = step.results.size();
            // A region of its own computes at most a block at a time.
            const int64_t pieces = step.folds.empty() && count > 1 ? width - half : 1;
            for (int64_t lane = 0; lane < pieces; ++lane) {
                const Places left = moved(lanes, components, lane * count);
                combine(step, left, left, moved(left, components, half * count),
                        (width - half) / pieces * count);
            }
            width = half;
        }
    }

    // The elements come one after another, each for all points of the block at once.
    void reduce_across(const BlockStep& step, int64_t count) {
        const size_t components = step.results.size();
        const int64_t size = index(step.operands[0]);
        const Places initial = places_of(std::span(step.operands).subspan(1));
        const Places results = places_of(step.results);
        if (size <= 0) {
            copy(step, results, initial, count);
            return;
        }
        const Scratch::Mark mark(scratch_);
        const int64_t lanes = step.lanes, block = step.block == 0 ? size : std::min(step.block, size);
        const BlockRegion& element = step.regions[0];
        Counter counter(*this, step, count);
        const auto compute = [&](int64_t k) {
            set_index(element.arguments[0], k);
            run_steps(element, count);
            return places_of(element.yields);
        };
        if (step.block == 1) {
            for (int64_t k = 0; k < size; ++k) counter.push(compute(k));
            copy(step, results, counter.result(), count);
            return;
        }
        const Places accumulators = take_places(step, lanes * count);
        for (int64_t begin = 0; begin < size; begin += block) {
            const int64_t end = std::min(begin + block, size), width = std::min(lanes, end - begin);
            for (int64_t lane = 0; lane < width; ++lane)
                copy(step, moved(accumulators, components, lane * count), initial, count);
            for (int64_t k = begin; k < end; ++k) {
                const Places lane = moved(accumulators, components, (k - begin) % lanes * count);
                combine(step, lane, lane, compute(k), count);
            }
            join_lanes(step, accumulators, width, count);
            if (begin == 0 && end == size) {
                copy(step, results, accumulators, count);
                return;
            }
            counter.push(accumulators);
        }
        copy(step, results, counter.result(), count);
    }

    const BlockProgram& program_;
    const ArgumentWord* const words_;
    Scratch& scratch_;
    const Scratch::Mark mark_;
    char* cells_ = nullptr;
    Place* places_ = nullptr;
    BufferAt* buffers_ = nullptr;
};

constexpr int64_t kShortRow = 48;    // elements, of which reducing one by one costs more than reading across
constexpr int64_t kManyPoints = 32;  // that are worth it

class ProgramKernel final : public BlockKernel {
public:
    explicit ProgramKernel(BlockPrograms programs) : programs_(std::move(programs)) {
        name = programs_.usual.name;
        grid_dimensions = programs_.usual.grid_dimensions;
        if (!prepare_reserve()) throw_allocation_failure(kReservedBytes);
    }

    void run(const ArgumentWord* words, const int64_t* lower, const int64_t* upper) const override {
        if (const CpuKernel* compiled = replaced_.load(std::memory_order_acquire))
            return compiled->run(words, lower, upper);
        // What a kernel writes in place must not be left half done.
        const LastResort last_resort;
        Frame(program_for(words, lower, upper), words).run(lower, upper, replaced_);
    }

private:
    const BlockProgram& program_for(const ArgumentWord* words, const int64_t* lower,
                                    const int64_t* upper) const {
        if (!programs_.of_short_rows) return programs_.usual;
        const auto axis = static_cast<size_t>(programs_.of_short_rows->axis);
        const bool is_short = static_cast<int64_t>(words[programs_.row_word]) <= kShortRow &&
                              upper[axis] - lower[axis] >= kManyPoints;
        return is_short ? *programs_.of_short_rows : programs_.usual;
    }

    const BlockPrograms programs_;
};

}  // namespace

std::shared_ptr<const BlockKernel> make_block_kernel(const ir::Module& module, const ir::Function& kernel,
                                                     std::string& why) {
    std::optional<BlockPrograms> programs = plan_blocks(module, kernel, why);
    return programs ? std::make_shared<const ProgramKernel>(std::move(*programs)) : nullptr;
}

}  // namespace weft::codegen
