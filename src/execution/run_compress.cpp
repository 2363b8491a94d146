// What a mask selects, by one kernel (lowering/lower_compress.h). How much memory the results take is not
// known before; a sample of the tiles tells nearly, and where it was wrong, the kernel runs again.
#include <algorithm>
#include <cstring>

#include "core/shape.h"
#include "execution/kernels/gpu_programs.h"
#include "execution/kernels/launch_replay.h"
#include "lowering/lower_compress.h"
#include "weft/errors.h"

namespace weft {

namespace {

constexpr int64_t kFewElements = int64_t{1} << 20;  // there may be memory for all of them
constexpr int64_t kSampledTiles = 256;
constexpr int64_t kLeastUnsampled = 8;  // for each tile of the sample
constexpr int64_t kMargin = 100;        // of all elements, this part

class CompressRun {
public:
    explicit CompressRun(Group& group)
        : group_(group),
          node_(group.root()),
          result_(node_.results[0].dtype),
          size_(element_count(node_.shape)),
          tile_(compress_tile(result_.scalar_type())),
          tiles_((size_ + tile_ - 1) / tile_),
          samples_(size_ < kFewElements ? 0 : std::min(kSampledTiles, tiles_ / kLeastUnsampled)) {}

    void run() {
        GroupBuffers& buffers = reserve_results(group_);
        GroupRun run(group_, buffers);
        run.cannot_repeat();
        run_ = &run;
        describe(buffers);
        words_ = reserve(group_, (compress_words(samples_) + compress_words(tiles_)) *
                                     static_cast<int64_t>(sizeof(uint64_t)));
        BufferPtr chosen;
        int64_t capacity = size_;
        try {
            if (samples_ != 0) capacity = estimate();
            chosen = reserve(group_, capacity * result_.itemsize());
        } catch (const OutOfMemoryError&) {  // then only counted at first
            capacity = 0;
        }
        int64_t total = launch(chosen, capacity);
        if (total > capacity) {
            chosen = nullptr;
            chosen = reserve(group_, total * result_.itemsize());
            capacity = total;
            total =
                std::min(launch(chosen, capacity), capacity);  // others may change what is exported to them
        }
        run.finish();
        Node& node = group_.root();
        node.compress().chosen = total;
        node.results[0].bytes = total * result_.itemsize();
        buffers.back() = {fitted(std::move(chosen), node.results[0].bytes)};
        commit_all(group_);
    }

private:
    // All but the results' memory and the scalars.
    void describe(const GroupBuffers& buffers) {
        parts_.form.shape = KernelShape::kCompress;
        StepBuilder steps(parts_, group_);
        CompressForm form;
        form.mask = steps.operand_of(node_, 0, identity_map(node_.shape));
        if (node_.inputs.size() > 1) form.value = steps.operand_of(node_, 1, identity_map(node_.shape));
        ++parts_.operations;
        const size_t rank = node_.shape.size();
        BufferUse layout_operand;
        layout_operand.strides = c_strides(node_.shape, 1);
        std::vector<BufferUse> stored;
        for (size_t k = 0; k + 1 < group_.nodes.size(); ++k) {
            const Node& node = *group_.nodes[k];
            for (size_t r = 0; group_.stored[k] && r < buffers[k].size(); ++r) {
                const NodeResult& result = node.results[r];
                stored.push_back(use_of(*buffers[k][r], 0, result.dtype,
                                        strides_over_space(result.strides, group_.maps[k], rank)));
                stored_values_.push_back(steps.value_of(node, static_cast<uint32_t>(r), group_.maps[k]));
            }
        }
        extents_ = node_.shape;
        std::vector<BufferUse*> uses;
        uses.reserve(parts_.inputs.size() + stored.size());
        for (BufferUse& use : parts_.inputs) uses.push_back(&use);
        for (BufferUse& use : stored) uses.push_back(&use);
        collapse(extents_, uses, layout_operand);
        form.rank = static_cast<int>(extents_.size());
        if (form.rank == 1) {  // tiles' begins, and elements of a tile
            for (BufferUse* use : uses) use->strides.push_back(use->strides[0]);
        }
        form.scalars = static_cast<uint16_t>(parts_.scalars.size());
        parts_.form.compress = form;
        parts_.form.scalars.insert(parts_.form.scalars.end(), 3, ScalarType::kInt64);
        parts_.scalars.resize(parts_.scalars.size() + 3);

        for (const BufferUse& use : parts_.inputs)
            parts_.form.inputs.push_back({buffer_form(use, true, 0, false), use.position});
        const auto add_output = [&](const BufferUse& use, const ValueForm& value) {
            const auto scope = static_cast<uint16_t>(parts_.outputs.size() + 1);
            parts_.form.outputs.push_back({value, buffer_form(use, false, scope, false)});
            parts_.outputs.push_back(use);
        };
        BufferUse chosen, words;
        chosen.dtype = result_;
        chosen.computed = Dims{result_.itemsize(), result_.itemsize()};
        words.dtype = ScalarType::kUInt64;
        words.computed = Dims{static_cast<int64_t>(sizeof(uint64_t))};
        add_output(chosen, form.value.value_or(form.mask));
        add_output(words, form.mask);
        for (size_t k = 0; k < stored.size(); ++k) add_output(stored[k], stored_values_[k]);
    }

