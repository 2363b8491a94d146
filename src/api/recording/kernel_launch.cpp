#include "api/recording/kernel_launch.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "api/recording/deferred_checks.h"
#include "api/recording/poison.h"
#include "device/cuda/cuda_device.h"
#include "execution/evaluate.h"
#include "execution/stream_order.h"
#include "graph/storage.h"
#include "weft/errors.h"

namespace weft {

namespace {

// Of a device: what has been launched, up to which launch it has been looked for errors, and those found.
class LaunchLog {
public:
    explicit LaunchLog(cuda::CudaDevice& device) : device_(device) {}

    // Until the turn is over, nobody takes the launch for done.
    std::pair<int64_t, std::unique_lock<std::mutex>> begin() {
        for (;;) {
            std::unique_lock turn(turn_);
            {
                const std::lock_guard lock(mutex_);
                // An open launch has a record of its own.
                if (open_.empty() || last_ + 1 - open_.front().first < kMostOpenLaunches)
                    return {++last_, std::move(turn)};
            }
            turn.unlock();
            look();
        }
    }

    void note(int64_t number, LaunchErrorThrower thrower) {
        const std::lock_guard lock(mutex_);
        open_.emplace_back(number, std::move(thrower));
    }

    bool is_known(int64_t number) {
        const std::lock_guard lock(mutex_);
        return known_ >= number;
    }

    bool has_error_among(int64_t first, int64_t last) {
        const std::lock_guard lock(mutex_);
        const auto found = failed_.lower_bound(first);
        return found != failed_.end() && found->first <= last;
    }

    void throw_error_among(int64_t first, int64_t last) {
        std::unique_lock lock(mutex_);
        const auto found = failed_.lower_bound(first);
        if (found == failed_.end() || found->first > last) return;
        told_ = std::max(told_.load(), found->first);
        const Failed failed = found->second;
        lock.unlock();
        failed.thrower(failed.error);
    }

    // An error after the last that was thrown.
    void throw_untold_error() { throw_error_among(told_ + 1, INT64_MAX); }

    // Waits for what is queued, and takes the errors that it has left. Who throws is forgotten without the
    // lock: that may wait for a thread that waits for the lock.
    void look() {
        int64_t queued = 0;
        {
            const std::lock_guard turn(turn_);
            queued = last_;
        }
        device_.synchronize();
        std::vector<std::pair<int64_t, LaunchErrorThrower>> done;
        std::map<int64_t, Failed> forgotten;
        const std::lock_guard lock(mutex_);
        const auto later =
            std::find_if(open_.begin(), open_.end(), [&](const auto& each) { return each.first > queued; });
        done.assign(std::make_move_iterator(open_.begin()), std::make_move_iterator(later));
        open_.erase(open_.begin(), later);
        for (auto& [number, thrower] : done) {
            LaunchError& record = device_.launch_error(number);
            if (record.status == 0) continue;
            failed_[number] = {record, std::move(thrower)};
            record = {};
        }
        while (failed_.size() > kMostFailed) forgotten.insert(failed_.extract(failed_.begin()));
        known_ = std::max(known_, queued);
    }

private:
    static constexpr size_t kMostFailed = 1 << 16;

    struct Failed {
        LaunchError error;
        LaunchErrorThrower thrower;
    };

    cuda::CudaDevice& device_;
    std::atomic<int64_t> told_{0};
    std::mutex turn_;   // of the one launch that is being queued; taken before the other
    std::mutex mutex_;  // of what follows
    int64_t last_ = 0, known_ = 0;
    std::vector<std::pair<int64_t, LaunchErrorThrower>> open_;
    std::map<int64_t, Failed> failed_;
};

using Logs = std::map<DeviceBackend*, std::unique_ptr<LaunchLog>>;

// Used with its lock held; as devices, they live as long as the process.
struct AllLogs {
    std::mutex mutex;
    Logs logs;
};
AllLogs& all_logs() {
    static auto* const all = new AllLogs;
    return *all;
}

LaunchLog& log_of(DeviceBackend& device) {
    // Mostly it is the one that the thread has asked for before.
    static thread_local std::pair<DeviceBackend*, LaunchLog*> last{};
    if (last.first == &device) return *last.second;
    AllLogs& all = all_logs();
    const std::lock_guard lock(all.mutex);
    std::unique_ptr<LaunchLog>& log = all.logs[&device];
    if (log == nullptr) log = std::make_unique<LaunchLog>(static_cast<cuda::CudaDevice&>(device));
    last = {&device, log.get()};
    return *log;
}

// Of all launches from `first` to `last`, one of which wrote what is poisoned: those that others wrote are
// among them, so that a chain of launches has one check.
class LaunchCheck final : public PoisonCheck {
public:
    LaunchCheck(LaunchLog& log, int64_t first, int64_t last) : log_(log), first_(first), last_(last) {}

