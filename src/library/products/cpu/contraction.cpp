#include "library/products/contraction.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "core/threads/thread_pool.h"
#include "device/device.h"
#include "library/products/cpu/blas.h"
#include "library/products/cpu/half_products.h"
#include "library/products/cpu/one_product.h"
#include "library/products/cpu/panel_product.h"
#include "library/products/cpu/product_axes.h"
#include "library/products/cpu/product_tasks.h"
#include "library/products/cpu/tile_product.h"
#include "weft/errors.h"

namespace weft {

using namespace cpu_product;

namespace {

constexpr int64_t kTinySteps = 16, kTinyProducts = 512;  // beyond, OpenBLAS is faster than plain loops
constexpr int64_t kTinyMatrices = 4096;                  // products of matrices, where loops have vectors

void fill_zero(char* out, const Axes& axes, int64_t itemsize) {
    const int64_t count = extent_of(axes);
    for (int64_t index = 0; index < count; ++index)
        std::memset(out + batch_offsets(axes, index).out, 0, static_cast<size_t>(itemsize));
}

}  // namespace

bool is_tiny(ScalarType type, const MatrixProduct& product) {
    const bool has_vectors = type == ScalarType::kFloat64 || type == ScalarType::kFloat32;
    const int64_t most = has_vectors && product.m > 1 && product.n > 1 ? kTinyMatrices : kTinyProducts;
    return !DType(type).is_half_float() && product.m > 0 && product.n > 0 && product.k > 0 &&
           product.k <= kTinySteps && product.m <= most && product.n <= most &&
           product.m * product.n * product.k <= most;
}

void multiply_tiny(ScalarType type, const MatrixProduct& product) { multiply_plainly(type, product); }

bool multiply_vectors(ScalarType type, const MatrixProduct& product) {
    if (product.m != 1 || product.n != 1 || product.k <= 0) return false;
    if (is_tiny(type, product)) {
        multiply_tiny(type, product);
        return true;
    }
    const DType dtype(type);
    if (!dtype.is_inexact() || dtype.is_half_float()) return false;
    const Blas* library = blas();
    if (library == nullptr || !is_vector(product.k, product.left_step, dtype.itemsize()) ||
        !is_vector(product.k, product.right_step, dtype.itemsize()))
        return false;
    const Tiling tiling = choose_tiling(Routine::kDot, 1, 1, 1, product.k);
    if (tiling.parts != 1 || task_count(tiling, 1) != 1) return false;
    const BlasThreads inside(*library, 1);
    call_dot(*library, type, dtype.itemsize(), product);
    return true;
}

ContractionReport contract(const Contraction& contraction) {
    ContractionReport report;
    const DType dtype(contraction.type);
    if (dtype.is_half_float()) return contract_in_float32(contraction);
    Problem problem{contraction.type,
                    dtype.itemsize(),
                    {contraction.left, contraction.right},
                    contraction.out,
                    {},
                    {},
                    {},
                    {}};
    bool nothing_added = false;
    for (size_t d = 0; d < contraction.shape.size(); ++d) {
        const Axis axis{
            contraction.shape[d],
            {contraction.left_strides[d], contraction.right_strides[d], contraction.out_strides[d]}};
        if (axis.extent == 0 && !contraction.reduced[d]) return report;
        nothing_added |= axis.extent == 0;
        if (axis.extent == 1) continue;
        const bool left = axis.stride[kLeft] != 0, right = axis.stride[kRight] != 0;
        Axes& axes = contraction.reduced[d] ? problem.k
                     : left == right        ? problem.batch
                     : left                 ? problem.m
                                            : problem.n;
        axes.push_back(axis);
    }
    if (nothing_added) {
        Axes all = problem.batch;
        all.insert(all.end(), problem.m.begin(), problem.m.end());
        all.insert(all.end(), problem.n.begin(), problem.n.end());
        fill_zero(problem.out, all, problem.itemsize);
        report.routine = "zeros";
        return report;
    }
    sort_by(problem.m, kOut);
    sort_by(problem.n, kOut);
    Packer packer(problem, report);
    if (problem.k.size() > 1) join_reduced(problem, packer);
    for (const Walker walker : {kLeft, kRight}) {
        if (problem.own(walker).size() > 1) join_own(problem, walker, packer);
    }
    sort_by(problem.batch, kOut);
    join_axes(problem.batch);

    // The result's columns are dense; a vector is the right operand.
    {
        const MatrixProduct product = matrix_product(problem);
        const bool transposed = product.n > 1 && product.out_column != problem.itemsize &&
                                (product.out_row == problem.itemsize || product.m == 1);
        if (transposed || (product.m == 1 && product.n > 1)) {
            swap_operands(problem);
            packer.swap_operands();
        }
    }
    MatrixProduct product = matrix_product(problem);
    const bool tiny = is_tiny(problem.type, product);
    const PanelKernels* panels =
        !tiny && product.m > 1 && product.n > 1 ? panel_kernels(problem.type) : nullptr;
    if (panels != nullptr) {
        const int64_t batch = extent_of(problem.batch);
        WEFT_CHECK(contraction.tile_work == nullptr || (batch == 1 && product.out_column == problem.itemsize),
                   "work on the tiles of a product that has none");
        report.tasks =
            multiply_by_panels(*panels, problem.type, product, problem.batch, contraction.tile_work);
        report.routine = routine_name(problem.type, Routine::kTile);
        report.batch = batch;
        report.m = product.m;
        report.n = product.n;
        report.k = product.k;
        return report;
    }
    const Blas* library = !tiny && dtype.is_inexact() ? blas() : nullptr;
    Routine routine = Routine::kPlain;
    if (!tiny && library != nullptr) {
        routine = product.n > 1 ? Routine::kGemm : product.m > 1 ? Routine::kGemv : Routine::kDot;
    } else if (!tiny && tile_function(problem.type) != nullptr) {
        routine = Routine::kTile;
    }
    const int64_t itemsize = problem.itemsize;
    BufferPtr scattered;  // a result that the library cannot write where it belongs
    Axes scattered_batch;
    if (library != nullptr) {
        const bool left_fits =
            routine == Routine::kDot
                ? is_vector(product.k, product.left_step, itemsize)
                : as_matrix(product.m, product.k, product.left_row, product.left_step, itemsize).fits;
        const bool right_fits =
            routine == Routine::kGemm
                ? as_matrix(product.k, product.n, product.right_step, product.right_column, itemsize).fits
                : is_vector(product.k, product.right_step, itemsize);
        if (!left_fits) packer.pack(kLeft);
        if (!right_fits) packer.pack(kRight);
        product = matrix_product(problem);
        const bool out_fits =
            routine == Routine::kGemm
                ? product.out_column == itemsize &&
                      as_matrix(product.m, product.n, product.out_row, itemsize, itemsize).fits &&
                      (product.m == 1 || product.out_row >= product.n * itemsize)
                : is_vector(product.m, product.out_row, itemsize);
        if (!out_fits) {
            const int64_t matrix_bytes = product.m * product.n * itemsize;
            scattered = cpu_device().allocate(static_cast<size_t>(extent_of(problem.batch) * matrix_bytes));
            scattered_batch = problem.batch;
            int64_t dense = matrix_bytes;
            for (size_t d = problem.batch.size(); d-- > 0;) {
                problem.batch[d].stride[kOut] = dense;
                dense *= problem.batch[d].extent;
            }
            product.out = scattered->data();
            product.out_row = product.n * itemsize;
            product.out_column = itemsize;
        }
    }
    const int64_t batch = extent_of(problem.batch);
    const Tiling tiling = choose_tiling(routine, batch, product.m, product.n, product.k);
    WEFT_CHECK(contraction.tile_work == nullptr || (tiling.parts == 1 && batch == 1 && scattered == nullptr &&
                                                    product.out_column == itemsize),
               "work on the tiles of a product that has none");
    {
        std::optional<BlasThreads> inside;
        if (library != nullptr)
            inside.emplace(*library, std::min<int64_t>(task_count(tiling, batch), num_threads()));
        Runner{problem.type, itemsize, routine, library}.run(product, problem.batch, tiling,
                                                             contraction.tile_work);
    }
    if (scattered != nullptr) {
        const MatrixProduct target = matrix_product(problem);
        for (int64_t index = 0; index < batch; ++index) {
            const char* from = scattered->data() + index * product.m * product.n * itemsize;
            char* to = problem.out + batch_offsets(scattered_batch, index).out;
            for (int64_t i = 0; i < product.m; ++i) {
                for (int64_t j = 0; j < product.n; ++j, from += itemsize)
                    std::memcpy(to + i * target.out_row + j * target.out_column, from,
                                static_cast<size_t>(itemsize));
            }
        }
    }
    report.routine = routine_name(problem.type, routine);
    report.batch = batch;
    report.m = product.m;
    report.n = product.n;
    report.k = product.k;
    report.tasks = task_count(tiling, batch);
    return report;
}

}  // namespace weft
