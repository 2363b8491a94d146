// What the fake driver is told to let fail, and what it was asked: one list for all functions of its
// libraries.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/driver_types.h"

namespace weft::fake_driver {

constexpr std::string_view kAnyCall = "*";

// Whether the driver refuses every further call on a context after this result.
bool ruins_context(cuda::Result result);
const char* name_of(cuda::Result result);

// Guarded by the fake driver's lock.
class Calls {
public:
    Calls();  // reads WEFT_FAKE_DRIVER_FAIL and WEFT_FAKE_DRIVER_LOG

    // The nth call from now (1: the next) of that function, or of all (kAnyCall), fails with that result,
    // `for_ever`: so does each one after it.
    void fail(const std::string& symbol, int64_t nth, cuda::Result result, bool for_ever);
    void succeed() { failures_.clear(); }  // from now on
    void forget();                         // failures and counts

    // Notes a call; what it fails with.
    cuda::Result enter(const char* symbol);

    int64_t count(const std::string& symbol) const;
    const std::vector<std::string>& log() const { return log_; }
    // Calls that failed as told.
    int64_t failed() const { return failed_; }
    bool fails_some() const { return !failures_.empty(); }

private:
    struct Failure {
        std::string symbol;
        int64_t nth;
        cuda::Result result;
        bool for_ever;
    };
    std::vector<Failure> failures_;
    std::map<std::string, int64_t, std::less<>> counts_;
    std::vector<std::string> log_;
    int64_t failed_ = 0;
    std::FILE* file_ = nullptr;
};

}  // namespace weft::fake_driver
