#include "library/products/cuda/cublas_lt.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "device/cuda/libraries.h"
#include "library/products/cuda/cublas_status.h"
#include "weft/errors.h"

namespace weft {

namespace {

using cuda::CudaDevice;
using cuda::Libraries;

// cublasLtMatmulDescAttributes_t, cublasLtEpilogue_t
constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8;
constexpr int kRelu = 2, kBias = 4;  // as bits, they are RELU, BIAS and RELU_BIAS
// cublasLtMatrixLayoutAttribute_t, cublasLtMatmulPreferenceAttributes_t
constexpr int kBatchCount = 5, kBatchStride = 6;
constexpr int kMostWorkspace = 1, kAlignmentA = 5, kAlignmentB = 6, kAlignmentC = 7, kAlignmentD = 8;

// cublasStatus_t
constexpr int kInvalidValue = 7, kNotSupported = 15;

constexpr uint64_t kWorkspace = 32 << 20;  // what NVIDIA recommends for Hopper
constexpr uint64_t kMostAlignment = 256;
constexpr size_t kMostPlans = 1024;

// cublasLtMatmulHeuristicResult_t
struct Choice {
    std::array<uint64_t, 8> algorithm{};
    size_t workspace = 0;
    int state = 0;
    float waves = 0;
    std::array<int, 4> reserved{};
};
static_assert(sizeof(Choice) == 96);

void check(int status, const char* what) {
    if (status != 0) throw_cublas_error("cuBLASLt", status, what);
}

uint64_t alignment_of(uint64_t address) { return std::min(address & (~address + 1), kMostAlignment); }

// What decides the choice of an algorithm.
using Key = std::tuple<const CudaDevice*, std::array<int64_t, 20>>;

Key key_of(const LtProduct& p, const CudaDevice& device) {
    const auto of = [](const LtMatrix& matrix) {
        return std::array{
            matrix.leading, matrix.batch_stride,
            static_cast<int64_t>(alignment_of(matrix.address) * 2 + (matrix.transposed ? 1 : 0))};
    };
    const auto left = of(p.left), right = of(p.right), out = of(p.out);
    return {&device,
            {p.data_type,
             p.compute_type,
             p.scale_type,
             p.rows,
             p.columns,
             p.depth,
             p.batch,
             left[0],
             left[1],
             left[2],
             right[0],
             right[1],
             right[2],
             out[0],
             out[1],
             out[2],
             p.bias != 0 ? 1 : 0,
             p.relu ? 1 : 0,
             p.bias != 0 ? static_cast<int64_t>(alignment_of(p.bias)) : 0,
             0}};
}

// A description of cuBLASLt's, destroyed by the function.
class Description {
public:
    explicit Description(int (*destroy)(void*)) : destroy_(destroy) {}
    Description(const Description&) = delete;
    Description& operator=(const Description&) = delete;
    ~Description() {
        if (made_ != nullptr) (void)destroy_(made_);
    }
    void** place() { return &made_; }
    void* get() const { return made_; }

private:
    int (*destroy_)(void*);
    void* made_ = nullptr;
};

class Plan {
public:
    Plan(const Libraries& functions, void* handle, const LtProduct& p) : functions_(functions) {
        check(functions.cublasLtMatmulDescCreate(description_.place(), p.compute_type, p.scale_type),
              "describe a product");
        set(kTransposeA, p.left.transposed ? 1 : 0);
        set(kTransposeB, p.right.transposed ? 1 : 0);
        const int epilogue = (p.relu ? kRelu : 0) | (p.bias != 0 ? kBias : 0);
        if (epilogue != 0) set(kEpilogue, epilogue);
        if (p.bias != 0) set_bias(p.bias);
        describe(left_, p, p.left, p.left.transposed ? p.depth : p.rows,
                 p.left.transposed ? p.rows : p.depth);
        describe(right_, p, p.right, p.right.transposed ? p.columns : p.depth,
                 p.right.transposed ? p.depth : p.columns);
        describe(out_, p, p.out, p.rows, p.columns);
        Description preference(functions.cublasLtMatmulPreferenceDestroy);
        check(functions.cublasLtMatmulPreferenceCreate(preference.place()), "describe a preference");
        const auto prefer = [&](int attribute, auto value) {
            check(functions.cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value,
                                                                 sizeof value),
                  "describe a preference");
        };
        prefer(kMostWorkspace, kWorkspace);
        const std::pair<int, uint64_t> alignments[] = {{kAlignmentA, p.left.address},
                                                       {kAlignmentB, p.right.address},
                                                       {kAlignmentC, p.out.address},
                                                       {kAlignmentD, p.out.address}};
        for (const auto& [attribute, address] : alignments)
            prefer(attribute, static_cast<uint32_t>(alignment_of(address)));
        int found = 0;
        const int status = functions.cublasLtMatmulAlgoGetHeuristic(handle, description_.get(), left_.get(),
                                                                    right_.get(), out_.get(), out_.get(),
                                                                    preference.get(), 1, &choice_, &found);
        // What it has no algorithm for it has none for later.
        if (status != kInvalidValue && status != kNotSupported) check(status, "choose an algorithm");
        usable_ = status == 0 && found == 1 && choice_.state == 0;
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    bool usable() const { return usable_; }
    size_t workspace() const { return choice_.workspace; }

