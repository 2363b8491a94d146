#include "ops/engine_function.h"

#include <bit>
#include <utility>

namespace weft {

namespace {

constinit std::span<const EngineFunction> known;
thread_local std::exception_ptr failure_of_thread;

}  // namespace

EngineArray EngineArguments::array() {
    EngineArray result;
    result.data = reinterpret_cast<char*>(*next_++);
    const int64_t header = *next_++;
    result.type = static_cast<ScalarType>(header & 0xff);
    const auto rank = static_cast<size_t>(header >> 8);
    result.shape = Dims(std::span(next_, rank));
    result.strides = Dims(std::span(next_ + rank, rank));
    next_ += 2 * rank;
    return result;
}

double EngineArguments::real() { return std::bit_cast<double>(*next_++); }

void keep_engine_failure(std::exception_ptr failure) { failure_of_thread = std::move(failure); }
std::exception_ptr take_engine_failure() { return std::exchange(failure_of_thread, nullptr); }

EngineFunctions::EngineFunctions(std::span<const EngineFunction> functions) { known = functions; }

const EngineFunction* find_engine_function(std::string_view name) {
    for (const EngineFunction& each : known) {
        if (each.name == name) return &each;
    }
    return nullptr;
}

}  // namespace weft
