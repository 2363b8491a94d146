#include "api/linalg/linalg_device.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "weft/errors.h"

namespace weft::linalg {

namespace {

constexpr int kUnread = -1;
std::atomic<int> setting{kUnread};  // a LinalgDevice, from the environment at first

// Rows of all matrices together, up to which cuSOLVER takes longer than LAPACK and the copies do. Estimated
// from figures of others, not measured (docs/decisions/0026-large-factorisations-by-panels.md).
constexpr int64_t kMostRows = 256;

}  // namespace

std::string_view linalg_device_name(LinalgDevice device) {
    return device == LinalgDevice::kAuto ? "auto" : "operands";
}

LinalgDevice parse_linalg_device(std::string_view name) {
    for (const LinalgDevice device : {LinalgDevice::kOperands, LinalgDevice::kAuto}) {
        if (name == linalg_device_name(device)) return device;
    }
    throw ValueError("linalg_device is operands or auto, not '" + std::string(name) + "'");
}

void set_linalg_device(LinalgDevice device) {
    setting.store(static_cast<int>(device), std::memory_order_relaxed);
}

LinalgDevice linalg_device() {
    int found = setting.load(std::memory_order_relaxed);
    if (found == kUnread) {
        const char* const text = std::getenv("WEFT_LINALG_DEVICE");
        const int read = static_cast<int>(text == nullptr || *text == '\0' ? LinalgDevice::kOperands
                                                                           : parse_linalg_device(text));
        // Unless somebody has set it meanwhile.
        if (setting.compare_exchange_strong(found, read, std::memory_order_relaxed)) found = read;
    }
    return static_cast<LinalgDevice>(found);
}

bool goes_to_host(SpectralWork work, const array& a, std::string& why) {
    if (linalg_device() != LinalgDevice::kAuto) return false;
    const char* what = "of general matrices";
    if (work != SpectralWork::kGeneral) {
        const int64_t rows = a.shape()[a.shape().size() - 2], columns = a.shape().back();
        const int64_t least = std::max<int64_t>(std::min(rows, columns), 1);
        if (std::max(rows, columns) > kMostRows || a.size() / least > kMostRows) return false;
        what = "of few small matrices";
    }
    why = "config.linalg_device is auto, which has the spectra " + std::string(what) + " computed there";
    return true;
}

}  // namespace weft::linalg
