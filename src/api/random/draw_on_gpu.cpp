#include "api/random/draw_on_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/shape.h"
#include "core/threads/thread_pool.h"
#include "device/devices.h"
#include "execution/kernels/gpu_programs.h"
#include "graph/operand.h"
#include "library/random/cuda/kernel_arguments.h"
#include "random/draw.h"
#include "random/stream_steps.h"
#include "random/ziggurat.h"

namespace weft {

namespace {

using namespace gpu;

constexpr int64_t kLeastNumbers = 1 << 16;  // fewer are drawn on the CPU in less time than a GPU is asked
constexpr int64_t kMostTiles = 1 << 23;     // as far as the program's jumps go

// What is drawn, by a program's entry: units for each number, the share of units that begin a tail, and of
// integers the interval.
struct Drawing {
    std::string program, entry, name;
    double units, tails;
    uint64_t low = 0, integers = 0, least = 0;
};

// At least as many as there will be, of so many with that mean.
int64_t at_most(double mean) { return static_cast<int64_t>(mean + 12 * std::sqrt(mean)) + 64; }

const char* stream_name(BitAlgorithm algorithm) {
    switch (algorithm) {
        case BitAlgorithm::kPcg64: return "pcg64";
        case BitAlgorithm::kPcg64Dxsm: return "pcg64dxsm";
        case BitAlgorithm::kPhilox: break;
    }
    return "philox";
}

template <class Step>
void set_pcg(DrawArguments& words, const std::vector<uint64_t>& origin) {
    const Wide increment = wide(origin[3], origin[2]);
    Wide state = wide(origin[1], origin[0]);
    if (Step::kShowsAfterStep) state = state * Step::kMultiplier + increment;
    const Wide together[4] = {state, state * (Step::kMultiplier - 1) + increment, increment,
                              increment * pcg_steps<Step>(32).sum};
    for (size_t k = 0; k < 4; ++k) {
        words.stream[2 * k] = low_of(together[k]);
        words.stream[2 * k + 1] = high_of(together[k]);
    }
}

void set_stream(DrawArguments& words, BitAlgorithm algorithm, const std::vector<uint64_t>& origin) {
    switch (algorithm) {
        case BitAlgorithm::kPcg64: set_pcg<Pcg64>(words, origin); return;
        case BitAlgorithm::kPcg64Dxsm: set_pcg<Pcg64Dxsm>(words, origin); return;
        case BitAlgorithm::kPhilox: std::copy(origin.begin(), origin.end(), words.stream);
    }
}

// `Method` is one of random/ziggurat.h, or BoundedUnits.
template <class Method>
class GpuDraw {
public:
    using Unit = typename Method::Unit;
    using Value = typename Method::Value;

    GpuDraw(const BitGenerator& generator, const Drawing& drawing, int64_t count)
        : device_(current_device()), algorithm_(generator.algorithm), drawing_(drawing), count_(count) {}

    // Into `output`, behind those that are there; false if the CPU has to.
    bool run(const Buffer& output, int64_t behind, const BitGenerator::Origin& origin, uint64_t skipped) {
        const int64_t units = static_cast<int64_t>(skipped) + count_ +
                              at_most((drawing_.units - 1) * static_cast<double>(count_));
        const int64_t tiles = (units + kDrawTile - 1) / kDrawTile;
        if (tiles > kMostTiles) return false;
        // What tiles publish, the header, and the tails.
        const size_t begin_bytes = static_cast<size_t>(tiles) * sizeof(uint64_t);
        const size_t table_bytes = static_cast<size_t>(tiles) * kOvershoots * sizeof(uint32_t);
        const size_t header_offset = begin_bytes + table_bytes;
        const size_t tail_offset = header_offset + sizeof(DrawHeader);
        const auto most_tails = static_cast<size_t>(at_most(drawing_.tails * static_cast<double>(units)));
        const BufferPtr scratch = device_.allocate(tail_offset + most_tails * sizeof(DrawTail));
        clear_on_gpu(*scratch, 0, tail_offset);
        DrawArguments words{};
        words.output = output.address() + static_cast<uint64_t>(behind) * sizeof(Value);
        words.count = static_cast<uint64_t>(count_);
        words.begins = scratch->address();
        words.tables = words.begins + begin_bytes;
        words.header = words.begins + header_offset;
        words.tails = words.begins + tail_offset;
        words.most_tails = most_tails;
        words.skipped = skipped;
        words.low = drawing_.low;
        words.integers = drawing_.integers;
        words.least = drawing_.least;
        set_stream(words, algorithm_, origin.words);
        ProgramRecord record(device_, drawing_.name, 0, count_ * static_cast<int64_t>(sizeof(Value)), count_);
        launch(drawing_.entry, words, {blocks_of(tiles), kDrawThreads, 1, kDrawMemoryBytes});
        std::vector<char> found(sizeof(DrawHeader) + most_tails * sizeof(DrawTail));
        device_.copy_out(found.data(), *scratch, header_offset, found.size());
        DrawHeader header;
        std::memcpy(&header, found.data(), sizeof header);
        end_ = header.end;
        const bool all = header.failed == 0 && header.end != 0 && header.tails <= most_tails;
        if (all && header.tails != 0) {
            tails_.resize(header.tails);
            std::memcpy(tails_.data(), found.data() + sizeof header, header.tails * sizeof(DrawTail));
            if constexpr (Method::kHasWedges) place_tails(words);
        }
        record.finish();
        return all;
    }

