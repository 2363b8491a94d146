// Random streams for Python, and draws from them.
#include "api/random/random.h"

#include <optional>
#include <span>

#include "api/random/vectors.h"
#include "functions/random_streams.h"
#include "objects/objects.h"
#include "random/seed_sequence.h"
#include "random/start.h"
#include "random/thread_stream.h"

namespace weft::python {

namespace {

// ---- streams and their states ----

// The algorithms of the package's classes, behind those of BitAlgorithm.
constexpr int kSfc64 = 3, kMt19937 = 4;

template <class T, size_t kCount>
void read_words(nb::handle list, std::array<T, kCount>& words) {
    size_t k = 0;
    for (nb::handle word : list) {
        if (k == kCount) break;
        words[k++] = nb::cast<T>(word);
    }
    if (k != kCount || nb::len(list) != kCount) throw ValueError("that is no state of a random stream");
}

// (algorithm, words, block, used, has_half, half): what state_to_python gives.
BitStream::State to_state(nb::handle parts) {
    if (nb::len(parts) != 6) throw ValueError("that is no state of a random stream");
    const int algorithm = nb::cast<int>(parts[0]);
    const auto used = nb::cast<int64_t>(parts[3]);
    if (algorithm == kMt19937) {
        Mt19937 twister;
        read_words(parts[1], twister.key);
        if (used < 0 || used > Mt19937::kWords) throw ValueError("that is no state of a random stream");
        twister.pos = static_cast<int32_t>(used);
        return twister;
    }
    const bool has_half = nb::cast<int64_t>(parts[4]) != 0;
    const auto half = nb::cast<uint32_t>(parts[5]);
    if (algorithm == kSfc64) {
        Sfc64 stream;
        read_words(parts[1], stream.words);
        stream.has_half = has_half;
        stream.half = half;
        return stream;
    }
    BitGenerator generator;
    if (algorithm < 0 || algorithm > static_cast<int>(BitAlgorithm::kPhilox) || used < 0 ||
        used > static_cast<int64_t>(generator.block.size()))
        throw ValueError("that is no state of a random stream");
    generator.algorithm = static_cast<BitAlgorithm>(algorithm);
    read_words(parts[1], generator.words);
    read_words(parts[2], generator.block);
    generator.used = static_cast<uint32_t>(used);
    generator.has_half = has_half;
    generator.half = half;
    return generator;
}

template <class Words>
nb::list to_list(const Words& words) {
    nb::list list;
    for (const auto word : words) list.append(word);
    return list;
}

nb::object state_to_python(const BitSource& source) {
    const std::optional<BitStream::State> state = state_of(source);
    if (!state) throw TypeError("the stream is not weft's");
    if (const auto* twister = std::get_if<Mt19937>(&*state))
        return nb::make_tuple(kMt19937, to_list(twister->key), nb::list(), twister->pos, 0, 0);
    if (const auto* stream = std::get_if<Sfc64>(&*state))
        return nb::make_tuple(kSfc64, to_list(stream->words), nb::list(), 0, int{stream->has_half},
                              stream->half);
    const auto& generator = std::get<BitGenerator>(*state);
    return nb::make_tuple(static_cast<int>(generator.algorithm), to_list(generator.words),
                          to_list(generator.block), generator.used, int{generator.has_half}, generator.half);
}

void delete_stream(PyObject* capsule) { delete static_cast<BitStream*>(PyCapsule_GetContext(capsule)); }

StreamHandle* new_stream(nb::handle parts, nb::handle lock) {
    auto stream = std::make_unique<BitStream>(to_state(parts));
    nb::object capsule = steal_or_throw(PyCapsule_New(&stream->source(), "BitGenerator", nullptr));
    if (PyCapsule_SetContext(capsule.ptr(), stream.get()) != 0 ||
        PyCapsule_SetDestructor(capsule.ptr(), delete_stream) != 0)
        throw_python_error();
    (void)stream.release();
    return new StreamHandle(std::move(capsule), lock);
}

Mt19937& twister_behind(StreamHandle& handle) {
    Mt19937* twister = twister_of(*handle.source);
    if (twister == nullptr) throw TypeError("the stream is no Mersenne Twister");
    return *twister;
}

template <class Function>
uintptr_t address_of(Function function) {
    return reinterpret_cast<uintptr_t>(reinterpret_cast<void*>(function));
}

// ---- draws ----

template <class Work>
nb::object drawn(StreamHandle& handle, const Work& work) {
    array result;
    {
        const StreamLock lock(handle);
        const ReleaseGil release(true);
        result = work(*handle.source);
    }
    return wrap(std::move(result));
}

std::vector<uint64_t> to_words(nb::handle list) {
    std::vector<uint64_t> words;
    for (nb::handle word : list) words.push_back(nb::cast<uint64_t>(word));
    return words;
}

std::vector<uint32_t> to_small_words(nb::handle list) {
    std::vector<uint32_t> words;
    for (nb::handle word : list) words.push_back(nb::cast<uint32_t>(word));
    return words;
}

void bind_streams(nb::module_& m) {
    using nb::arg;
    nb::class_<StreamHandle>(m, "_Stream")
        .def_prop_ro("capsule", [](StreamHandle& self) { return self.capsule; })
        .def_prop_rw(
            "parts", [](StreamHandle& self) { return state_to_python(*self.source); },
            [](StreamHandle& self, nb::handle parts) {
                if (!set_state(*self.source, to_state(parts)))
                    throw ValueError("the state is of another kind of stream");
            },
            arg("parts").none())
        .def_prop_rw(
            "spare",
            [](StreamHandle& self) { return nb::make_tuple(int{self.spare->waits}, self.spare->value); },
            [](StreamHandle& self, nb::handle spare) {
                *self.spare = {nb::cast<int64_t>(spare[0]) != 0, nb::cast<double>(spare[1])};
            },
            arg("spare").none())
        .def_prop_ro("addresses",
                     [](StreamHandle& self) {
                         const BitSource& source = *self.source;
                         return nb::make_tuple(reinterpret_cast<uintptr_t>(source.state),
                                               address_of(source.next_uint64), address_of(source.next_uint32),
                                               address_of(source.next_double),
                                               reinterpret_cast<uintptr_t>(&source));
                     })
        .def("jump", [](StreamHandle& self) { twister_behind(self).jump(); })
        .def("seed", [](StreamHandle& self, uint32_t seed) { twister_behind(self).seed(seed); })
        .def("seed_by_array", [](StreamHandle& self, nb::handle seeds) {
            const std::vector<uint32_t> words = to_small_words(seeds);
            if (words.empty()) throw ValueError("Seed must be non-empty");
            twister_behind(self).seed(words);
        });
    m.def(
        "_stream", [](nb::handle parts, nb::handle lock) { return new_stream(parts, lock); },
        nb::rv_policy::take_ownership, arg("parts"), arg("lock"));
    m.def(
        "_started",
        [](int algorithm, nb::handle words) {
            BitStream stream(started(static_cast<random::Algorithm>(algorithm), to_words(words)));
            return state_to_python(stream.source());
        },
        arg("algorithm"), arg("words"));
    m.def(
        "_stream_of",
        [](nb::handle capsule, nb::handle lock) { return new StreamHandle(nb::borrow(capsule), lock); },
        nb::rv_policy::take_ownership, arg("capsule"), arg("lock"));
    // The stream of numpy.random's functions in compiled functions, or of Python's random; it ends with the
    // thread.
    m.def(
        "_stream_of_thread",
        [](nb::handle lock, bool of_python) {
            ThreadStream& stream =
                stream_of_thread(of_python ? ThreadStreamOf::kPython : ThreadStreamOf::kNumpy);
            auto handle = std::make_unique<StreamHandle>(
                steal_or_throw(PyCapsule_New(&stream.source, "BitGenerator", nullptr)), lock);
            handle->spare = &stream.spare;
            return handle.release();
        },
        nb::rv_policy::take_ownership, arg("lock"), arg("of_python") = false);
    m.def(
        "_seed_pool",
        [](nb::handle words, nb::handle path, uint32_t size) {
            return to_list(SeedPool(to_small_words(words), to_small_words(path), size).words());
        },
        arg("words"), arg("path"), arg("size"));
    m.def(
        "_seed_words",
        [](nb::handle pool, int64_t count) {
            return to_list(SeedPool(to_small_words(pool)).generate(static_cast<size_t>(count)));
        },
        arg("pool"), arg("count"));
}

}  // namespace

void bind_random(nb::module_& m) {
    using nb::arg;
    bind_streams(m);
    bind_distributions(m);
    m.def(
        "_draw",
        [](StreamHandle& stream, int distribution, nb::handle shape, nb::handle dtype) {
            return drawn(stream, [&, dims = to_dims(shape), type = to_dtype_required(dtype)](auto& source) {
                return draw(source, static_cast<Distribution>(distribution), dims, type);
            });
        },
        arg("stream"), arg("distribution"), arg("shape"), arg("dtype"));
    m.def(
        "_draw_integers",
        [](StreamHandle& stream, nb::handle shape, nb::handle dtype, uint64_t low, uint64_t range,
           bool masked) {
            return drawn(stream, [&, dims = to_dims(shape), type = to_dtype_required(dtype)](auto& source) {
                return draw_integers(source, dims, type, low, range,
                                     masked ? Within::kByMasks : Within::kByProducts);
            });
        },
        arg("stream"), arg("shape"), arg("dtype"), arg("low"), arg("range"), arg("masked"));
    m.def(
        "_draw_integer",
        [](StreamHandle& stream, int64_t low, uint64_t range, bool masked) {
            int64_t drawn = 0;
            const StreamLock lock(stream);
            Bits bits(*stream.source);
            draw_integers(bits, ScalarType::kInt64, masked ? Within::kByMasks : Within::kByProducts,
                          static_cast<uint64_t>(low), range, 1, reinterpret_cast<char*>(&drawn));
            return drawn;
        },
        arg("stream"), arg("low"), arg("range"), arg("masked"));
    m.def(
        "_draw_permutation",
        [](StreamHandle& stream, int64_t count, nb::handle rows) {
            const auto several =
                rows.is_none() ? std::nullopt : std::optional<int64_t>(nb::cast<int64_t>(rows));
            return drawn(stream, [&](auto& source) { return draw_permutation(source, count, several); });
        },
        arg("stream"), arg("count"), arg("rows") = nb::none());
    m.def(
        "_draw_sample",
        [](StreamHandle& stream, int64_t population, int64_t count, bool shuffled) {
            if (count < 0 || count > population) throw ValueError("a sample has no more than there are");
            return drawn(stream,
                         [&](auto& source) { return draw_sample(source, population, count, shuffled); });
        },
        arg("stream"), arg("population"), arg("count"), arg("shuffled"));
    m.def(
        "_draw_by_odds",
        [](StreamHandle& stream, nb::handle odds, nb::handle shape, bool replace, double tolerance) {
            return drawn(stream, [&, given = to_array(odds), dims = to_dims(shape)](auto& source) {
                return draw_by_odds(source, given, dims, replace, tolerance);
            });
        },
        arg("stream"), arg("odds"), arg("shape"), arg("replace"), arg("tolerance"));
    m.def(
        "_draw_permuted",
        [](StreamHandle& stream, nb::handle x, nb::handle axis) {
            const auto along = axis.is_none() ? std::nullopt : std::optional<int64_t>(to_index(axis));
            return drawn(stream, [&, given = to_array(x)](auto& source) {
                return draw_permuted(source, given, along);
            });
        },
        arg("stream"), arg("x"), arg("axis").none());
    m.def(
        "_shuffle",
        [](StreamHandle& stream, nb::handle x) {
            const array target = array_of(x);
            if (!target.writeable()) throw ValueError("array is read-only");
            const StreamLock lock(stream);
            const ReleaseGil release(is_large(target));
            Rewind rewind(*stream.source);
            assign(target, draw_permuted(*stream.source, target, std::nullopt));
            rewind.keep();
        },
        arg("stream"), arg("x"));
    m.def(
        "_draw_integers_between",
        [](StreamHandle& stream, nb::handle shape, nb::handle dtype, nb::handle low, nb::handle range,
           bool masked) {
            return drawn(stream, [&, dims = to_dims(shape), type = to_dtype_required(dtype),
                                  lows = to_words(low), ranges = to_words(range)](auto& source) {
                return draw_integers_between(source, dims, type, lows, ranges,
                                             masked ? Within::kByMasks : Within::kByProducts);
            });
        },
        arg("stream"), arg("shape"), arg("dtype"), arg("low"), arg("range"), arg("masked"));
    m.def(
        "_draw_multinomial",
        [](StreamHandle& stream, nb::handle n, nb::handle odds, nb::handle size, bool legacy) {
            return drawn(stream,
                         [&, counts = to_array(n), each = to_array(odds),
                          dims = size.is_none() ? std::nullopt : std::optional(to_dims(size))](auto& source) {
                             return draw_multinomial(source, counts, each, dims, legacy);
                         });
        },
        arg("stream"), arg("n"), arg("odds"), arg("size").none(), arg("legacy"));
    m.def(
        "_draw_dirichlet",
        [](StreamHandle& stream, nb::handle alpha, nb::handle size, bool legacy) {
            return drawn(stream, [&, values = to_array(alpha), dims = to_dims(size)](auto&) {
                return draw_dirichlet(stream.draws(), values, dims, legacy);
            });
        },
        arg("stream"), arg("alpha"), arg("size"), arg("legacy"));
    m.def(
        "_normal_vectors",
        [](nb::handle rows, nb::handle mean, nb::handle cov, int factors, double tolerance) {
            NormalVectors result;
            {
                const array normals = to_array(rows), center = to_array(mean), spread = to_array(cov);
                const ReleaseGil release(true);
                result = normal_vectors(normals, center, spread, static_cast<Factors>(factors), tolerance);
            }
            return nb::make_tuple(wrap(std::move(result.vectors)), result.is_covariance);
        },
        arg("rows"), arg("mean"), arg("cov"), arg("factors"), arg("tolerance"));
    m.def(
        "_draw_colors",
        [](StreamHandle& stream, nb::handle colors, int64_t sample, nb::handle size, bool by_count) {
            return drawn(stream, [&, values = to_array(colors), dims = to_dims(size)](auto& source) {
                return draw_colors(source, values, sample, dims, by_count);
            });
        },
        arg("stream"), arg("colors"), arg("sample"), arg("size"), arg("by_count"));
}

}  // namespace weft::python
