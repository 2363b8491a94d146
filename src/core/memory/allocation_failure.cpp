#include "core/memory/allocation_failure.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <utility>

#include "core/memory/bytes_text.h"
#include "core/memory/reserved_memory.h"

namespace weft {
namespace {

constinit std::atomic<MemoryReport> memory_report{nullptr};
thread_local constinit LastResort* innermost = nullptr;

}  // namespace

bool report_memory_by(MemoryReport report) {
    memory_report.store(report);
    return true;
}

void describe_memory_failure(char* text, size_t size, size_t bytes) noexcept {
    const int written = bytes != 0 ? std::snprintf(text, size, "cannot allocate %s (%zu bytes asked for); ",
                                                   BytesText(bytes).text, bytes)
                                   : std::snprintf(text, size, "cannot allocate what was asked for; ");
    const size_t begin = std::min(static_cast<size_t>(std::max(written, 0)), size - 1);
    if (const MemoryReport report = memory_report.load()) report(text + begin, size - begin);
}

AllocationFailure::AllocationFailure(size_t bytes) noexcept {
    describe_memory_failure(text_, sizeof text_, bytes);
}

void throw_allocation_failure(size_t bytes) { throw AllocationFailure(bytes); }

LastResort::LastResort(void (*exhausted)()) noexcept
    : exhausted_(exhausted), outer_(std::exchange(innermost, this)) {}

LastResort::~LastResort() { innermost = outer_; }

void* LastResort::take(size_t bytes, size_t alignment) noexcept {
    LastResort* const inside = innermost;
    if (inside == nullptr) return nullptr;
    void* const block = take_reserved(bytes, alignment);
    if (block != nullptr) {
        inside->needed_ = true;
    } else if (inside->exhausted_ != nullptr) {
        inside->exhausted_();
    }
    return block;
}

}  // namespace weft
