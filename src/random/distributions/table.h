// All distributions with up to three parameters, by name: what their parameters must be, and how one number
// is drawn, or many.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "random/bit_source.h"

namespace weft::distributions {

// What a parameter has to be. NaN passes kNonNegative and kPositive.
enum class Constraint : uint8_t {
    kNone,
    kNonNegative,
    kPositive,
    kPositiveNotNan,
    kUpToOne,         // [0, 1]
    kAboveZeroToOne,  // (0, 1]
    kBelowOne,        // [0, 1)
    kAboveOne,
    kAtLeastOne,
    kPoisson,  // from 0 on, so that sums of the numbers fit int64
};

struct Parameter {
    std::string_view name;
    Constraint constraint = Constraint::kNone;
    bool is_whole = false;
};

// Of each parameter what its kind says.
struct Numbers {
    std::array<double, 3> real{};
    std::array<int64_t, 3> whole{};
};

struct Distribution {
    std::string_view
        name;  // NumPy's, with "legacy_" before those of RandomState, "python_" before those of Python
    bool is_whole = false;  // int64 is drawn, else float64
    int count = 0;          // of parameters
    std::array<Parameter, 3> parameters{};
    // The two that are its own are set.
    double (*draw_real)(Bits&, const Numbers&) = nullptr;
    void (*fill_real)(Bits&, const Numbers&, std::span<double>) = nullptr;
    int64_t (*draw_whole)(Bits&, const Numbers&) = nullptr;
    void (*fill_whole)(Bits&, const Numbers&, std::span<int64_t>) = nullptr;
};

// Throws ValueError where a number is none that the parameter may be; of arrays NumPy says it in other words.
void check(const Parameter& parameter, double value, bool of_array = false);

std::span<const Distribution> all();
// Null if there is none.
const Distribution* find(std::string_view name);

// Single precision, of which there is this one.
float standard_gamma32(Bits& bits, float shape);
void fill_standard_gamma32(Bits& bits, float shape, std::span<float> out);

}  // namespace weft::distributions
