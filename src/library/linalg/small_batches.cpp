#include "library/linalg/small_batches.h"

#include <list>
#include <span>

#include "library/linalg/batched/batched.h"

namespace weft::lapack::small {

namespace {

using batched::Batch;
using batched::Operation;
using batched::Stack;

// From how many matrices on, up to which larger side: estimated from the kernels' times on one core
// (docs/decisions/0024-small-matrices-in-batches.md). A kernel takes as long for one matrix as for a vector's
// lanes, so fewer go to LAPACK.
struct Threshold {
    int64_t side, count;
};
constexpr Threshold kFactorizations[] = {{32, 4}};
constexpr Threshold kSingularValues[] = {{8, 4}, {16, 8}, {32, 32}};

bool pays(Operation operation, const Matrices& a, int64_t count) {
    const std::span<const Threshold> table = operation == Operation::kSvd
                                                 ? std::span<const Threshold>(kSingularValues)
                                                 : std::span<const Threshold>(kFactorizations);
    const int64_t side = std::max(a.rows, a.columns);
    for (const Threshold& threshold : table) {
        if (side <= threshold.side) return count >= threshold.count;
    }
    return false;
}

// The axes of the batch as one, where a stride leads through them all.
std::optional<Stack> stack_of(const Matrices& matrices) {
    Stack stack{matrices.data, 0, matrices.row_stride, matrices.column_stride};
    int64_t inner = 0;  // matrices of the axes so far; none: no axis yet
    for (size_t d = matrices.shape.size(); d-- > 0;) {
        if (matrices.shape[d] == 1) continue;
        if (inner == 0) {
            stack.matrix = matrices.strides[d];
            inner = 1;
        } else if (matrices.strides[d] != stack.matrix * inner) {
            return std::nullopt;
        }
        inner *= matrices.shape[d];
    }
    return stack;
}

int64_t size_of(ScalarType type) { return type == ScalarType::kFloat64 ? 8 : 4; }

// Numbers for each matrix, one behind the other.
Stack dense(char* data, ScalarType type, int64_t each) {
    const int64_t size = size_of(type);
    return {data, each * size, size, size};
}

// A batch of `count` matrices of the shape of `a`, if the kernels take it.
class Attempt {
public:
    Attempt(Operation operation, ScalarType type, const Matrices& a, int64_t count) {
        batch_.operation = operation;
        batch_.type = type;
        batch_.count = count;
        fits_ = pays(operation, a, count) && batched::has_kernels(operation, type, a.rows, a.columns);
        if (!fits_) return;
        batch_.rows = static_cast<int>(a.rows);
        batch_.columns = static_cast<int>(a.columns);
    }

