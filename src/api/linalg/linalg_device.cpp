#include "api/linalg/linalg_device.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "weft/errors.h"

namespace weft::linalg {

namespace {

constexpr int kUnread = -1;
std::atomic<int> setting{kUnread};  // a LinalgDevice, from the environment at first

// Up to these, cuSOLVER takes longer than 16 cores and the copies do
// (docs/decisions/0026-large-factorisations-by-panels.md). It takes general matrices one by one, so their
// number does not matter; of others, the rows of all matrices count together.
constexpr int64_t kMostRowsOfGeneral = 384, kMostRowsOfSymmetric = 160, kMostRowsOfOthers = 192;

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
    const int64_t rows = a.shape()[a.shape().size() - 2], columns = a.shape().back();
    const char* what = "of small general matrices";
    if (work == SpectralWork::kGeneral) {
        if (rows > kMostRowsOfGeneral) return false;
    } else {
        const int64_t most = work == SpectralWork::kSymmetric ? kMostRowsOfSymmetric : kMostRowsOfOthers;
        const int64_t least = std::max<int64_t>(std::min(rows, columns), 1);
        if (std::max(rows, columns) > most || a.size() / least > most) return false;
        what = "of few small matrices";
    }
    why = "config.linalg_device is auto, which has the spectra " + std::string(what) + " computed there";
    return true;
}

}  // namespace weft::linalg
