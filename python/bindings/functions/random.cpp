// Random streams for Python: a state is a bytes object that each call takes and gives back changed, so that
// the package keeps it, with its lock.
#include "api/random/random.h"

#include <optional>
#include <span>

#include "convert/convert.h"
#include "module.h"
#include "objects/objects.h"
#include "random/draw.h"

namespace weft::python {

namespace {

static_assert(std::is_trivially_copyable_v<BitGenerator>);

BitGenerator to_generator(nb::handle state) {
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(state.ptr(), &data, &size) != 0) throw_python_error();
    const std::optional<BitGenerator> generator =
        BitGenerator::of_bytes(std::as_bytes(std::span(data, static_cast<size_t>(size))));
    if (!generator) throw ValueError("that is no state of a random stream");
    return *generator;
}

nb::object to_state(const BitGenerator& generator) {
    return steal_or_throw(
        PyBytes_FromStringAndSize(reinterpret_cast<const char*>(&generator), sizeof generator));
}

template <class Work>
nb::object drawn(nb::handle state, const Work& work) {
    BitGenerator generator = to_generator(state);
    array result;
    {
        const ReleaseGil release(true);
        result = work(generator);
    }
    return nb::make_tuple(wrap(std::move(result)), to_state(generator));
}

BitGenerator make_generator(int algorithm, const std::vector<uint64_t>& words,
                            const std::vector<uint64_t>& block, uint32_t used, bool has_half, uint32_t half) {
    BitGenerator generator;
    if (algorithm < 0 || algorithm > static_cast<int>(BitAlgorithm::kPhilox) ||
        words.size() != generator.words.size() || block.size() != generator.block.size() ||
        used > generator.block.size())
        throw ValueError("that is no state of a random stream");
    generator.algorithm = static_cast<BitAlgorithm>(algorithm);
    std::copy(words.begin(), words.end(), generator.words.begin());
    std::copy(block.begin(), block.end(), generator.block.begin());
    generator.used = used;
    generator.has_half = has_half;
    generator.half = half;
    return generator;
}

std::vector<uint64_t> to_words(nb::handle list) {
    std::vector<uint64_t> words;
    for (nb::handle word : list) words.push_back(nb::cast<uint64_t>(word));
    return words;
}

}  // namespace

void bind_random(nb::module_& m) {
    using nb::arg;
    m.def(
        "_stream",
        [](int algorithm, nb::handle words, nb::handle block, uint32_t used, bool has_half, uint32_t half) {
            return to_state(
                make_generator(algorithm, to_words(words), to_words(block), used, has_half, half));
        },
        arg("algorithm"), arg("words"), arg("block"), arg("used"), arg("has_half"), arg("half"));
    m.def(
        "_stream_parts",
        [](nb::handle state) {
            const BitGenerator generator = to_generator(state);
            nb::list words, block;
            for (const uint64_t word : generator.words) words.append(word);
            for (const uint64_t word : generator.block) block.append(word);
            return nb::make_tuple(words, block, generator.used, generator.has_half, generator.half);
        },
        arg("state"));
    m.def(
        "_draw",
        [](nb::handle state, int distribution, nb::handle shape, nb::handle dtype) {
            return drawn(state, [&, dims = to_dims(shape), type = to_dtype_required(dtype)](auto& generator) {
                return draw(generator, static_cast<Distribution>(distribution), dims, type);
            });
        },
        arg("state"), arg("distribution"), arg("shape"), arg("dtype"));
    m.def(
        "_draw_integers",
        [](nb::handle state, nb::handle shape, nb::handle dtype, uint64_t low, uint64_t range) {
            return drawn(state, [&, dims = to_dims(shape), type = to_dtype_required(dtype)](auto& generator) {
                return draw_integers(generator, dims, type, low, range);
            });
        },
        arg("state"), arg("shape"), arg("dtype"), arg("low"), arg("range"));
    m.def(
        "_draw_permutation",
        [](nb::handle state, int64_t count, nb::handle rows) {
            const auto several =
                rows.is_none() ? std::nullopt : std::optional<int64_t>(nb::cast<int64_t>(rows));
            return drawn(state, [&](auto& generator) { return draw_permutation(generator, count, several); });
        },
        arg("state"), arg("count"), arg("rows") = nb::none());
    m.def(
        "_draw_sample",
        [](nb::handle state, int64_t population, int64_t count, bool shuffled) {
            if (count < 0 || count > population) throw ValueError("a sample has no more than there are");
            return drawn(
                state, [&](auto& generator) { return draw_sample(generator, population, count, shuffled); });
        },
        arg("state"), arg("population"), arg("count"), arg("shuffled"));
    m.def(
        "_draw_integers_between",
        [](nb::handle state, nb::handle shape, nb::handle dtype, nb::handle low, nb::handle range) {
            return drawn(state, [&, dims = to_dims(shape), type = to_dtype_required(dtype),
                                 lows = to_words(low), ranges = to_words(range)](auto& generator) {
                return draw_integers_between(generator, dims, type, lows, ranges);
            });
        },
        arg("state"), arg("shape"), arg("dtype"), arg("low"), arg("range"));
    m.def(
        "_record_numpys_draw",
        [](const std::string& distribution, int64_t bytes) { record_numpys_draw(distribution, bytes); },
        arg("distribution"), arg("bytes"));
}

}  // namespace weft::python
