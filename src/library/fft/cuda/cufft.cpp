#include "library/fft/cuda/cufft.h"

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "device/cuda/cuda_device.h"
#include "device/cuda/libraries.h"
#include "weft/errors.h"

namespace weft {

namespace {

using cuda::CudaDevice;
using cuda::Libraries;

constexpr int kReal32 = 0, kReal64 = 1, kComplex32 = 4, kComplex64 = 5;  // cudaDataType
constexpr int kForward = -1, kInverse = 1;
constexpr int kAllocationFailed = 2;
constexpr size_t kMostPlans = 64;  // for each device; each holds tables in the device's memory

std::string status_text(int status) {
    const char* name = "an unknown status";
    switch (status) {
        case 1: name = "CUFFT_INVALID_PLAN"; break;
        case kAllocationFailed: name = "CUFFT_ALLOC_FAILED"; break;
        case 3: name = "CUFFT_INVALID_TYPE"; break;
        case 4: name = "CUFFT_INVALID_VALUE"; break;
        case 5: name = "CUFFT_INTERNAL_ERROR"; break;
        case 6: name = "CUFFT_EXEC_FAILED"; break;
        case 7: name = "CUFFT_SETUP_FAILED"; break;
        case 8: name = "CUFFT_INVALID_SIZE"; break;
        case 11: name = "CUFFT_INVALID_DEVICE"; break;
        case 13: name = "CUFFT_NO_WORKSPACE"; break;
        case 14: name = "CUFFT_NOT_IMPLEMENTED"; break;
        case 16: name = "CUFFT_NOT_SUPPORTED"; break;
        default: break;
    }
    return std::string(name) + " (" + std::to_string(status) + ")";
}

void check(int status, const char* what) {
    if (status == 0) return;
    const std::string text = std::string("cuFFT could not ") + what + ": " + status_text(status);
    if (status == kAllocationFailed)
        throw OutOfMemoryError(text +
                               ". Nothing is lost: let go of arrays, call weft.empty_pool(), or end other "
                               "programs on the device, and try again");
    throw DeviceError(text + ". Nothing is lost: try again, and please report it if it stays so");
}

int64_t product(const Dims& extents) {
    int64_t all = 1;
    for (const int64_t extent : extents) all *= extent;
    return all;
}

Dims halved(Dims lengths) {
    lengths.back() = lengths.back() / 2 + 1;
    return lengths;
}

// What makes a plan.
using Key = std::array<int64_t, 7>;

Key key_of(const CufftTransform& t) {
    Key key{static_cast<int64_t>(t.kind) * 4 + (t.is_double ? 2 : 0) + (t.interleaved ? 1 : 0), t.batch,
            static_cast<int64_t>(t.lengths.size())};
    std::copy(t.lengths.begin(), t.lengths.end(), key.begin() + 3);
    return key;
}

class Plan {
public:
    Plan(const Libraries& functions, CudaDevice& device, const CufftTransform& t)
        : functions_(functions), key_(key_of(t)) {
        int status = make(device, t);
        if (status == kAllocationFailed && device.context().reclaim()) status = make(device, t);
        check(status, "plan a transform");
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
    ~Plan() { destroy(); }

    const Key& key() const { return key_; }

    void run(CudaDevice& device, const CufftTransform& t, uint64_t from, uint64_t to) {
        const auto pointer = [](uint64_t address) { return reinterpret_cast<void*>(address); };
        BufferPtr workspace;
        if (workspace_ != 0) {
            workspace = device.allocate(workspace_);
            check(functions_.cufftSetWorkArea(plan_, pointer(workspace->address())),
                  "take memory to work in");
        }
        const cuda::MemoryPool::Queueing counted(device.pool());  // before the workspace goes back to it
        check(functions_.cufftXtExec(plan_, pointer(from), pointer(to), t.forward ? kForward : kInverse),
              "transform");
    }

private:
    // A status of the library's. A plan that could not be made is not there afterwards.
    int make(CudaDevice& device, const CufftTransform& t) {
        int status = functions_.cufftCreate(&plan_);
        if (status != 0) return status;
        made_ = true;
        status = functions_.cufftSetAutoAllocation(plan_, 0);
        if (status == 0) status = functions_.cufftSetStream(plan_, device.context().stream());
        if (status == 0) status = describe(t);
        if (status != 0) destroy();
        return status;
    }
    int describe(const CufftTransform& t) {
        const int real = t.is_double ? kReal64 : kReal32, complex = t.is_double ? kComplex64 : kComplex32;
        const auto embed = [](const Dims& extents) {
            std::array<long long, kMostCufftAxes> result{};
            std::copy(extents.begin(), extents.end(), result.begin());
            return result;
        };
        const Dims half = halved(t.lengths);
        auto lengths = embed(t.lengths);
        auto from = embed(t.kind == CufftKind::kComplexToReal ? half : t.lengths),
             to = embed(t.kind == CufftKind::kRealToComplex ? half : t.lengths);
        const long long stride = t.interleaved ? t.batch : 1,
                        from_distance = t.interleaved ? 1 : t.from_elements() / t.batch,
                        to_distance = t.interleaved ? 1 : t.to_elements() / t.batch;
        return functions_.cufftXtMakePlanMany(
            plan_, static_cast<int>(t.lengths.size()), lengths.data(), from.data(), stride, from_distance,
            t.kind == CufftKind::kRealToComplex ? real : complex, to.data(), stride, to_distance,
            t.kind == CufftKind::kComplexToReal ? real : complex, t.batch, &workspace_, complex);
    }
    void destroy() {
        if (made_) (void)functions_.cufftDestroy(plan_);
        made_ = false;
    }

    const Libraries& functions_;
    const Key key_;
    int plan_ = 0;
    bool made_ = false;
    size_t workspace_ = 0;
};

// The plans of each device, those used last first. The lock is held while a transform is queued, since the
// memory that a plan works in is set before.
struct State {
    std::mutex mutex;
    std::map<const CudaDevice*, std::list<std::unique_ptr<Plan>>> plans;
};

State& state() {
    static auto* instance = new State;
    return *instance;
}

Plan& plan_of(std::list<std::unique_ptr<Plan>>& plans, const Libraries& functions, CudaDevice& device,
              const CufftTransform& transform) {
    const Key key = key_of(transform);
    const auto found =
        std::find_if(plans.begin(), plans.end(), [&](const auto& plan) { return plan->key() == key; });
    if (found != plans.end()) {
        plans.splice(plans.begin(), plans, found);
        return *plans.front();
    }
    plans.push_front(std::make_unique<Plan>(functions, device, transform));
    if (plans.size() > kMostPlans) {
        device.synchronize();  // what is queued may read its tables
        plans.pop_back();
    }
    return *plans.front();
}

}  // namespace

int64_t CufftTransform::from_elements() const {
    return batch * product(kind == CufftKind::kComplexToReal ? halved(lengths) : lengths);
}
int64_t CufftTransform::to_elements() const {
    return batch * product(kind == CufftKind::kRealToComplex ? halved(lengths) : lengths);
}

bool has_cufft(std::string& why) {
    try {
        return cuda::library(cuda::LibraryId::kCufft).cufftXtExec != nullptr;
    } catch (const DeviceError& error) {
        why = error.what();
        return false;
    }
}

void transform_by_cufft(const CufftTransform& transform, DeviceBackend& backend, uint64_t from, uint64_t to) {
    WEFT_CHECK(!transform.lengths.empty() && transform.lengths.size() <= kMostCufftAxes,
               "axes of a transform");
    const Libraries& functions = cuda::library(cuda::LibraryId::kCufft);
    auto& device = static_cast<CudaDevice&>(backend);
    const cuda::Context::Scope scope(device.context());
    try {
        State& all = state();
        const std::lock_guard lock(all.mutex);
        plan_of(all.plans[&device], functions, device, transform).run(device, transform, from, to);
    } catch (const DeviceError&) {
        device.synchronize();  // says so where a fault is to blame
        throw;
    }
}

}  // namespace weft
