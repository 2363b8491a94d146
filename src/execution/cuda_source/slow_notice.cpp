#include "execution/cuda_source/slow_notice.h"

#include <chrono>
#include <system_error>

#include "core/log.h"

namespace weft {

SlowNotice::SlowNotice(std::string text) {
    try {
        thread_ = std::thread([this, text = std::move(text)] {
            std::unique_lock lock(mutex_);
            if (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return is_over_; })) log_line(text);
        });
    } catch (const std::system_error&) {  // without a thread nothing is told
    }
}

SlowNotice::~SlowNotice() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    ended_.notify_one();
    if (thread_.joinable()) thread_.join();
}

}  // namespace weft
