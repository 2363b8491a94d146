#include "api/recording/origins.h"

#include <array>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

#include "core/shape.h"
#include "core/threads/short_lock.h"
#include "device/device.h"
#include "graph/storage.h"

namespace weft {

namespace {

struct Origin {
    std::weak_ptr<Storage> storage;
    LibraryCallFacts facts;
};

// The latest ones, the oldest of which gives way. The lock is held for moments and, as a storage's, only with
// what keeps fork() waiting; nothing is freed under it.
struct Origins {
    static constexpr size_t kMost = 128;
    ShortLock guard;
    std::array<Origin, kMost> entries;
    size_t next = 0;
};
Origins& origins() {
    static auto* const instance = new Origins;
    return *instance;
}

constexpr int64_t kLeastTimed = 1 << 12;  // elements that take much longer than a look at the clock

std::string text_of(const LibraryCallFacts& facts, const array& result) {
    const Dims& shape = facts.shape;
    std::string text = std::string("made by ") + facts.function + " of ";
    if (facts.axes.empty() && shape.size() >= 2) {
        int64_t count = 1;
        for (size_t d = 0; d + 2 < shape.size(); ++d) count *= shape[d];
        text += count == 1 ? "a matrix" : std::to_string(count) + " matrices";
        text += " " + std::to_string(shape[shape.size() - 2]) + "x" + std::to_string(shape.back());
    } else {
        text += shape_text(shape);
    }
    text += " " + std::string(facts.dtype.name());
    for (size_t i = 0; i < facts.axes.size(); ++i)
        text += (i != 0                   ? ","
                 : facts.axes.size() == 1 ? " along axis "
                                          : " along axes ") +
                std::to_string(facts.axes[i]);
    text += ", result on " + result.storage()->device.name();
    if (!facts.reason.empty()) text += "\n  on the CPU: " + facts.reason;
    if (const WayTaken& way = facts.way; way.library != nullptr) {
        text += std::string("\n  by ") + way.library;
        if (way.detail != nullptr) text += std::string(", ") + way.detail;
        if (way.threads > 0)
            text += ", on " + std::to_string(way.threads) + (way.threads == 1 ? " thread" : " threads");
    }
    if (facts.is_timed) {
        char number[32];
        std::snprintf(number, sizeof number, "%.3g", facts.milliseconds);
        text += std::string("\n  in ") + number + " ms, with what its inputs took";
    }
    return text + "\n";
}

}  // namespace

bool LibraryCall::is_on_gpu(const array& a) { return !a.storage()->device.is_cpu(); }

void LibraryCall::begin(const char* function, const array& a) {
    auto facts = std::make_unique<LibraryCallFacts>();
    facts->function = function;
    facts->dtype = a.dtype();
    facts->shape = a.shape();
    // A GPU's work goes on after the call.
    facts->is_timed = !is_on_gpu(a) && a.size() >= kLeastTimed;
    if (facts->is_timed) facts->start = std::chrono::steady_clock::now();
    way_taken = {};
    current_ = facts_ = facts.release();
}

void LibraryCall::end() {
    const std::unique_ptr<LibraryCallFacts> facts(facts_);
    current_ = nullptr;
}

void LibraryCall::remember(const array& result) {
    Origin fresh{result.storage(), *current_};
    fresh.facts.way = way_taken;
    if (fresh.facts.is_timed)
        fresh.facts.milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - fresh.facts.start)
                .count();
    Origins& all = origins();
    const std::lock_guard lock(all.guard);
    std::swap(all.entries[all.next], fresh);
    all.next = (all.next + 1) % Origins::kMost;
}

std::string explain_origins(std::span<const array> arrays) {
    std::string text;
    Origins& all = origins();
    for (const array& each : arrays) {
        const std::weak_ptr<Storage> sought = each.storage();
        LibraryCallFacts found;
        {
            const std::lock_guard lock(all.guard);
            for (size_t i = 1; i <= Origins::kMost && found.function == nullptr; ++i) {
                const Origin& origin = all.entries[(all.next + Origins::kMost - i) % Origins::kMost];
                if (!origin.storage.owner_before(sought) && !sought.owner_before(origin.storage))
                    found = origin.facts;
            }
        }
        if (found.function == nullptr) continue;
        const std::string told = text_of(found, each);
        if (!text.ends_with(told)) text += told;  // another result of the same call
    }
    return text;
}

}  // namespace weft