    bool is_decided() override { return log_.is_known(last_); }
    bool has_failed() override { return is_decided() && log_.has_error_among(first_, last_); }
    [[noreturn]] void throw_error() override {
        log_.throw_error_among(first_, last_);
        throw RuntimeError("a kernel has failed");  // whose error is forgotten by now
    }
    void inspect() override {
        if (!is_decided()) log_.look();
    }
    const LaunchLog& log() const { return log_; }
    int64_t first() const { return first_; }

private:
    LaunchLog& log_;
    const int64_t first_, last_;
};

}  // namespace

LaunchArgument::LaunchArgument(const array& value) : array_(value) {
    Storage& storage = *value.storage();
    buffer_ = pin_at_hand(storage);
    pinned_ = buffer_ != nullptr;
    while (!pinned_) {
        buffer_ = evaluate_storage(storage);
        pinned_ = pin_unread(storage, buffer_);
    }
    wait_for_others(*buffer_);
}

LaunchArgument::LaunchArgument(LaunchArgument&& other) noexcept
    : array_(std::move(other.array_)),
      buffer_(std::move(other.buffer_)),
      pinned_(std::exchange(other.pinned_, false)) {}

LaunchArgument::~LaunchArgument() {
    if (!pinned_) return;
    Storage& storage = *array_.storage();
    const std::lock_guard lock(storage.mutex);
    --storage.pins;
}

LaunchTurn::LaunchTurn(DeviceBackend& device) { std::tie(number_, lock_) = log_of(device).begin(); }

void note_launch(DeviceBackend& device, int64_t number, std::span<const Buffer* const> read,
                 std::span<Buffer* const> written, LaunchErrorThrower thrower) {
    const auto is_sound = [](const Buffer* buffer) { return buffer->poison() == nullptr; };
    if (thrower == nullptr && std::all_of(read.begin(), read.end(), is_sound))
        return;  // nothing can be wrong
    LaunchLog& log = log_of(device);
    int64_t first = number;
    auto poison = std::make_shared<Poison>();
    for (const Buffer* buffer : read) {
        const PoisonPtr before = buffer->poison();
        if (before == nullptr) continue;
        for (const std::shared_ptr<PoisonCheck>& check : before->checks) {
            const auto* launch = dynamic_cast<const LaunchCheck*>(check.get());
            if (launch != nullptr && &launch->log() == &log) {
                if (!check->is_decided() || check->has_failed()) first = std::min(first, launch->first());
            } else if (std::find(poison->checks.begin(), poison->checks.end(), check) ==
                       poison->checks.end()) {
                poison->checks.push_back(check);
            }
        }
    }
    if (thrower == nullptr && first == number && poison->checks.empty()) return;
    poison->checks.push_back(std::make_shared<LaunchCheck>(log, first, number));
    for (Buffer* buffer : written) buffer->set_poison(poison);
    if (thrower != nullptr) log.note(number, std::move(thrower));
}

void finish_launches() {
    std::vector<LaunchLog*> logs;
    {
        AllLogs& all = all_logs();
        const std::lock_guard lock(all.mutex);
        for (const auto& [device, log] : all.logs) logs.push_back(log.get());
    }
    for (LaunchLog* log : logs) log->look();
    for (LaunchLog* log : logs) log->throw_untold_error();
}

}  // namespace weft
