// Functions of the engine over whole arrays, which kernel IR calls by their names (`engine @solve(...)`).
// src/library/called has them. They get the arguments as words and answer with a number: what it means, the
// frontend knows.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

#include "weft/dims.h"
#include "weft/dtype.h"

namespace weft {

struct EngineArray {
    ScalarType type = ScalarType::kFloat64;
    char* data = nullptr;
    Dims shape, strides;  // in bytes
};

// The words of a call's arguments: of an array its address, its element type and rank, its sizes and its
// strides; of an integer or a float its 64 bits.
class EngineArguments {
public:
    explicit EngineArguments(const int64_t* words) : next_(words) {}
    EngineArray array();
    int64_t integer() { return *next_++; }
    double real();

    static int64_t header(ScalarType type, size_t rank) {
        return static_cast<int64_t>(type) | static_cast<int64_t>(rank) << 8;
    }

private:
    const int64_t* next_;
};

// Where a function threw: take_engine_failure() has what.
inline constexpr int64_t kEngineThrew = INT64_MIN;
using EngineCode = int64_t (*)(EngineArguments arguments);

struct EngineFunction {
    std::string_view name;
    // What it takes, a letter each: an array that is read (r) or written (w), an int64 (i), a float64 (d).
    std::string_view parameters;
    int64_t (*call)(const int64_t* words) noexcept;
};

void keep_engine_failure(std::exception_ptr failure);
std::exception_ptr take_engine_failure();  // of this thread

template <EngineCode code>
int64_t call_engine(const int64_t* words) noexcept {
    try {
        return code(EngineArguments(words));
    } catch (...) {
        keep_engine_failure(std::current_exception());
        return kEngineThrew;
    }
}

// Null where there is none.
const EngineFunction* find_engine_function(std::string_view name);

// What the library adds when it is loaded.
struct EngineFunctions {
    explicit EngineFunctions(std::span<const EngineFunction> functions);
};

}  // namespace weft
