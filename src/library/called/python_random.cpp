// What compiled functions draw by the names of Python's own module random.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "library/called/functions.h"
#include "library/called/streams.h"
#include "random/distributions/python.h"
#include "weft/errors.h"

namespace weft::called {

namespace {

ThreadStream& own_stream() { return stream_of_thread(ThreadStreamOf::kPython); }

Bits own_bits() {
    ThreadStream& stream = own_stream();
    return Bits(stream.source, &stream.spare);
}

}  // namespace

int64_t python_seed(EngineArguments arguments) {
    constexpr int64_t kUnsigned = 1, kOfTheSystem = 2;
    const int64_t seed = arguments.integer(), kind = arguments.integer();
    if (kind == kOfTheSystem) {
        own_stream().start();
    } else {
        const auto word = static_cast<uint64_t>(seed);
        seed_as_python(own_stream(), seed < 0 && kind != kUnsigned ? -word : word);
    }
    return 0;
}

int64_t python_bits(EngineArguments arguments) {
    const int64_t count = arguments.integer();
    if (count < 0) throw ValueError("number of bits must be non-negative");
    if (count > 64)
        throw OverflowError("getrandbits() gives at most 64 bits in a compiled function, not " +
                            std::to_string(count));
    Bits bits = own_bits();
    return kept(distributions::python::random_bits(bits, static_cast<int>(count)));
}

int64_t python_range(EngineArguments arguments) {
    enum : int64_t { kFromZero = 1, kWithStop = 2 };
    const int64_t start = arguments.integer(), stop = arguments.integer(), step = arguments.integer();
    const int64_t kind = arguments.integer();
    if (step == 0) throw ValueError("zero step for randrange()");
    const auto low = static_cast<uint64_t>(start), high = static_cast<uint64_t>(stop);
    const bool is_empty = kind == kWithStop ? start > stop : step > 0 ? start >= stop : start <= stop;
    if (is_empty) {
        if (kind == kFromZero) throw ValueError("empty range for randrange()");
        std::string range =
            std::to_string(start) + ", " + std::to_string(kind == kWithStop ? stop + 1 : stop);
        if (step != 1) range += ", " + std::to_string(step);
        throw ValueError("empty range in randrange(" + range + ")");
    }
    uint64_t count = high - low + 1;  // of randint; 0 stands for 2**64
    if (kind != kWithStop) {
        const auto stride = static_cast<uint64_t>(step);
        count = step > 0 ? (high - low - 1) / stride + 1 : (low - high - 1) / -stride + 1;
    }
    Bits bits = own_bits();
    return kept(low + static_cast<uint64_t>(step) * distributions::python::random_below(bits, count));
}

int64_t python_below(EngineArguments arguments) {
    const auto count = static_cast<uint64_t>(arguments.integer());
    Bits bits = own_bits();
    return static_cast<int64_t>(distributions::python::random_below(bits, count));
}

int64_t python_order(EngineArguments arguments) {
    const std::span<int64_t> out = elements_of<int64_t>(arguments.array());
    std::iota(out.begin(), out.end(), 0);
    Bits bits = own_bits();
    distributions::python::shuffle(bits, out);
    return 0;
}

int64_t python_sample(EngineArguments arguments) {
    const std::span<int64_t> out = elements_of<int64_t>(arguments.array());
    Bits bits = own_bits();
    distributions::python::sample(bits, arguments.integer(), out);
    return 0;
}

int64_t python_choices(EngineArguments arguments) {
    const std::span<int64_t> out = elements_of<int64_t>(arguments.array());
    const auto count = static_cast<double>(arguments.integer());
    Bits bits = own_bits();
    for (int64_t& each : out) each = static_cast<int64_t>(std::floor(bits.next_double() * count));
    return 0;
}

int64_t python_weighted(EngineArguments arguments) {
    const std::span<int64_t> out = elements_of<int64_t>(arguments.array());
    const EngineArray given = arguments.array();
    const int64_t count = given.shape[0];
    std::vector<double> sums(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
        std::memcpy(&sums[static_cast<size_t>(i)], given.data + i * given.strides[0], sizeof(double));
    const double total = sums.back();
    if (total <= 0) throw ValueError("Total of weights must be greater than zero");
    if (!std::isfinite(total)) throw ValueError("Total of weights must be finite");
    Bits bits = own_bits();
    for (int64_t& each : out) {
        const double at = bits.next_double() * total;
        each = std::upper_bound(sums.begin(), sums.end() - 1, at) - sums.begin();
    }
    return 0;
}

}  // namespace weft::called
