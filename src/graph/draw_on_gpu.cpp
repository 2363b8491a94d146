#include "graph/draw_on_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/draw.h"
#include "core/shape.h"
#include "core/stream_steps.h"
#include "core/thread_pool.h"
#include "core/ziggurat.h"
#include "graph/gpu_programs.h"
#include "graph/placement.h"
#include "graph/record.h"
#include "library/cuda/draw_words.h"

namespace weft {

namespace {

using namespace gpu;

constexpr int64_t kLeastNumbers = 1 << 16;  // fewer are drawn on the CPU in less time than a GPU is asked
constexpr int64_t kMostTiles = 1 << 23;     // as far as the program's jumps go

// What a method takes and gives: units for each number, and the share of units that begin a tail.
struct Rates {
    const char* name;
    double units, tails;
};
constexpr Rates kNormalRates{"normal", 1.0222, 0.000257};
constexpr Rates kExponentialRates{"exponential", 1.0338, 0.00045};

// At least as many as there will be, of so many with that mean.
int64_t at_most(double mean) { return static_cast<int64_t>(mean + 8 * std::sqrt(mean)) + 64; }

const char* stream_name(BitAlgorithm algorithm) {
    switch (algorithm) {
        case BitAlgorithm::kPcg64: return "pcg64";
        case BitAlgorithm::kPcg64Dxsm: return "pcg64dxsm";
        case BitAlgorithm::kPhilox: break;
    }
    return "philox";
}

template <class Step>
void set_pcg(DrawWords& words, const std::vector<uint64_t>& origin) {
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

void set_stream(DrawWords& words, BitAlgorithm algorithm, const std::vector<uint64_t>& origin) {
    switch (algorithm) {
        case BitAlgorithm::kPcg64: set_pcg<Pcg64>(words, origin); return;
        case BitAlgorithm::kPcg64Dxsm: set_pcg<Pcg64Dxsm>(words, origin); return;
        case BitAlgorithm::kPhilox: std::copy(origin.begin(), origin.end(), words.stream);
    }
}

// What a program draws by `Method`, of core/ziggurat.h.
template <class Method>
class GpuDraw {
public:
    using Unit = typename Method::Unit;
    using Value = typename Method::Value;

    GpuDraw(const BitGenerator& generator, const Rates& rates, int64_t count)
        : device_(current_device()), algorithm_(generator.algorithm), rates_(rates), count_(count) {}

    // Into `output`, behind those that are there; false if the CPU has to.
    bool run(const Buffer& output, int64_t behind, const BitGenerator::Origin& origin, uint64_t skipped) {
        const int64_t units = static_cast<int64_t>(skipped) + count_ +
                              at_most((rates_.units - 1) * static_cast<double>(count_));
        const int64_t tiles = (units + kDrawTile - 1) / kDrawTile;
        if (tiles > kMostTiles) return false;
        // What tiles publish, the header, and the tails.
        const size_t begin_bytes = static_cast<size_t>(tiles) * sizeof(uint64_t);
        const size_t table_bytes = static_cast<size_t>(tiles) * kOvershoots * sizeof(uint32_t);
        const size_t header_offset = begin_bytes + table_bytes;
        const size_t tail_offset = header_offset + sizeof(DrawHeader);
        const auto most_tails = static_cast<size_t>(at_most(rates_.tails * static_cast<double>(units)));
        const BufferPtr scratch = device_.allocate(tail_offset + most_tails * sizeof(DrawTail));
        clear_on_gpu(*scratch, 0, tail_offset);
        DrawWords words{};
        words.output = output.address() + static_cast<uint64_t>(behind) * sizeof(Value);
        words.count = static_cast<uint64_t>(count_);
        words.begins = scratch->address();
        words.tables = words.begins + begin_bytes;
        words.header = words.begins + header_offset;
        words.tails = words.begins + tail_offset;
        words.most_tails = most_tails;
        words.skipped = skipped;
        set_stream(words, algorithm_, origin.words);
        ProgramRecord record(device_, std::string("draw_") + rates_.name, 0,
                             count_ * static_cast<int64_t>(sizeof(Value)), count_);
        launch(rates_.name, words, {blocks_of(tiles), kDrawThreads, 1, kDrawMemoryBytes});
        std::vector<char> found(sizeof(DrawHeader) + most_tails * sizeof(DrawTail));
        device_.copy_out(found.data(), *scratch, header_offset, found.size());
        DrawHeader header;
        std::memcpy(&header, found.data(), sizeof header);
        end_ = header.end;
        const bool all = header.failed == 0 && header.end != 0 && header.tails <= most_tails;
        if (all && header.tails != 0) {
            tails_.resize(header.tails);
            std::memcpy(tails_.data(), found.data() + sizeof header, header.tails * sizeof(DrawTail));
            place_tails(words);
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
        launch_program(device_, "draw_" + stream,
                       "weft_draw_" + entry + (sizeof(Value) == 8 ? "_64_" : "_32_") + stream, words, shape);
    }

    void place_tails(const DrawWords& drawn) {
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
        const DrawPlaceWords words{drawn.output, drawn.tails, moved->address(), values.size()};
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
    const Rates& rates_;
    const int64_t count_;
    std::vector<DrawTail> tails_;
    uint64_t end_ = 0;
};

void draw_on_cpu(BitGenerator& generator, Normal32::Value& number, const Rates& rates) {
    const std::span one(&number, 1);
    &rates == &kNormalRates ? draw_normal(generator, one, Stores::kCached)
                            : draw_exponential(generator, one, Stores::kCached);
}

template <class Method>
std::optional<array> drawn(BitGenerator& generator, const Rates& rates, const Dims& shape, DType dtype) {
    constexpr bool kHalves = sizeof(typename Method::Unit) == sizeof(uint32_t);
    const int64_t count = element_count(shape);
    BufferPtr numbers = current_device().allocate(static_cast<size_t>(checked_bytes(shape, dtype)));
    BitGenerator start = generator;
    int64_t behind = 0;
    bool begins_later = false;
    if constexpr (kHalves) {
        if (start.has_half && !start.before_half()) {  // of a word that is not the one before
            typename Method::Value number{};
            draw_on_cpu(start, number, rates);
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
    GpuDraw<Method> draw(generator, rates, count - behind);
    if (!draw.run(*numbers, behind, *origin, first + (begins_later ? 1 : 0))) return std::nullopt;
    if (kHalves) {
        start.advance_halves(draw.end() - first);
    } else {
        start.advance(draw.end() - first);
    }
    generator = start;
    return array_of(std::move(numbers), dtype, shape, c_strides(shape, dtype.itemsize()));
}

}  // namespace

std::optional<array> draw_on_gpu(BitGenerator& generator, Distribution distribution, const Dims& shape,
                                 DType dtype) {
    if (current_device().is_cpu() || element_count(shape) < kLeastNumbers) return std::nullopt;
    const bool is_float = dtype.scalar_type() == ScalarType::kFloat32;
    if (distribution == Distribution::kNormal) {
        return is_float ? drawn<Normal32>(generator, kNormalRates, shape, dtype)
                        : drawn<Normal>(generator, kNormalRates, shape, dtype);
    }
    if (distribution == Distribution::kExponential) {
        return is_float ? drawn<Exponential32>(generator, kExponentialRates, shape, dtype)
                        : drawn<Exponential>(generator, kExponentialRates, shape, dtype);
    }
    return std::nullopt;
}

}  // namespace weft
