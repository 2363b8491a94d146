#include "api/linalg/gpu/small_factors_on_gpu.h"

#include "api/linalg/gpu/device_matrices.h"
#include "api/linalg/gpu/small_launch.h"
#include "library/linalg/cuda/factors_arguments.h"

namespace weft::linalg::gpu {

namespace {

using weft::gpu::FactorsArguments;
using weft::gpu::kFactorsThreads;

// From 9 rows on, the libraries' LU factorisation is quicker, which has many threads for a matrix. So it is
// for inverses from 5 rows on, if there are many.
constexpr int64_t kMostRowsOfLu = 8, kMostRowsOfMany = 4, kMany = 16384;
// Right sides follow each other in a thread.
constexpr int64_t kMostSides = 16;

FactorsArguments arguments(const array& a, const ProgramInput& input, bool transposed = false) {
    const SmallSides sides(a);
    FactorsArguments words{};
    words.input = input.address();
    words.count = static_cast<uint64_t>(sides.count);
    words.rows = static_cast<uint64_t>(sides.rows);
    set_small_strides(words.row, words.column, sides.columns, transposed);
    set_small_strides(words.output_row, words.output_column, sides.columns, transposed);
    return words;
}

void launch(const char* kind, const array& a, DType dtype, const FactorsArguments& words) {
    launch_small(kind, a, dtype, SmallSides(a).are_known(), kFactorsThreads, words);
}

}  // namespace

bool takes_small(SmallFactors kind, const array& a, DType dtype, int64_t sides) {
    if (a.size() == 0 || dtype.is_complex()) return false;
    const int64_t n = a.shape().back();
    if (kind == SmallFactors::kCholesky) return n <= kMostSmall;
    if (kind == SmallFactors::kInverse && n > kMostRowsOfMany && a.size() / (n * n) >= kMany) return false;
    return n <= kMostRowsOfLu && sides <= kMostSides;
}

array small_cholesky(const array& a, DType dtype, bool upper) {
    const DeviceScope scope(device_of(a));
    const array source = small_input(a, dtype);
    const ProgramInput input(source);
    // The upper factor is the transposed of the lower one, of the matrix that the upper triangle is of.
    FactorsArguments words = arguments(a, input, upper);
    const SmallSides sides(a);
    DeviceInfo info(device_of(a), batch_of(a), input.buffer()->poison());
    DeviceMatrices factors(device_of(a), dtype, batch_of(a), sides.rows, sides.rows);
    words.output = factors.address();
    words.info = info.address();
    launch("cholesky", a, dtype, words);
    factors.set_poison(info.check("Matrix is not positive definite"));
    return factors.finish();
}

array small_determinant(const array& a, DType dtype) {
    const DeviceScope scope(device_of(a));
    const array source = small_input(a, dtype);
    const ProgramInput input(source);
    FactorsArguments words = arguments(a, input);
    DeviceNumbers values(device_of(a), dtype, batch_of(a), 1);
    words.output = values.address();
    launch("det", a, dtype, words);
    values.set_poison(input.buffer()->poison());
    return reshape(values.finish(), batch_of(a));
}

array small_inverse(const array& a, DType dtype, bool singular_is_nan) {
    const DeviceScope scope(device_of(a));
    const array source = small_input(a, dtype);
    const ProgramInput input(source);
    FactorsArguments words = arguments(a, input);
    const SmallSides sides(a);
    DeviceInfo info(device_of(a), batch_of(a), input.buffer()->poison());
    DeviceMatrices inverses(device_of(a), dtype, batch_of(a), sides.rows, sides.rows);
    words.output = inverses.address();
    words.info = info.address();
    launch("inverse", a, dtype, words);
    inverses.set_poison(singular_is_nan ? input.buffer()->poison() : info.check("Singular matrix"));
    return inverses.finish();
}

array small_solution(const array& a, const array& sides, DType dtype) {
    const DeviceScope scope(device_of(a));
    const array source = small_input(a, dtype), right = small_input(sides, dtype);
    const ProgramInput input(source), given(right);
    FactorsArguments words = arguments(a, input);
    const int64_t columns = sides.shape().back();
    DeviceInfo info(device_of(a), batch_of(a), join(input.buffer()->poison(), given.buffer()->poison()));
    DeviceMatrices solutions(device_of(a), dtype, batch_of(a), SmallSides(a).rows, columns);
    words.sides = given.address();
    words.columns = static_cast<uint64_t>(columns);
    words.output = solutions.address();
    words.info = info.address();
    launch("solve", a, dtype, words);
    solutions.set_poison(info.check("Singular matrix"));
    return solutions.finish();
}

}  // namespace weft::linalg::gpu
