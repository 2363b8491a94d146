#include "random/thread_stream.h"

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <span>

#include "core/threads/fork.h"

namespace weft {

namespace {

constinit std::atomic<uint32_t> forks = 0;

[[maybe_unused]] const bool at_fork =
    on_fork(ForkRank::kRandomStreams, {nullptr, nullptr, [] { forks.fetch_add(1); }});

}  // namespace

void ThreadStream::start() {
    std::random_device entropy;
    std::array<uint32_t, 8> words{};
    for (uint32_t& word : words) word = entropy();
    twister.seed(words);
    spare = {};
}

ThreadStream& stream_of_thread(ThreadStreamOf module) {
    // Thread-local memory of libraries that are loaded late is scarce, so it has addresses alone.
    thread_local std::array<std::unique_ptr<ThreadStream>, 2> streams;
    std::unique_ptr<ThreadStream>& stream = streams[static_cast<size_t>(module)];
    const uint32_t process = forks.load(std::memory_order_relaxed);
    if (stream == nullptr || stream->process != process) [[unlikely]] {
        if (stream == nullptr) stream = std::make_unique<ThreadStream>();
        stream->start();
        stream->process = process;
    }
    return *stream;
}

void seed_as_python(ThreadStream& stream, uint64_t magnitude) {
    const std::array words = {static_cast<uint32_t>(magnitude), static_cast<uint32_t>(magnitude >> 32)};
    stream.twister.seed(std::span(words).first(words[1] == 0 ? 1 : 2));
    stream.spare = {};
}

}  // namespace weft
