#include "library/indexing/copy_complement.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/threads/thread_pool.h"

namespace weft {

namespace {

constexpr int64_t kPiece = int64_t{1} << 20;

struct Dimension {
    int64_t extent, stride;
    int64_t span;  // bytes from the first to the end of the last element of one index
};

// The view as dimensions from the largest stride to the smallest, within which there are gaps.
struct Nest {
    std::vector<Dimension> dimensions;
    int64_t offset, end;  // of the bytes from the first to the last element
    bool solid = true;    // within the innermost dimension there is nothing but elements
};

Nest nest(const Dims& shape, const Dims& strides, int64_t offset, int64_t itemsize) {
    Nest view{{}, offset, 0};
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 1) continue;
        if (strides[d] < 0) view.offset += strides[d] * (shape[d] - 1);
        view.dimensions.push_back({shape[d], std::abs(strides[d]), 0});
    }
    std::sort(view.dimensions.begin(), view.dimensions.end(),
              [](const Dimension& a, const Dimension& b) { return a.stride > b.stride; });
    int64_t span = itemsize;
    for (size_t d = view.dimensions.size(); d-- > 0;) {
        view.dimensions[d].span = span;
        span += view.dimensions[d].stride * (view.dimensions[d].extent - 1);
    }
    view.end = view.offset + span;
    // Elements side by side are one piece; with small gaps they are copied together with these.
    while (!view.dimensions.empty()) {
        const Dimension& inner = view.dimensions.back();
        const int64_t gap = inner.stride - inner.span;
        if (gap != 0 && (gap >= 64 || inner.span >= 256)) break;
        view.solid &= gap == 0;
        view.dimensions.pop_back();
    }
    const bool nested = std::all_of(view.dimensions.begin(), view.dimensions.end(),
                                    [](const Dimension& d) { return d.span <= d.stride; });
    view.solid &= nested;
    if (!nested) view.dimensions.clear();
    return view;
}

class Copy {
public:
    Copy(char* to, const char* from, const Nest& view) : to_(to), from_(from), view_(view) {}

    void range(int64_t begin, int64_t end) const {
        if (begin < end) std::memcpy(to_ + begin, from_ + begin, static_cast<size_t>(end - begin));
    }

    // What lies outside of the view within one index of dimension `d - 1`, which begins at `begin`.
    void inside(size_t d, int64_t begin) const {
        if (d == view_.dimensions.size()) {
            if (!view_.solid) range(begin, begin + view_.dimensions.back().span);
            return;
        }
        const Dimension& dimension = view_.dimensions[d];
        for (int64_t k = 0; k < dimension.extent; ++k) {
            const int64_t at = begin + k * dimension.stride;
            inside(d + 1, at);
            if (k + 1 < dimension.extent) range(at + dimension.span, at + dimension.stride);
        }
    }

private:
    char* to_;
    const char* from_;
    const Nest& view_;
};

}  // namespace

void copy_complement(char* to, const char* from, int64_t bytes, const Dims& shape, const Dims& strides,
                     int64_t offset, int64_t itemsize) {
    const Nest view = nest(shape, strides, offset, itemsize);
    const auto parallel_range = [&](int64_t begin, int64_t end) {
        const int64_t pieces = (end - begin + kPiece - 1) / kPiece;
        parallel_for(std::max<int64_t>(pieces, 0), [&](int64_t piece) {
            const int64_t at = begin + piece * kPiece;
            std::memcpy(to + at, from + at, static_cast<size_t>(std::min(kPiece, end - at)));
        });
    };
    parallel_range(0, view.offset);
    parallel_range(view.end, bytes);
    if (view.dimensions.empty()) {
        if (!view.solid) parallel_range(view.offset, view.end);
        return;
    }
    const Copy copy(to, from, view);
    const Dimension& first = view.dimensions[0];
    const int64_t parts =
        view.end - view.offset > kPiece ? std::min<int64_t>(first.extent, 4 * num_threads()) : 1;
    parallel_for(parts, [&](int64_t part) {
        for (int64_t k = first.extent * part / parts; k < first.extent * (part + 1) / parts; ++k) {
            const int64_t at = view.offset + k * first.stride;
            copy.inside(1, at);
            if (k + 1 < first.extent) copy.range(at + first.span, at + first.stride);
        }
    });
}

}  // namespace weft
