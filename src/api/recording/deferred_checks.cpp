#include "api/recording/deferred_checks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "api/recording/poison.h"
#include "core/config.h"
#include "core/host.h"
#include "ops/resolve.h"
#include "weft/ops.h"

namespace weft {

int64_t integer_at(const array& value) {
    alignas(16) ScalarBytes bytes{};
    read_element(value, {}, bytes.data());
    int64_t integer = 0;
    char* const pair[2] = {reinterpret_cast<char*>(bytes.data()), reinterpret_cast<char*>(&integer)};
    const int64_t steps[2] = {0, 0};
    cast_loop(value.dtype().scalar_type(), ScalarType::kInt64).loop(pair, steps, 1);
    return integer;
}

namespace {

class RequirementCheck final : public PoisonCheck {
public:
    explicit RequirementCheck(Requirement requirement)
        : requirement_(std::move(requirement)), site_(current_call_site()) {}

    bool is_decided() override {
        const std::lock_guard lock(mutex_);
        return decided_;
    }
    bool has_failed() override {
        const std::lock_guard lock(mutex_);
        return decided_ && !error_.empty();
    }
    [[noreturn]] void throw_error() override {
        const std::lock_guard lock(mutex_);
        if (requirement_.kind == ErrorKind::kIndexError) throw IndexError(error_);
        if (requirement_.kind == ErrorKind::kLinAlgError) throw LinAlgError(error_);
        throw ValueError(error_);
    }
    void add_values(std::vector<array>& values) override {
        const std::lock_guard lock(mutex_);
        if (decided_) return;
        values.push_back(requirement_.least);
        if (requirement_.largest.valid()) values.push_back(requirement_.largest);
    }
    // Holds no lock meanwhile: reading may wait for another thread's evaluation.
    void inspect() override {
        Requirement wanted;
        {
            const std::lock_guard lock(mutex_);
            if (decided_) return;
            wanted = requirement_;
        }
        std::string error;
        try {
            const int64_t least = integer_at(wanted.least);
            const int64_t largest = wanted.largest.valid() ? integer_at(wanted.largest) : least;
            if (largest > wanted.high) {
                error = describe(wanted, largest);
            } else if (least < wanted.low) {
                error = describe(wanted, least);
            }
        } catch (const IndexError& upstream) {  // the values themselves are poisoned
            error = upstream.what();
            wanted.kind = ErrorKind::kIndexError;
        } catch (const LinAlgError& upstream) {
            error = upstream.what();
            wanted.kind = ErrorKind::kLinAlgError;
        } catch (const ValueError& upstream) {
            error = upstream.what();
            wanted.kind = ErrorKind::kValueError;
        }
        wanted.least = wanted.largest = array();
        const std::lock_guard lock(mutex_);
        decided_ = true;
        error_ = std::move(error);
        std::swap(requirement_, wanted);  // the values go when the lock is gone
    }

private:
    std::string describe(const Requirement& wanted, int64_t value) const {
        std::string text = wanted.message;
        if (const size_t place = text.find("{}"); place != std::string::npos)
            text.replace(place, 2, std::to_string(value));
        const std::string line = text_of_call_site(site_);
        return text + " (found late, as weft.config.deferred_checks allows; recorded " +
               (line.empty() ? "outside of Python)" : "at " + line + ")");
    }

    std::mutex mutex_;
    Requirement requirement_;
    const uint32_t site_;
    bool decided_ = false;
    std::string error_;
};

// Nothing is poisoned in most programs: a load tells.
std::atomic<int64_t> poisons{0};

// More open checks than this are decided before another joins them.
constexpr size_t kMostOpen = 64;

}  // namespace

Poison::Poison() { poisons.fetch_add(1, std::memory_order_relaxed); }
Poison::~Poison() { poisons.fetch_sub(1, std::memory_order_relaxed); }

namespace {

// Without an error: who observes gets it.
void inspect_checks(std::span<const std::shared_ptr<PoisonCheck>> checks) {
    std::vector<array> values;
    for (const std::shared_ptr<PoisonCheck>& check : checks) check->add_values(values);
    if (!values.empty()) eval(values);
    for (const std::shared_ptr<PoisonCheck>& check : checks) check->inspect();
}

PoisonPtr poison_of(const Source& source) {
    if (source.buffer != nullptr) return source.buffer->poison();
    return source.node != nullptr ? source.node->poison : nullptr;
}

}  // namespace

bool defers_checks(const DeviceBackend& device) {
    return !device.is_cpu() && config().deferred_checks.load(std::memory_order_relaxed);
}

PoisonPtr defer(Requirement requirement) {
    auto poison = std::make_shared<Poison>();
    poison->checks.push_back(std::make_shared<RequirementCheck>(std::move(requirement)));
    return poison;
}

PoisonPtr join(const PoisonPtr& first, const PoisonPtr& second) {
    if (second == nullptr || first == second) return first;
    if (first == nullptr) return second;
    auto both = std::make_shared<Poison>();
    for (const PoisonPtr& each : {first, second}) {
        for (const std::shared_ptr<PoisonCheck>& check : each->checks) {
            const bool known =
                std::find(both->checks.begin(), both->checks.end(), check) != both->checks.end();
            if (!known && (!check->is_decided() || check->has_failed())) both->checks.push_back(check);
        }
    }
    if (both->checks.size() > kMostOpen) {
        inspect_checks(both->checks);
        std::erase_if(both->checks,
                      [](const std::shared_ptr<PoisonCheck>& check) { return !check->has_failed(); });
        if (both->checks.size() > 1) both->checks.resize(1);  // one says it
    }
    return both->checks.empty() ? nullptr : both;
}

void inherit_poison(Node& node) {
    if (poisons.load(std::memory_order_relaxed) == 0) [[likely]]
        return;
    for (const Operand& input : node.inputs) {
        if (const PoisonPtr brought = poison_of(input.source)) node.poison = join(node.poison, brought);
    }
}

void decide(const PoisonPtr& poison) {
    if (poison == nullptr) [[likely]]
        return;
    // Looking may change what it was read from.
    const PoisonPtr kept = poison;  // NOLINT(performance-unnecessary-copy-initialization)
    inspect_checks(kept->checks);
    for (const std::shared_ptr<PoisonCheck>& check : kept->checks) {
        if (check->has_failed()) check->throw_error();
    }
}

void decide(const Source& source) {
    if (poisons.load(std::memory_order_relaxed) == 0) [[likely]]
        return;
    decide(poison_of(source));
}

}  // namespace weft
