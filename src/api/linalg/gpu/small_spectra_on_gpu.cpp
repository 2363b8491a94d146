#include "api/linalg/gpu/small_spectra_on_gpu.h"

#include <optional>
#include <tuple>
#include <utility>

#include "api/linalg/gpu/device_matrices.h"
#include "api/linalg/gpu/small_launch.h"
#include "library/linalg/cuda/spectra_arguments.h"

namespace weft::linalg::gpu {

namespace {

using weft::gpu::kSpectraThreads;
using weft::gpu::SpectraArguments;

// From how many matrices on, up to which larger side. A thread takes as long for one matrix as all of them
// for some ten thousand, so few are cuSOLVER's (docs/decisions/0024-small-matrices-in-batches.md).
struct Threshold {
    int64_t side, eigh, eigvalsh, svd, svdvals;
};
constexpr int64_t kNever = INT64_MAX;
constexpr Threshold kThresholds[] = {
    {kMostKnown, 1, 1, 1, 1},
    {8, 1024, 1, 256, 64},
    {12, 4096, 2048, 1024, 256},
    {kMostSmall, kNever, 8192, 2048, 512},
};

const char* name_of(SmallSpectrum kind) {
    switch (kind) {
        case SmallSpectrum::kEigh: return "eigh";
        case SmallSpectrum::kEigvalsh: return "eigvalsh";
        case SmallSpectrum::kSvd: return "svd";
        case SmallSpectrum::kSvdvals: return "svdvals";
    }
    return "";
}

// One launch: the arguments but for values and info are there.
std::pair<array, PoisonPtr> launch(SmallSpectrum kind, const array& a, DType dtype, SpectraArguments words,
                                   const ProgramInput& input, DeviceInfo& info) {
    DeviceBackend& device = device_of(a);
    const SmallSides sides(a);
    DeviceNumbers values(device, dtype, batch_of(a), sides.least);
    words.input = input.address();
    words.values = values.address();
    words.info = info.address();
    words.count = static_cast<uint64_t>(sides.count);
    const bool known = sides.are_known() && (kind != SmallSpectrum::kSvd || words.width == words.columns);
    launch_small(name_of(kind), a, dtype, known, kSpectraThreads, words);
    PoisonPtr poison = info.check(kind == SmallSpectrum::kEigh || kind == SmallSpectrum::kEigvalsh
                                      ? "Eigenvalues did not converge"
                                      : "SVD did not converge");
    values.set_poison(poison);
    return {values.finish(), std::move(poison)};
}

}  // namespace

bool takes_small(SmallSpectrum kind, const array& a, DType dtype) {
    if (a.size() == 0 || dtype.is_complex()) return false;
    const SmallSides sides(a);
    for (const Threshold& each : kThresholds) {
        if (sides.most > each.side) continue;
        switch (kind) {
            case SmallSpectrum::kEigh: return sides.count >= each.eigh;
            case SmallSpectrum::kEigvalsh: return sides.count >= each.eigvalsh;
            case SmallSpectrum::kSvd: return sides.count >= each.svd;
            case SmallSpectrum::kSvdvals: return sides.count >= each.svdvals;
        }
    }
    return false;
}

SmallSpectra small_symmetric(const array& a, DType dtype, bool upper, bool with_vectors) {
    const DeviceScope scope(device_of(a));
    const array source = small_input(a, dtype);
    const ProgramInput input(source);
    const SmallSides sides(a);
    SpectraArguments words{};
    words.rows = words.columns = words.width = static_cast<uint64_t>(sides.rows);
    set_small_strides(words.row, words.column, sides.columns, upper);
    DeviceInfo info(device_of(a), batch_of(a), input.buffer()->poison());
    std::optional<DeviceMatrices> vectors;
    if (with_vectors) {
        vectors.emplace(device_of(a), dtype, batch_of(a), sides.rows, sides.rows);
        words.left = vectors->address();
    }
    SmallSpectra found;
    PoisonPtr poison;
    std::tie(found.values, poison) =
        launch(with_vectors ? SmallSpectrum::kEigh : SmallSpectrum::kEigvalsh, a, dtype, words, input, info);
    if (!with_vectors) return found;
    vectors->set_poison(poison);
    found.left = vectors->finish();
    return found;
}

SmallSpectra small_singular(const array& a, DType dtype, bool full_matrices, bool with_vectors) {
    const DeviceScope scope(device_of(a));
    const array source = small_input(a, dtype);
    const ProgramInput input(source);
    const SmallSides sides(a);
    // A wide matrix is the transposed of a high one, whose left vectors are its right ones.
    const bool wide = sides.rows < sides.columns;
    SpectraArguments words{};
    words.rows = static_cast<uint64_t>(sides.most);
    words.columns = static_cast<uint64_t>(sides.least);
    words.width = full_matrices ? words.rows : words.columns;
    set_small_strides(words.row, words.column, sides.columns, wide);
    DeviceInfo info(device_of(a), batch_of(a), input.buffer()->poison());
    SmallSpectra found;
    if (!with_vectors) {
        found.values = launch(SmallSpectrum::kSvdvals, a, dtype, words, input, info).first;
        return found;
    }
    const auto width = static_cast<int64_t>(words.width);
    DeviceMatrices u(device_of(a), dtype, batch_of(a), sides.rows, wide ? sides.least : width),
        vh(device_of(a), dtype, batch_of(a), wide ? width : sides.least, sides.columns);
    words.left = (wide ? vh : u).address();
    words.right = (wide ? u : vh).address();
    set_small_strides(words.left_row, words.left_column, wide ? sides.columns : width, wide);
    set_small_strides(words.right_row, words.right_column, sides.least, wide);
    PoisonPtr poison;
    std::tie(found.values, poison) = launch(SmallSpectrum::kSvd, a, dtype, words, input, info);
    u.set_poison(poison);
    vh.set_poison(poison);
    found.left = u.finish();
    found.right = vh.finish();
    return found;
}

}  // namespace weft::linalg::gpu
