// Observation: where pending work becomes values, for the eyes of C++, Python, or others who share the
// memory.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "api/recording/deferred_checks.h"
#include "api/recording/memory_pin.h"
#include "api/recording/origins.h"
#include "core/shape.h"
#include "core/threads/thread_pool.h"
#include "execution/evaluate.h"
#include "execution/stream_order.h"
#include "graph/indexed_view.h"
#include "graph/storage.h"
#include "library/loops/strided_loops.h"
#include "planning/explain.h"
#include "weft/ops.h"

namespace weft {

void eval(std::span<const array> arrays) {
    if (arrays.size() == 1) {
        const Source version = current_version(*arrays[0].storage());
        if (version.node) evaluate({&version.node, 1});
        return;
    }
    std::vector<NodePtr> roots;
    for (const array& input : arrays) {
        Source version = current_version(*input.storage());
        if (version.node) roots.push_back(std::move(version.node));
    }
    if (!roots.empty()) evaluate(roots);
}

bool evaluated(const array& input) {
    Storage& storage = *input.storage();
    const std::lock_guard lock(storage.mutex);
    storage.current.resolve();
    return storage.current.in_memory();
}

std::string explain(std::span<const array> arrays) {
    std::vector<NodePtr> roots;
    for (const array& input : arrays) {
        Source version = current_version(*input.storage());
        if (version.node) roots.push_back(std::move(version.node));
    }
    return explain_plan(roots) + explain_origins(arrays);
}

HostView::HostView() = default;
HostView::HostView(HostView&&) noexcept = default;
HostView& HostView::operator=(HostView&&) noexcept = default;
HostView::~HostView() = default;

HostView::HostView(const array& input, bool for_writing) {
    if (!input.storage()->device.is_cpu()) {
        throw BufferError(
            "the array is on " + input.storage()->device.name() +
            ", where its memory cannot be exported to the CPU: copy it with x.to_device('cpu')");
    }
    if (for_writing && !input.writeable()) throw ValueError("array is read-only");
    pin_ = std::make_unique<MemoryPin>(input);
    data_ = reinterpret_cast<char*>(pin_->address());
}

void read_element(const array& input, std::span<const int64_t> position, void* bytes) {
    if (position.size() != input.shape().size())
        throw IndexError("a position of " + std::to_string(position.size()) + " numbers in an array of " +
                         std::to_string(input.ndim()) + " dimensions");
    int64_t offset = input.offset();
    for (size_t d = 0; d < position.size(); ++d) offset += element_offset(input, d, position[d]);
    const BufferPtr buffer = evaluate_storage(*input.storage());
    if (!buffer->on_host()) {
        decide(buffer->poison());
        wait_for_others(*buffer);
        buffer->device().copy_out(static_cast<char*>(bytes), *buffer, static_cast<size_t>(offset),
                                  static_cast<size_t>(input.itemsize()));
        return;
    }
    std::memcpy(bytes, buffer->data() + offset, static_cast<size_t>(input.itemsize()));
}

namespace {

// Into C order, many elements by all threads; can be stopped between pieces.
void copy_in_pieces(const array& input, const char* from, char* to) {
    constexpr int64_t kTogether = 1 << 20;  // elements
    const Dims& shape = input.shape();
    const Dims strides = c_strides(shape, input.itemsize());
    const ScalarType type = input.dtype().scalar_type();
    const auto copy = [&](const Dims& part, const Dims& position) {
        int64_t read = 0, written = 0;
        for (size_t d = 0; d < position.size(); ++d) {
            read += position[d] * input.strides()[d];
            written += position[d] * strides[d];
        }
        copy_eagerly(part, {const_cast<char*>(from) + read, &input.strides(), type},
                     {to + written, &strides, type});
    };
    if (input.size() <= kTogether) return copy(shape, {});
    // Single positions of the first axes, then pieces of one; whole axes come after it.
    size_t cut = shape.size();
    int64_t inner = 1;
    while (inner * shape[--cut] <= kTogether) inner *= shape[cut];
    const int64_t piece = std::max<int64_t>(kTogether / inner, 1);
    const int64_t pieces = (shape[cut] + piece - 1) / piece;
    parallel_for(input.size() / inner / shape[cut] * pieces, [&](int64_t task) {
        Dims position(cut + 1), part = shape;
        position[cut] = task % pieces * piece;
        part[cut] = std::min(piece, shape[cut] - position[cut]);
        int64_t row = task / pieces;
        for (size_t d = cut; d-- > 0; row /= shape[d]) {
            position[d] = row % shape[d];
            part[d] = 1;
        }
        copy(part, position);
    });
}

}  // namespace

void copy_out(const array& input, void* destination) {
    if (input.size() == 0) return;
    if (!input.storage()->device.is_cpu()) {
        const array dense = input.c_contiguous() ? input : copy(input, 'C');
        const BufferPtr there = evaluate_storage(*dense.storage());
        decide(there->poison());
        wait_for_others(*there);
        there->device().copy_out(static_cast<char*>(destination), *there, static_cast<size_t>(dense.offset()),
                                 static_cast<size_t>(dense.nbytes()));
        return;
    }
    const BufferPtr buffer = evaluate_storage(*input.storage());
    copy_in_pieces(input, buffer->data() + input.offset(), static_cast<char*>(destination));
}

}  // namespace weft