    // Units up to the end of the last number, those that were skipped included.
    uint64_t end() const { return end_; }

private:
    template <class Words>
    void launch(const std::string& entry, const Words& words, const CudaLaunchShape& shape) {
        const std::string stream = stream_name(algorithm_);
        const std::string bits =
            "_" + std::to_string(8 * sizeof(Unit)) + "_" + std::to_string(8 * sizeof(Value)) + "_";
        launch_program(device_, drawing_.program + stream, "weft_draw_" + entry + bits + stream, words,
                       shape);
    }

    void place_tails(const DrawArguments& drawn) {
        constexpr size_t kTogether = 1024;
        std::vector<Value> values(tails_.size());
        parallel_for(static_cast<int64_t>((values.size() + kTogether - 1) / kTogether), [&](int64_t part) {
            const size_t first = static_cast<size_t>(part) * kTogether;
            for (size_t k = first; k < std::min(first + kTogether, values.size()); ++k)
                values[k] = value_of(static_cast<Unit>(tails_[k].unit));
        });
        const size_t bytes = values.size() * sizeof(Value);
        const BufferPtr moved = device_.allocate(bytes);
        device_.copy_in(*moved, 0, reinterpret_cast<const char*>(values.data()), bytes);
        const DrawPlaceArguments words{drawn.output, drawn.tails, moved->address(), values.size()};
        launch("place", words,
               {blocks_of(static_cast<int64_t>(values.size()), kDrawThreads), kDrawThreads, 1, 0});
    }

    static Value value_of(Unit unit) {
        if constexpr (sizeof(Unit) == sizeof(uint64_t)) {
            return Method::in_tail((unit & 1) != 0, to_double(unit));
        } else {
            return Method::in_tail((unit & 1) != 0, to_float(unit));
        }
    }

