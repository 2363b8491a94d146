// Observation: where pending work becomes values, for the eyes of C++, Python, or others who share the
// memory.
#include <cstring>
#include <mutex>

#include "core/shape.h"
#include "graph/at_once.h"
#include "graph/deferred.h"
#include "graph/evaluate.h"
#include "graph/indexed_view.h"
#include "graph/record.h"
#include "graph/shown_memory.h"
#include "graph/storage.h"
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
    storage.current.settle();
    return storage.current.in_memory();
}

std::string explain(std::span<const array> arrays) {
    std::vector<NodePtr> roots;
    for (const array& input : arrays) {
        Source version = current_version(*input.storage());
        if (version.node) roots.push_back(std::move(version.node));
    }
    return explain_plan(roots);
}

HostView::HostView() = default;
HostView::HostView(HostView&&) noexcept = default;
HostView& HostView::operator=(HostView&&) noexcept = default;
HostView::~HostView() = default;

HostView::HostView(const array& input, bool for_writing) {
    if (!input.storage()->device.is_cpu()) {
        throw BufferError("the array is on " + input.storage()->device.name() +
                          ", where its memory cannot be shown to the CPU: copy it with x.to_device('cpu')");
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
    const Dims strides = c_strides(input.shape(), input.itemsize());
    const ScalarType type = input.dtype().scalar_type();
    copy_at_once(input.shape(), {buffer->data() + input.offset(), &input.strides(), type},
                 {static_cast<char*>(destination), &strides, type});
}

}  // namespace weft