    // How many results to have room for.
    int64_t estimate() {
        const int64_t step = tiles_ / samples_;
        const int64_t found = launch_tiles(nullptr, 0, samples_, step, 0);
        const auto share = static_cast<double>(found) / static_cast<double>(samples_ * tile_);
        const auto expected = static_cast<int64_t>(share * static_cast<double>(size_));
        return std::min(size_, expected + size_ / kMargin + tile_);
    }

    int64_t launch(const BufferPtr& chosen, int64_t capacity) {
        return launch_tiles(chosen, capacity, tiles_, 1, compress_words(samples_));
    }

    // How many are selected of every `step`-th tile. Waits for it.
    int64_t launch_tiles(const BufferPtr& chosen, int64_t capacity, int64_t tiles, int64_t step,
                         int64_t first_word) {
        const auto item = static_cast<int64_t>(sizeof(uint64_t));
        const int64_t begin = first_word * item;
        clear(begin, compress_words(tiles) * item);
        Dims counted = extents_;
        if (tiles < tiles_) counted[0] = std::max<int64_t>(1, extents_[0] * tiles / tiles_);
        place(parts_.outputs[0], chosen != nullptr ? *chosen : *words_, 0);
        place(parts_.outputs[1], *words_, begin);
        // So the history counts what there is room for.
        parts_.outputs[0].strides = Dims(chosen != nullptr ? counted.size() : 0, result_.itemsize());
        set_scalar(0, size_);
        set_scalar(1, capacity);
        set_scalar(2, step);
        Dims grid{tiles};
        for (size_t d = 1; d < extents_.size(); ++d) grid.push_back(extents_[d]);
        parts_.form.grid_rank = 1;
        run_->launch(parts_, grid, counted);
        int64_t total = 0;
        group_.device->copy_out(reinterpret_cast<char*>(&total), *words_,
                                static_cast<size_t>(begin + kSelectedWord * item), sizeof total);
        return total;
    }

    static void place(BufferUse& use, const Buffer& buffer, int64_t offset) {
        use.base = static_cast<int64_t>(buffer.address()) + offset;
        use.buffer = &buffer;
    }

    void set_scalar(size_t number, int64_t value) {
        ScalarUse& scalar = parts_.scalars[parts_.form.compress->scalars + number];
        scalar.dtype = ScalarType::kInt64;
        std::memcpy(scalar.bytes.data(), &value, sizeof value);
    }

    void clear(int64_t offset, int64_t bytes) {
        if (group_.device->is_cpu()) {
            std::memset(words_->data() + offset, 0, static_cast<size_t>(bytes));
        } else {
            clear_on_gpu(*words_, static_cast<size_t>(offset), static_cast<size_t>(bytes));
        }
    }

    // The results in a buffer that is as long as they are; in memory of that size where they are few.
    BufferPtr fitted(BufferPtr chosen, int64_t bytes) {
        const auto length = static_cast<size_t>(bytes);
        if (length == chosen->size()) return chosen;
        if (length < chosen->size() / 2) {
            BufferPtr own = reserve(group_, bytes);
            if (length != 0) group_.device->copy(*own, 0, *chosen, 0, length);
            return own;
        }
        auto* const start = reinterpret_cast<char*>(chosen->address());
        return group_.device->wrap(start, length, std::move(chosen));
    }

    Group& group_;
    const Node& node_;
    const DType result_;
    const int64_t size_, tile_, tiles_;
    const int64_t samples_;
    KernelParts parts_;
    std::vector<ValueForm> stored_values_;
    Dims extents_;
    BufferPtr words_;
    GroupRun* run_ = nullptr;
};

}  // namespace

void run_compress(Group& group) { CompressRun(group).run(); }

}  // namespace weft