    DeviceBackend& device_;
    const BitAlgorithm algorithm_;
    const Drawing& drawing_;
    const int64_t count_;
    std::vector<DrawTail> tails_;
    uint64_t end_ = 0;
};

// Integers by units of so many bits.
template <class Draw, class Result>
struct BoundedUnits {
    using Unit = Draw;
    using Value = Result;
    static constexpr bool kHasWedges = false;
};

// `draw_one` draws the next number on the CPU.
template <class Method, class DrawOne>
std::optional<array> drawn(BitGenerator& generator, const Drawing& drawing, const Dims& shape, DType dtype,
                           const DrawOne& draw_one) {
    constexpr bool kHalves = sizeof(typename Method::Unit) == sizeof(uint32_t);
    const int64_t count = element_count(shape);
    BufferPtr numbers = current_device().allocate(static_cast<size_t>(checked_bytes(shape, dtype)));
    BitGenerator start = generator;
    int64_t behind = 0;
    bool begins_later = false;
    if constexpr (kHalves) {
        if (start.has_half && !start.before_half()) {  // of a word that is not the one before
            typename Method::Value number{};
            draw_one(start, number);
            numbers->device().copy_in(*numbers, 0, reinterpret_cast<const char*>(&number), sizeof number);
            behind = 1;
        }
        // A half that waits is the second unit of the word before.
        if (const std::optional<BitGenerator> before = start.before_half()) {
            start = *before;
            begins_later = true;
        }
    }
    const std::optional<BitGenerator::Origin> origin = start.origin();
    if (!origin) return std::nullopt;
    const auto first = static_cast<uint64_t>(origin->first) * (kHalves ? 2 : 1);
    GpuDraw<Method> draw(generator, drawing, count - behind);
    if (!draw.run(*numbers, behind, *origin, first + (begins_later ? 1 : 0))) return std::nullopt;
    if (kHalves) {
        start.advance_halves(draw.end() - first);
    } else {
        start.advance(draw.end() - first);
    }
    generator = start;
    return array_of(std::move(numbers), dtype, shape, c_strides(shape, dtype.itemsize()));
}

bool is_for_gpu(const Dims& shape) {
    return !current_device().is_cpu() && element_count(shape) >= kLeastNumbers;
}

template <class Method>
std::optional<array> drawn_integers(BitGenerator& generator, const Dims& shape, DType dtype, uint64_t low,
                                    uint64_t range) {
    using Unit = typename Method::Unit;
    Drawing drawing{"draw_integers_", "integers", "draw_integers", 1, 0};
    drawing.low = low;
    drawing.integers = range + 1;
    // As many units are refused as there would be too many.
    drawing.least = static_cast<Unit>(-static_cast<Unit>(range + 1)) % static_cast<Unit>(range + 1);
    const double all = std::ldexp(1.0, 8 * sizeof(Unit));
    drawing.units = all / (all - static_cast<double>(drawing.least));
    const auto draw_one = [&](BitGenerator& from, typename Method::Value& number) {
        draw_integers(from, dtype.scalar_type(), low, range, 1, reinterpret_cast<char*>(&number),
                      Stores::kCached);
    };
    return drawn<Method>(generator, drawing, shape, dtype, draw_one);
}

}  // namespace

std::optional<array> draw_on_gpu(BitGenerator& generator, Distribution distribution, const Dims& shape,
                                 DType dtype) {
    if (!is_for_gpu(shape)) return std::nullopt;
    // How many units and tails there are follows from the ziggurats' tables.
    const Drawing normal{"draw_", "normal", "draw_normal", 1.0222, 0.000257};
    const Drawing exponential{"draw_", "exponential", "draw_exponential", 1.0338, 0.00045};
    const bool is_float = dtype.scalar_type() == ScalarType::kFloat32;
    const auto draw_normals = [](BitGenerator& from, auto& number) {
        draw_normal(from, std::span(&number, 1), Stores::kCached);
    };
    const auto draw_exponentials = [](BitGenerator& from, auto& number) {
        draw_exponential(from, std::span(&number, 1), Stores::kCached);
    };
    switch (distribution) {
        case Distribution::kNormal:
            return is_float ? drawn<Normal32>(generator, normal, shape, dtype, draw_normals)
                            : drawn<Normal>(generator, normal, shape, dtype, draw_normals);
        case Distribution::kExponential:
            return is_float ? drawn<Exponential32>(generator, exponential, shape, dtype, draw_exponentials)
                            : drawn<Exponential>(generator, exponential, shape, dtype, draw_exponentials);
        case Distribution::kWords:
        case Distribution::kUniform:
        case Distribution::kExponentialByLog: break;
    }
    return std::nullopt;
}

std::optional<array> draw_integers_on_gpu(BitGenerator& generator, const Dims& shape, DType dtype,
                                          uint64_t low, uint64_t range) {
    // Not those of which none is refused, nor several of a unit.
    if (!is_for_gpu(shape) || range == 0 || range == UINT32_MAX || range == UINT64_MAX) return std::nullopt;
    if (dtype.itemsize() == sizeof(uint32_t))
        return drawn_integers<BoundedUnits<uint32_t, uint32_t>>(generator, shape, dtype, low, range);
    if (dtype.itemsize() != sizeof(uint64_t)) return std::nullopt;
    return range < UINT32_MAX
               ? drawn_integers<BoundedUnits<uint32_t, uint64_t>>(generator, shape, dtype, low, range)
               : drawn_integers<BoundedUnits<uint64_t, uint64_t>>(generator, shape, dtype, low, range);
}

}  // namespace weft
