#include "library/products/cuda/program_choice.h"

#include <climits>

#include "core/config.h"
#include "device/cuda/cuda_device.h"
#include "library/products/cuda/contraction.h"
#include "library/products/cuda/kernel_arguments.h"

namespace weft {

namespace {

using gpu::MatrixTile;

constexpr int kLeastCapability = 80;  // with units for bfloat16
constexpr int kWarpgroups = 90;       // the one whose units work for warpgroups that way
constexpr int64_t kItemsize = sizeof(float), kAlignment = 16;
constexpr int64_t kLeastExtent = 16, kLeastDepth = 32;
// Below, there is little to do while a block of warpgroups begins and ends.
constexpr int64_t kLeastWarpgroupDepth = 192;
// Where only few blocks share a long depth, cuBLAS cuts the depth too.
constexpr int64_t kLongDepth = 4096;

std::optional<ProgramMatrix> matrix_of(int64_t row_stride, int64_t rows, int64_t column_stride,
                                       int64_t columns) {
    const auto leads = [](int64_t inner, int64_t outer, int64_t outer_extent) {
        return inner == kItemsize && (outer_extent == 1 || (outer > 0 && outer % kAlignment == 0));
    };
    if (leads(column_stride, row_stride, rows)) return ProgramMatrix{false, row_stride / kItemsize};
    if (leads(row_stride, column_stride, columns)) return ProgramMatrix{true, column_stride / kItemsize};
    return std::nullopt;
}

bool is_aligned(const char* data, int64_t batch_stride) {
    return reinterpret_cast<uintptr_t>(data) % kAlignment == 0 && batch_stride % kAlignment == 0;
}

template <class Tile>
int64_t tiles_of(const ProductAxes& axes, const Tile& tile) {
    return (axes.m.extent + tile.rows - 1) / tile.rows * ((axes.n.extent + tile.columns - 1) / tile.columns) *
           axes.batch.extent;
}

constexpr std::string_view kWarpgroupProgram = "product_warpgroup_";
// Neighbours that a matrix has side by side.
int64_t neighbours(const ProgramMatrix& matrix, int64_t rows, int64_t columns) {
    return matrix.transposed ? rows : columns;
}

std::optional<ProgramChoice> choose(const ProductAxes& axes, const ProgramMatrix& left,
                                    const ProgramMatrix& right, int64_t at_once, int capability) {
    const auto by_tiles = [&](std::string_view program, const MatrixTile& tile) {
        return ProgramChoice{program, tiles_of(axes, tile), tile.threads(),
                             tile.shared_bytes(left.transposed, right.transposed)};
    };
    const ProgramChoice small = by_tiles("product_small_", gpu::kSmallTile);
    if (small.tiles <= at_once) {
        const bool is_long = axes.k.extent > kLongDepth && small.tiles < at_once / 2;
        return is_long ? std::nullopt : std::optional(small);
    }
    // Those that keep at least so many of the multiprocessors busy, over all rounds.
    const auto keeps_busy = [&](int64_t tiles) {
        const int64_t rounds = (tiles + at_once - 1) / at_once;
        return tiles >= rounds * at_once / 4 * 3;
    };
    const bool in_fours = neighbours(left, axes.m.extent, axes.k.extent) % 4 == 0 &&
                          neighbours(right, axes.k.extent, axes.n.extent) % 4 == 0;
    if (capability == kWarpgroups && in_fours && axes.k.extent >= kLeastWarpgroupDepth) {
        const int64_t tiles = tiles_of(axes, gpu::kWarpgroupTile);
        return keeps_busy(tiles)
                   ? std::optional(ProgramChoice{kWarpgroupProgram, tiles, gpu::kWarpgroupTile.threads(),
                                                 gpu::kWarpgroupTile.shared_bytes()})
                   : std::nullopt;
    }
    const ProgramChoice large = by_tiles("product_large_", gpu::kLargeTile);
    return large.tiles <= at_once && keeps_busy(large.tiles) ? std::optional(large) : std::nullopt;
}

}  // namespace

std::optional<ProgramPlan> choose_program(const Contraction& contraction, DeviceBackend& device) {
    if (contraction.type != ScalarType::kFloat32 || config().allow_tf32.load(std::memory_order_relaxed))
        return std::nullopt;
    const std::optional<ProductAxes> axes = product_axes(contraction);
    if (!axes) return std::nullopt;
    const auto& [batch, m, n, k] = *axes;
    for (const ProductAxis* axis : {&m, &n, &k}) {
        if (axis->extent > INT_MAX) return std::nullopt;
    }
    if (m.extent < kLeastExtent || n.extent < kLeastExtent || k.extent < kLeastDepth || batch.extent == 0)
        return std::nullopt;
    const auto left = matrix_of(m.left, m.extent, k.left, k.extent);
    const auto right = matrix_of(k.right, k.extent, n.right, n.extent);
    if (!left || !right || n.out != kItemsize || m.out <= 0 || m.out % kItemsize != 0) return std::nullopt;
    if (!is_aligned(contraction.left, batch.left) || !is_aligned(contraction.right, batch.right))
        return std::nullopt;
    const cuda::DeviceFacts& facts = static_cast<cuda::CudaDevice&>(device).context().facts();
    if (facts.capability < kLeastCapability) return std::nullopt;
    const auto choice = choose(*axes, *left, *right, facts.multiprocessors, facts.capability);
    if (!choice) return std::nullopt;
    return ProgramPlan{*axes, *left, *right, *choice};
}

bool is_for_warpgroups(const Contraction& contraction, DeviceBackend& device) {
    const auto plan = choose_program(contraction, device);
    return plan && plan->choice.program == kWarpgroupProgram;
}

}  // namespace weft
