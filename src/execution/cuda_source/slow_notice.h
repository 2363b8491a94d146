// Tells on stderr what the process is busy with, once that has taken a second: first uses that compile long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace weft {

class SlowNotice {
public:
    explicit SlowNotice(std::string text);
    ~SlowNotice();
    SlowNotice(const SlowNotice&) = delete;
    SlowNotice& operator=(const SlowNotice&) = delete;

private:
    std::mutex mutex_;
    std::condition_variable ended_;
    bool is_over_ = false;
    std::thread thread_;
};

}  // namespace weft
