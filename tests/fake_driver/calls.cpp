#include "calls.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace weft::fake_driver {

bool ruins_context(cuda::Result result) {
    switch (result) {
        case cuda::kEccUncorrectable:
        case cuda::kNvlinkUncorrectable:
        case cuda::kContained:
        case cuda::kIllegalAddress:
        case cuda::kLaunchTimeout:
        case cuda::kContextIsDestroyed:
        case cuda::kAssert:
        case cuda::kHardwareStackError:
        case cuda::kIllegalInstruction:
        case cuda::kMisalignedAddress:
        case cuda::kInvalidAddressSpace:
        case cuda::kInvalidProgramCounter:
        case cuda::kLaunchFailed: return true;
        default: return false;
    }
}

const char* name_of(cuda::Result result) {
    switch (result) {
        case cuda::kInvalidValue: return "CUDA_ERROR_INVALID_VALUE";
        case cuda::kOutOfMemory: return "CUDA_ERROR_OUT_OF_MEMORY";
        case cuda::kNotInitialized: return "CUDA_ERROR_NOT_INITIALIZED";
        case cuda::kDeinitialized: return "CUDA_ERROR_DEINITIALIZED";
        case cuda::kNoDevice: return "CUDA_ERROR_NO_DEVICE";
        case cuda::kInvalidImage: return "CUDA_ERROR_INVALID_IMAGE";
        case cuda::kInvalidContext: return "CUDA_ERROR_INVALID_CONTEXT";
        case cuda::kEccUncorrectable: return "CUDA_ERROR_ECC_UNCORRECTABLE";
        case cuda::kInvalidPtx: return "CUDA_ERROR_INVALID_PTX";
        case cuda::kNotFound: return "CUDA_ERROR_NOT_FOUND";
        case cuda::kIllegalAddress: return "CUDA_ERROR_ILLEGAL_ADDRESS";
        case cuda::kLaunchFailed: return "CUDA_ERROR_LAUNCH_FAILED";
        case cuda::kNotSupported: return "CUDA_ERROR_NOT_SUPPORTED";
        case cuda::kDriverMismatch: return "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
        default: return "CUDA_ERROR_UNKNOWN";
    }
}

Calls::Calls() {
    if (const char* path = std::getenv("WEFT_FAKE_DRIVER_LOG")) file_ = std::fopen(path, "a");
    const char* given = std::getenv("WEFT_FAKE_DRIVER_FAIL");
    std::string text = given != nullptr ? given : "";
    while (!text.empty()) {
        const size_t comma = std::min(text.find(','), text.size());
        std::array<char, 64> symbol{}, how{};
        int nth = 0, result = 0;
        const int found = std::sscanf(text.substr(0, comma).c_str(), "%63[^:]:%d:%d:%63s", symbol.data(),
                                      &nth, &result, how.data());
        if (found >= 3) fail(symbol.data(), nth, result, std::string_view(how.data()) == "always");
        text.erase(0, comma + 1);
    }
}

void Calls::fail(const std::string& symbol, int64_t nth, cuda::Result result, bool for_ever) {
    failures_.push_back({symbol, nth, result, for_ever});
}

void Calls::forget() {
    failures_.clear();
    counts_.clear();
    log_.clear();
    failed_ = 0;
}

cuda::Result Calls::enter(const char* symbol) {
    const auto found = counts_.find(std::string_view(symbol));
    ++(found != counts_.end() ? found->second : counts_[symbol]);
    log_.emplace_back(symbol);
    if (file_ != nullptr) {
        std::fprintf(file_, "%s\n", symbol);
        std::fflush(file_);
    }
    cuda::Result result = cuda::kSuccess;
    for (auto failure = failures_.begin(); failure != failures_.end();) {
        const bool is_meant = failure->symbol == kAnyCall || failure->symbol == symbol;
        if (!is_meant || --failure->nth > 0) {
            ++failure;
            continue;
        }
        result = failure->result;
        failure = failure->for_ever ? failure + 1 : failures_.erase(failure);
    }
    if (result != cuda::kSuccess) ++failed_;
    return result;
}

int64_t Calls::count(const std::string& symbol) const {
    if (symbol == kAnyCall) return static_cast<int64_t>(log_.size());
    const auto found = counts_.find(symbol);
    return found == counts_.end() ? 0 : found->second;
}

}  // namespace weft::fake_driver