    void run(void* handle, const LtProduct& p, void* workspace, cuda::StreamHandle stream) {
        const ProductScalar one(1), zero(0);
        constexpr int kReal64 = 1, kComplex64 = 5;
        const bool wide = p.scale_type == kReal64 || p.scale_type == kComplex64;
        const auto pointer = [](uint64_t address) { return reinterpret_cast<void*>(address); };
        if (p.bias != 0) set_bias(p.bias);
        check(functions_.cublasLtMatmul(handle, description_.get(), one.read(wide), pointer(p.left.address),
                                        left_.get(), pointer(p.right.address), right_.get(), zero.read(wide),
                                        pointer(p.out.address), out_.get(), pointer(p.out.address),
                                        out_.get(), &choice_.algorithm, workspace, choice_.workspace, stream),
              "multiply");
    }

private:
    void set(int attribute, int32_t value) {
        check(functions_.cublasLtMatmulDescSetAttribute(description_.get(), attribute, &value, sizeof value),
              "describe a product");
    }
    void set_bias(uint64_t address) {
        check(functions_.cublasLtMatmulDescSetAttribute(description_.get(), kBiasPointer, &address,
                                                        sizeof address),
              "describe a product");
    }
    void describe(Description& layout, const LtProduct& p, const LtMatrix& matrix, int64_t rows,
                  int64_t columns) {
        check(functions_.cublasLtMatrixLayoutCreate(layout.place(), p.data_type, static_cast<uint64_t>(rows),
                                                    static_cast<uint64_t>(columns), matrix.leading),
              "describe a matrix");
        const auto set_of = [&](int attribute, auto value) {
            check(functions_.cublasLtMatrixLayoutSetAttribute(layout.get(), attribute, &value, sizeof value),
                  "describe a matrix");
        };
        if (p.batch > 1) {
            set_of(kBatchCount, static_cast<int32_t>(p.batch));
            set_of(kBatchStride, matrix.batch_stride);
        }
    }

    const Libraries& functions_;
    Description description_{functions_.cublasLtMatmulDescDestroy};
    Description left_{functions_.cublasLtMatrixLayoutDestroy}, right_{functions_.cublasLtMatrixLayoutDestroy},
        out_{functions_.cublasLtMatrixLayoutDestroy};
    Choice choice_;
    bool usable_ = false;
};

// A handle for each device, made at first need and kept, and what was described so far; guarded by the lock,
// which is held while a product is queued, since a plan's bias is part of its description.
struct State {
    std::mutex mutex;
    std::map<const CudaDevice*, void*> handles;
    std::map<Key, std::unique_ptr<Plan>> plans;
};

State& state() {
    static auto* instance = new State;
    return *instance;
}

}  // namespace

std::string multiply_by_cublas_lt(const LtProduct& product, CudaDevice& device) {
    const Libraries* functions = nullptr;
    try {
        functions = &cuda::library(cuda::LibraryId::kCublasLt);
    } catch (const DeviceError& error) {
        return error.what();
    }
    State& all = state();
    const std::lock_guard lock(all.mutex);
    void*& handle = all.handles[&device];
    if (handle == nullptr) {
        const int status = retry_after_reclaim(device, [&] { return functions->cublasLtCreate(&handle); });
        if (status != 0) {
            handle = nullptr;
            return "cuBLASLt does not start (" + cublas_status_text(status) + ")";
        }
    }
    if (all.plans.size() > kMostPlans) all.plans.clear();
    std::unique_ptr<Plan>& plan = all.plans[key_of(product, device)];
    if (plan == nullptr) plan = std::make_unique<Plan>(*functions, handle, product);
    if (!plan->usable()) return "cuBLASLt has no algorithm for it";
    BufferPtr workspace;
    if (plan->workspace() != 0) workspace = device.allocate(plan->workspace());
    const cuda::MemoryPool::Queueing counted(device.pool());  // before the workspace goes back to it
    plan->run(handle, product, workspace != nullptr ? reinterpret_cast<void*>(workspace->address()) : nullptr,
              device.context().stream());
    return "";
}

}  // namespace weft
