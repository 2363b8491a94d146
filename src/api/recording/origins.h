// Where values come from that no kernel computed: results of linear algebra and of Fourier transforms, as
// weft.explain tells it. The latest results are remembered, by weak references to their storages.
#pragma once

#include <chrono>
#include <initializer_list>
#include <span>
#include <string>

#include "core/threads/way_taken.h"
#include "weft/array.h"

namespace weft {

/// What is told of one.
struct LibraryCallFacts {
    const char* function = nullptr;
    DType dtype;  // of the first argument, as is the shape
    Dims shape;
    Dims axes;  // that were transformed; none of matrices
    bool is_timed = false;
    std::chrono::steady_clock::time_point start;
    double milliseconds = 0;
    std::string reason;  // why the CPU did what a GPU was asked for
    WayTaken way;
};

/// A call of such a function, while it runs. Calls within one belong to it.
class LibraryCall {
public:
    /// Calls of fewer elements on a CPU are not remembered: it would be seen in their time.
    static constexpr int64_t kLeastElements = 64;

    LibraryCall(const char* function, const array& a) {
        if (current_ == nullptr && is_remembered(a)) begin(function, a);
    }
    ~LibraryCall() {
        if (facts_ != nullptr) end();
    }
    LibraryCall(const LibraryCall&) = delete;
    LibraryCall& operator=(const LibraryCall&) = delete;

    /// The axes that are transformed, and not matrices.
    void set_axes(const Dims& axes) {
        if (facts_ != nullptr) facts_->axes = axes;
    }
    /// Why the CPU does what a GPU was asked for.
    static void set_reason(const std::string& why) {
        if (current_ != nullptr) current_->reason = why;
    }
    /// A result of the call that runs, if one does.
    static void made(const array& result) {
        if (current_ != nullptr) remember(result);
    }
    static void made(std::initializer_list<const array*> results) {
        for (const array* each : results) made(*each);
    }

private:
    static bool is_remembered(const array& a) { return a.size() >= kLeastElements || is_on_gpu(a); }
    static bool is_on_gpu(const array& a);
    void begin(const char* function, const array& a);
    void end();
    static void remember(const array& result);

    static inline constinit thread_local LibraryCallFacts* current_ = nullptr;

    LibraryCallFacts* facts_ = nullptr;  // its own, while it is the one that is told of
};

/// What is told of those arrays that are such results, or views of them.
std::string explain_origins(std::span<const array> arrays);

}  // namespace weft
