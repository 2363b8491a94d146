#include "execution/product_on_gpu.h"

#include <climits>
#include <optional>
#include <string>
#include <string_view>

#include "core/config.h"
#include "device/cuda/cuda_device.h"
#include "execution/kernels/gpu_programs.h"
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

// A matrix whose neighbours lie along its second axis, or, transposed, along its first.
struct Matrix {
    bool transposed = false;
    int64_t leading = 1;  // elements
};

std::optional<Matrix> matrix_of(int64_t row_stride, int64_t rows, int64_t column_stride, int64_t columns) {
    const auto leads = [](int64_t inner, int64_t outer, int64_t outer_extent) {
        return inner == kItemsize && (outer_extent == 1 || (outer > 0 && outer % kAlignment == 0));
    };
    if (leads(column_stride, row_stride, rows)) return Matrix{false, row_stride / kItemsize};
    if (leads(row_stride, column_stride, columns)) return Matrix{true, column_stride / kItemsize};
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

// Which program multiplies, by tiles of that size.
constexpr std::string_view kWarpgroupProgram = "product_warpgroup_";
struct Choice {
    std::string_view program;
    int64_t tiles;
    uint32_t threads, shared_bytes;
};

// Neighbours that a matrix has side by side.
int64_t neighbours(const Matrix& matrix, int64_t rows, int64_t columns) {
    return matrix.transposed ? rows : columns;
}

std::optional<Choice> choose(const ProductAxes& axes, const Matrix& left, const Matrix& right,
                             int64_t at_once, int capability) {
    const auto by_tiles = [&](std::string_view program, const MatrixTile& tile) {
        return Choice{program, tiles_of(axes, tile), tile.threads(),
                      tile.shared_bytes(left.transposed, right.transposed)};
    };
    const Choice small = by_tiles("product_small_", gpu::kSmallTile);
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
                   ? std::optional(Choice{kWarpgroupProgram, tiles, gpu::kWarpgroupTile.threads(),
                                          gpu::kWarpgroupTile.shared_bytes()})
                   : std::nullopt;
    }
    const Choice large = by_tiles("product_large_", gpu::kLargeTile);
    return large.tiles <= at_once && keeps_busy(large.tiles) ? std::optional(large) : std::nullopt;
}

struct Plan {
    ProductAxes axes;
    Matrix left, right;
    Choice choice;
};

std::optional<Plan> plan_of(const Contraction& contraction, DeviceBackend& device) {
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
    const int capability = static_cast<cuda::CudaDevice&>(device).context().facts().capability;
    if (capability < kLeastCapability) return std::nullopt;
    const auto choice = choose(*axes, *left, *right, multiprocessors(device), capability);
    if (!choice) return std::nullopt;
    return Plan{*axes, *left, *right, *choice};
}

}  // namespace

bool is_for_warpgroups(const Contraction& contraction, DeviceBackend& device) {
    const auto plan = plan_of(contraction, device);
    return plan && plan->choice.program == kWarpgroupProgram;
}

bool multiply_in_parts(const Contraction& contraction, DeviceBackend& device, ContractionReport& report) {
    const auto plan = plan_of(contraction, device);
    if (!plan) return false;
    const auto& [batch, m, n, k] = plan->axes;
    const auto elements = [](int64_t bytes) { return static_cast<uint64_t>(bytes / kItemsize); };
    const auto extent = [](const ProductAxis& axis) { return static_cast<uint64_t>(axis.extent); };
    const auto address = [](const char* data) { return reinterpret_cast<uint64_t>(data); };
    const gpu::ProductWords words{address(contraction.left),
                                  address(contraction.right),
                                  address(contraction.out),
                                  extent(m),
                                  extent(n),
                                  extent(k),
                                  static_cast<uint64_t>(plan->left.leading),
                                  static_cast<uint64_t>(plan->right.leading),
                                  elements(m.out),
                                  elements(batch.left),
                                  elements(batch.right),
                                  elements(batch.out)};
    std::string program(plan->choice.program);
    program += plan->left.transposed ? 't' : 'n';
    program += plan->right.transposed ? 't' : 'n';
    launch_program(device, program, "weft_" + program, words,
                   {blocks_of(plan->choice.tiles), plan->choice.threads, 1, plan->choice.shared_bytes});
    report.batch = batch.extent;
    report.m = m.extent;
    report.n = n.extent;
    report.k = k.extent;
    report.routine = "product_in_parts";
    return true;
}

}  // namespace weft