    void set(Stack& place, const Matrices& matrices, bool transposed = false) {
        if (!fits_) return;
        const std::optional<Stack> stack = stack_of(transposed ? matrices.transposed() : matrices);
        if (stack)
            place = *stack;
        else
            fits_ = false;
    }
    // The same for what is only read: where no stride leads through all matrices, as of a batch that is
    // broadcast along one axis of several, they are copied together.
    void set_input(int index, const Matrices& matrices, bool transposed = false) {
        if (!fits_) return;
        Stack& place = batch_.in[index];
        const Matrices given = transposed ? matrices.transposed() : matrices;
        if (const std::optional<Stack> stack = stack_of(given)) {
            place = *stack;
            return;
        }
        const int64_t size = size_of(batch_.type), each = given.rows * given.columns;
        char* const to = copies_.emplace_back(given.count() * each * size).data();
        place = {to, each * size, given.columns * size, size};
        share_matrices(given.count(), static_cast<double>(each), [&](int64_t first, int64_t last) {
            for (int64_t k = first; k < last; ++k)
                copy_matrix(size, given.rows, given.columns, given.at(k), given.row_stride,
                            given.column_stride, to + k * place.matrix, place.row, place.column);
        });
    }
    Batch& batch() { return batch_; }
    std::optional<bool> run() const {
        if (!fits_) return std::nullopt;
        return batched::run(batch_) == 0;
    }

private:
    Batch batch_;
    std::list<Room<char>> copies_;
    bool fits_;
};

}  // namespace

std::optional<bool> solve(ScalarType type, const Matrices& a, const Matrices& b, const Matrices& x) {
    constexpr int64_t kMostColumns = 1 << 10;
    if (b.columns > kMostColumns) return std::nullopt;
    Attempt attempt(Operation::kSolve, type, a, x.count());
    attempt.batch().right = static_cast<int>(b.columns);
    attempt.set_input(0, a);
    attempt.set_input(1, b);
    attempt.set(attempt.batch().out[0], x);
    return attempt.run();
}

std::optional<bool> invert(ScalarType type, const Matrices& a, const Matrices& inverse) {
    Attempt attempt(Operation::kInverse, type, a, inverse.count());
    attempt.set_input(0, a);
    attempt.set(attempt.batch().out[0], inverse);
    return attempt.run();
}

std::optional<bool> determinants(ScalarType type, const Matrices& a, char* result) {
    Attempt attempt(Operation::kDeterminant, type, a, a.count());
    attempt.set_input(0, a);
    attempt.batch().out[0] = dense(result, type, 1);
    return attempt.run();
}

std::optional<bool> log_determinants(ScalarType type, const Matrices& a, char* signs, char* logarithms) {
    Attempt attempt(Operation::kSlogdet, type, a, a.count());
    attempt.set_input(0, a);
    attempt.batch().out[0] = dense(signs, type, 1);
    attempt.batch().out[1] = dense(logarithms, type, 1);
    return attempt.run();
}

std::optional<bool> cholesky(ScalarType type, const Matrices& a, bool upper, const Matrices& factor) {
    Attempt attempt(Operation::kCholesky, type, a, factor.count());
    attempt.set_input(0, a, upper);
    attempt.set(attempt.batch().out[0], factor, upper);
    return attempt.run();
}

std::optional<bool> symmetric_eigen(ScalarType type, const Matrices& a, bool upper, char* values,
                                    const Matrices* vectors) {
    Attempt attempt(Operation::kEigh, type, a, a.count());
    attempt.set_input(0, a, upper);
    attempt.batch().out[0] = dense(values, type, a.rows);
    if (vectors != nullptr) attempt.set(attempt.batch().out[1], *vectors);
    return attempt.run();
}

std::optional<bool> reflectors(ScalarType type, const Matrices& a, const Matrices& factored, char* tau) {
    Attempt attempt(Operation::kRawQr, type, a, a.count());
    attempt.set_input(0, a);
    attempt.set(attempt.batch().out[0], factored);
    attempt.batch().out[1] = dense(tau, type, std::min(a.rows, a.columns));
    return attempt.run();
}

std::optional<bool> qr(ScalarType type, const Matrices& a, const Matrices* q, const Matrices& r) {
    Attempt attempt(Operation::kQr, type, a, a.count());
    attempt.batch().right = static_cast<int>(r.rows);
    attempt.set_input(0, a);
    attempt.set(attempt.batch().out[0], r);
    if (q != nullptr) attempt.set(attempt.batch().out[1], *q);
    return attempt.run();
}

std::optional<bool> svd(ScalarType type, const Matrices& a, const Matrices* u, char* s, const Matrices* vh) {
    Attempt attempt(Operation::kSvd, type, a, a.count());
    attempt.set_input(0, a);
    attempt.batch().out[0] = dense(s, type, std::min(a.rows, a.columns));
    if (u != nullptr && vh != nullptr) {
        attempt.batch().right = u->columns == a.rows && vh->rows == a.columns ? 1 : 0;
        attempt.set(attempt.batch().out[1], *u);
        attempt.set(attempt.batch().out[2], *vh);
    }
    return attempt.run();
}

}  // namespace weft::lapack::small
