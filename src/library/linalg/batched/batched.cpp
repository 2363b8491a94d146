#include "library/linalg/batched/batched.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "core/nontemporal_copy.h"
#include "core/optimisation_switches.h"
#include "core/processor.h"
#include "core/threads/thread_pool.h"
#include "core/threads/way_taken.h"
#include "device/cpu/streamed_bytes.h"

namespace weft::batched {

namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kMostLanes = 16;
constexpr int64_t kTaskWork = 1 << 18;  // of a task, in multiplications or elements

KernelChoice kernel_of(const Batch& batch) {
    const bool is_lu = batch.operation <= Operation::kCholesky;
    switch (processor_level()) {
        case ProcessorLevel::kX86V4: return is_lu ? lu_kernel_avx512(batch) : spectral_kernel_avx512(batch);
        case ProcessorLevel::kX86V3: return is_lu ? lu_kernel_avx2(batch) : spectral_kernel_avx2(batch);
        case ProcessorLevel::kX86V2: break;
    }
    return {};
}

int64_t size_of(ScalarType type) { return type == ScalarType::kFloat64 ? 8 : 4; }

int64_t line_bytes(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

int64_t largest_side(const Batch& batch) { return std::max({batch.rows, batch.columns, 1}); }

// Tiles of whole matrices and some rows.
int64_t scratch_bytes(const Batch& batch, int lanes) {
    const int64_t side = largest_side(batch);
    const int64_t right = std::min<int64_t>(batch.right, kMostRows);
    const int64_t values = 5 * side * side + side * right + 16 * side + 64;
    return values * lanes * size_of(batch.type);
}

struct FreeMemory {
    void operator()(char* memory) const { std::free(memory); }
};

// The rows and columns of an output, of those that are matrices.
struct Shape {
    int64_t rows = 0, columns = 0;
};
Shape output_shape(const Batch& batch, int which) {
    const int64_t m = batch.rows, n = batch.columns, least = std::min(m, n);
    switch (batch.operation) {
        case Operation::kSolve: return which == 0 ? Shape{m, batch.right} : Shape{};
        case Operation::kInverse:
        case Operation::kCholesky:
        case Operation::kRawQr: return which == 0 ? Shape{m, n} : Shape{};
        case Operation::kQr:
            return which == 0 ? Shape{batch.right, n} : which == 1 ? Shape{m, batch.right} : Shape{};
        case Operation::kEigh: return which == 1 ? Shape{n, n} : Shape{};
        case Operation::kSvd:
            if (which == 0) return {};
            return which == 1 ? Shape{m, batch.right != 0 ? m : least}
                              : Shape{batch.right != 0 ? n : least, n};
        case Operation::kDeterminant:
        case Operation::kSlogdet: break;
    }
    return {};
}

// Kernels write some matrices of each output to memory that stays near, from where whole lines are copied: a
// kernel's lanes write to as many matrices at once, which is slow where these are far from each other.
// Outputs that caches do not hold beside the inputs are copied past them.
class StagedOutputs {
public:
    explicit StagedOutputs(const Batch& batch, int lanes) {
        int64_t all = 0, each = 0;
        const int64_t size = size_of(batch.type);
        for (int i = 0; i < kMost; ++i) {
            const Stack& out = batch.out[i];
            const Shape shape = output_shape(batch, i);
            const int64_t elements = shape.rows * shape.columns;
            if (out.data == nullptr || elements == 0) continue;
            // One behind the other without gaps.
            const int64_t last = (shape.rows - 1) * out.row + (shape.columns - 1) * out.column;
            staged_[i] = out.matrix == elements * size && out.row >= size && out.column >= size &&
                         last == out.matrix - size;
            if (!staged_[i]) continue;
            all += out.matrix * batch.count;
            each += out.matrix;
        }
        const int64_t outputs = all;
        for (const Stack& in : batch.in) {
            if (in.data != nullptr) all += std::abs(in.matrix) * batch.count;
        }
        past_caches_ = is_on(OptimisationSwitch::kNontemporalStores) && outputs > 0 && all > streamed_bytes();
        if (each == 0 || (!past_caches_ && each < kStagedBytes)) return;
        matrices_ = lanes * std::max<int64_t>(1, kNearBytes / (each * lanes));
        for (int i = 0; i < kMost; ++i) {
            if (staged_[i]) bytes_ += line_bytes(matrices_ * batch.out[i].matrix);
        }
    }

    int64_t bytes() const { return bytes_; }

    int64_t run(const KernelChoice& choice, const Batch& batch, int64_t begin, int64_t end, char* scratch,
                char* near) const {
        if (bytes_ == 0) return choice.kernel(batch, begin, end, scratch);
        int64_t wrong = 0;
        for (; begin < end; begin += matrices_) {
            const int64_t count = std::min(matrices_, end - begin);
            Batch part = batch;
            part.count = count;
            for (Stack& in : part.in) {
                if (in.data != nullptr) in.data += begin * in.matrix;
            }
            char* at = near;
            for (int i = 0; i < kMost; ++i) {
                Stack& out = part.out[i];
                if (staged_[i]) {
                    out.data = at;
                    at += line_bytes(matrices_ * out.matrix);
                } else if (out.data != nullptr) {
                    out.data += begin * out.matrix;
                }
            }
            if (part.info != nullptr) part.info += begin;
            wrong += choice.kernel(part, 0, count, scratch);
            for (int i = 0; i < kMost; ++i) {
                const Stack& out = batch.out[i];
                if (!staged_[i]) continue;
                char* const to = out.data + begin * out.matrix;
                const auto bytes = static_cast<size_t>(count * out.matrix);
                past_caches_ ? copy_nontemporal(to, part.out[i].data, bytes)
                             : static_cast<void>(std::memcpy(to, part.out[i].data, bytes));
            }
        }
        if (past_caches_) finish_copies();
        return wrong;
    }

private:
    static constexpr int kMost = 3;
    static constexpr int64_t kNearBytes = 8192;
    static constexpr int64_t kStagedBytes = 256;  // of a matrix
    bool staged_[kMost] = {}, past_caches_ = false;
    int64_t matrices_ = 0, bytes_ = 0;
};

}  // namespace

bool has_kernels(Operation operation, ScalarType type, int64_t rows, int64_t columns) {
    if (rows > kMostRows || columns > kMostRows || rows < 1 || columns < 1) return false;
    Batch batch;
    batch.operation = operation;
    batch.type = type;
    batch.rows = static_cast<int>(rows);
    batch.columns = static_cast<int>(columns);
    return kernel_of(batch).kernel != nullptr;
}

int64_t run(const Batch& batch) {
    const KernelChoice choice = kernel_of(batch);
    const int64_t side = largest_side(batch);
    const int64_t work = side * side * (side + batch.right) + 64;
    int64_t own = std::max<int64_t>(1, kTaskWork / work);
    own = (own + kMostLanes - 1) / kMostLanes * kMostLanes;
    const int64_t tasks = (batch.count + own - 1) / own;
    const StagedOutputs staged(batch, choice.lanes);
    const int64_t bytes = line_bytes(scratch_bytes(batch, choice.lanes));
    std::atomic<int64_t> wrong{0};
    parallel_for(tasks, [&](int64_t task) {
        const std::unique_ptr<char, FreeMemory> scratch(
            static_cast<char*>(std::aligned_alloc(kLine, static_cast<size_t>(bytes + staged.bytes()))));
        if (!scratch) throw std::bad_alloc();
        wrong += staged.run(choice, batch, task * own, std::min(batch.count, (task + 1) * own), scratch.get(),
                            scratch.get() + bytes);
    });
    way_taken = {"weft's kernels for small matrices", nullptr, std::min<int64_t>(tasks, num_threads())};
    return wrong;
}

}  // namespace weft::batched
