#include "execution/kernels/search_kernel.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ops/extreme_search.h"

namespace weft {

namespace {

// Where a launch has a buffer's elements.
struct Place {
    char* base = nullptr;
    std::array<int64_t, kMaxGridDimensions + 1> strides{};

    // Of the element at these places of the first `rank` dimensions.
    char* at(const int64_t* position, size_t rank) const {
        char* element = base;
        for (size_t d = 0; d < rank; ++d) element += position[d] * strides[d];
        return element;
    }
};

// Takes the buffer's words, which launch.cpp appends.
Place place_of(const BufferForm& buffer, int64_t row, const ArgumentWord*& words) {
    Place place;
    place.base = reinterpret_cast<char*>(*words++);
    const int64_t itemsize = DType::of(buffer.element).itemsize();
    for (size_t d = 0; d < buffer.strides.size(); ++d) {
        switch (buffer.strides[d]) {
            case StrideClass::kZero: break;
            case StrideClass::kDynamic: place.strides[d] = static_cast<int64_t>(*words++); break;
            case StrideClass::kItem: place.strides[d] = itemsize; break;
            case StrideClass::kMinusItem: place.strides[d] = -itemsize; break;
            case StrideClass::kRow: place.strides[d] = row * itemsize; break;
        }
    }
    return place;
}

// A point of the grid is a row, or a chunk of one, of which the result is partial: the element and where it
// is.
class SearchKernel final : public codegen::BlockKernel {
public:
    explicit SearchKernel(const KernelForm& form)
        : form_(form),
          rank_(static_cast<size_t>(form.grid_rank)),
          search_(find_extreme_search(form.reductions[0].compute,
                                      form.reductions[0].info->id == ReductionId::kArgmax)) {
        name = form.name();
        grid_dimensions = form.grid_rank;
    }

    void run(const ArgumentWord* words, const int64_t* lower, const int64_t* upper) const override {
        if (const CpuKernel* compiled = replaced_.load(std::memory_order_acquire))
            return compiled->run(words, lower, upper);
        GridBox line;
        for (size_t d = 0; d < rank_; ++d) {
            if (lower[d] >= upper[d]) return;
            line.lower[d] = lower[d];
            line.upper[d] = lower[d] + 1;
        }
        const size_t last = rank_ - 1;
        line.upper[last] = upper[last];
        const Launch launch(form_, words);
        for (;;) {
            for (int64_t& at = line.lower[last]; at < upper[last]; ++at) {
                if (const CpuKernel* compiled = replaced_.load(std::memory_order_acquire)) {
                    compiled->run(words, line.lower.data(), line.upper.data());
                    break;
                }
                search(launch, line.lower.data());
            }
            line.lower[last] = lower[last];
            size_t d = last;
            while (d-- > 0) {
                if (++line.lower[d] == upper[d]) line.lower[d] = lower[d];
                line.upper[d] = line.lower[d] + 1;
                if (line.lower[d] != lower[d]) break;
            }
            if (d == SIZE_MAX) return;
        }
    }

private:
    struct Launch {
        Launch(const KernelForm& form, const ArgumentWord* words) : grid(words) {
            words += form.grid_rank;
            length = static_cast<int64_t>(*words++);
            input = place_of(form.inputs[0].buffer, form.row, words);
            for (size_t k = 0; k < form.outputs.size(); ++k)
                outputs[k] = place_of(form.outputs[k].buffer, form.row, words);
        }

        const ArgumentWord* grid;
        int64_t length = 0;  // of a whole row
        Place input;
        std::array<Place, 2> outputs;
    };

    void search(const Launch& launch, const int64_t* at) const {
        const size_t rows = rank_ - (form_.chunked ? 1 : 0), outer = static_cast<size_t>(form_.outer_rank);
        const int64_t begin = form_.chunked ? at[rows] * form_.chunk : 0;
        const int64_t count = form_.chunked ? std::min(launch.length - begin, form_.chunk) : launch.length;
        int64_t row = 0;  // in C order of the outer reduced dimensions
        for (size_t d = rows - outer; d < rows; ++d) row = row * static_cast<int64_t>(launch.grid[d]) + at[d];
        const int64_t stride = launch.input.strides[rows];
        const char* const elements = launch.input.at(at, rows) + begin * stride;
        const int64_t found = search_(elements, stride, count);
        const int64_t index = row * launch.length + begin + found;
        if (form_.chunked) {
            std::memcpy(launch.outputs[0].at(at, rank_), elements + found * stride, itemsize_);
        }
        std::memcpy(launch.outputs[form_.chunked ? 1 : 0].at(at, rank_), &index, sizeof index);
    }

    const KernelForm form_;
    const size_t rank_;
    const ExtremeSearch search_;
    const size_t itemsize_ = static_cast<size_t>(DType::of(form_.reductions[0].compute).itemsize());
};

bool is_plain(const OutputForm& output) {
    return !output.buffer.of_element && output.positions.empty() && !output.condition && !output.largest;
}

// Along rows: across them, blocks read neighbouring columns together.
bool searches_rows(const KernelForm& form) {
    if (form.shape != KernelShape::kReduce || form.lanes == 1 || form.collapsed || form.then != nullptr ||
        form.reductions.size() != 1 || form.inputs.size() != 1 || !form.steps.empty() ||
        !form.scalars.empty())
        return false;
    const ReductionForm& reduction = form.reductions[0];
    const InputForm& input = form.inputs[0];
    if (!reduction.info->gives_index || reduction.element.kind != ValueForm::Kind::kInput || input.position ||
        !input.buffer.of_element || !input.buffer.computed.empty() ||
        input.buffer.element != reduction.compute)
        return false;
    if (form.chunked) return form.outputs.size() == 2;
    const OutputForm& output = form.outputs[0];
    return form.outputs.size() == 1 && is_plain(output) && output.value.kind == ValueForm::Kind::kReduction &&
           output.buffer.element == ScalarType::kInt64 && reduction.result == ScalarType::kInt64;
}

}  // namespace

std::shared_ptr<const codegen::BlockKernel> make_search_kernel(const KernelForm& form) {
    return searches_rows(form) ? std::make_shared<const SearchKernel>(form) : nullptr;
}

}  // namespace weft
