#include "random/thread_stream.h"

#include <array>
#include <memory>
#include <random>

namespace weft {

ThreadStream& stream_of_thread() {
    // Thread-local memory of libraries that are loaded late is scarce, so it has an address alone.
    thread_local std::unique_ptr<ThreadStream> stream;
    if (stream == nullptr) {
        std::random_device entropy;
        std::array<uint32_t, 8> words{};
        for (uint32_t& word : words) word = entropy();
        stream = std::make_unique<ThreadStream>();
        stream->twister.seed(words);
    }
    return *stream;
}

}  // namespace weft
