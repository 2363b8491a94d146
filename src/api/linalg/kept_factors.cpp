#include "api/linalg/kept_factors.h"

#include <list>
#include <mutex>
#include <utility>

#include "api/linalg/inputs.h"
#include "core/threads/fork.h"
#include "core/threads/short_lock.h"
#include "device/cpu/kept_work.h"
#include "graph/storage.h"

namespace weft::linalg {

namespace {

constexpr int64_t kLeastRows = 32;  // smaller ones are factored again as quickly as they are found

using FactorsPtr = std::shared_ptr<const lapack::OneLu>;

class KeptFactors;

// All that are kept, the latest used first. Its lock may be taken with a storage's lock held, not the other
// way round, and memory is freed outside of it.
struct Ledger {
    ShortLock guard;
    std::list<KeptFactors*> entries;
    int64_t bytes = 0;
};
Ledger& ledger() {
    static auto* const instance = new Ledger;
    return *instance;
}

[[maybe_unused]] const bool at_fork = on_fork(
    ForkRank::kKeptWork,
    {[] { ledger().guard.lock(); }, [] { ledger().guard.unlock(); }, [] { ledger().guard.unlock(); }});

class KeptFactors final : public KeptWork {
public:
    KeptFactors(const array& view, DType computed, FactorsPtr factors)
        : given_(view.dtype()),
          computed_(computed),
          shape_(view.shape()),
          strides_(view.strides()),
          offset_(view.offset()),
          factors_(std::move(factors)) {}
    ~KeptFactors() override {
        std::list<KeptFactors*> own;
        const std::lock_guard lock(ledger().guard);
        if (factors_ != nullptr && listed_) leave(own);
    }

    bool are_of(const array& view, DType computed) const {
        return given_ == view.dtype() && computed_ == computed && offset_ == view.offset() &&
               shape_ == view.shape() && strides_ == view.strides();
    }

    // Null where others needed the memory.
    FactorsPtr use() {
        const std::lock_guard lock(ledger().guard);
        if (listed_) ledger().entries.splice(ledger().entries.begin(), ledger().entries, place_);
        return factors_;
    }

    void enter() {
        {
            std::list<KeptFactors*> own{this};
            const std::lock_guard lock(ledger().guard);
            place_ = own.begin();
            ledger().entries.splice(ledger().entries.begin(), own);
            listed_ = true;
            ledger().bytes += factors_->bytes();
        }
        while (drop_oldest(kMostKeptBytes, 1)) {
        }
    }

    // False where all that are kept take so few bytes, or are so few.
    static bool drop_oldest(int64_t bytes, size_t count) {
        std::list<KeptFactors*> left;
        FactorsPtr freed;
        const std::lock_guard lock(ledger().guard);
        if (ledger().bytes <= bytes || ledger().entries.size() <= count) return false;
        KeptFactors& oldest = *ledger().entries.back();
        oldest.leave(left);
        freed = std::exchange(oldest.factors_, nullptr);
        return true;
    }

private:
    void leave(std::list<KeptFactors*>& to) {
        to.splice(to.begin(), ledger().entries, place_);
        ledger().bytes -= factors_->bytes();
        listed_ = false;
    }

    const DType given_, computed_;
    const Dims shape_, strides_;
    const int64_t offset_;
    // Under the ledger's lock.
    FactorsPtr factors_;
    bool listed_ = false;
    std::list<KeptFactors*>::iterator place_;
};

[[maybe_unused]] const bool gives_way = drop_kept_work_by([] { return KeptFactors::drop_oldest(0, 0); });

}  // namespace

std::shared_ptr<const lapack::OneLu> kept_factors(const array& a, const Types& types) {
    if (a.ndim() != 2) return nullptr;
    const int64_t n = a.shape()[0];
    if (n < kLeastRows || n * n * types.compute.itemsize() > kMostKeptBytes / 2) return nullptr;
    Storage& storage = *a.storage();
    std::shared_ptr<KeptWork> kept;
    Source seen;
    {
        const std::lock_guard lock(storage.mutex);
        if (storage.exported()) return nullptr;
        storage.current.resolve();
        seen = storage.current;
        kept = storage.kept;
    }
    if (auto* const found = dynamic_cast<KeptFactors*>(kept.get());
        found != nullptr && found->are_of(a, types.compute)) {
        if (FactorsPtr factors = found->use()) {
            way_taken = {lapack::kLapack, "from LU factors that were kept", 0};
            return factors;
        }
    }
    const Input input(a, types);
    way_taken = {lapack::kLapack, nullptr, 1};  // unless the factorisation has a way of its own
    auto factors = std::make_shared<const lapack::OneLu>(types.scalar_type(), input.matrices());
    const auto fresh = std::make_shared<KeptFactors>(a, types.compute, factors);
    seen.resolve();
    {
        const std::lock_guard lock(storage.mutex);
        storage.current.resolve();
        if (storage.exported() || !(storage.current == seen)) return factors;
        kept = std::exchange(storage.kept, fresh);
    }
    fresh->enter();
    return factors;
}

}  // namespace weft::linalg
