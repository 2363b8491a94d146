#include "library/linalg/batched/batched.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/processor.h"
#include "core/threads/thread_pool.h"
#include "core/threads/way_taken.h"

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

int64_t largest_side(const Batch& batch) { return std::max({batch.rows, batch.columns, 1}); }

// Tiles of whole matrices and some rows.
int64_t scratch_bytes(const Batch& batch, int lanes) {
    const int64_t side = largest_side(batch);
    const int64_t right = std::min<int64_t>(batch.right, kMostRows);
    const int64_t values = 5 * side * side + side * right + 16 * side + 64;
    return values * lanes * (batch.type == ScalarType::kFloat64 ? 8 : 4);
}

struct FreeMemory {
    void operator()(char* memory) const { std::free(memory); }
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
    const int64_t bytes = (scratch_bytes(batch, choice.lanes) + kLine - 1) / kLine * kLine;
    std::atomic<int64_t> wrong{0};
    parallel_for(tasks, [&](int64_t task) {
        const std::unique_ptr<char, FreeMemory> scratch(
            static_cast<char*>(std::aligned_alloc(kLine, static_cast<size_t>(bytes))));
        if (!scratch) throw std::bad_alloc();
        wrong += choice.kernel(batch, task * own, std::min(batch.count, (task + 1) * own), scratch.get());
    });
    way_taken = {"weft's kernels for small matrices", nullptr, std::min<int64_t>(tasks, num_threads())};
    return wrong;
}

}  // namespace weft::batched
