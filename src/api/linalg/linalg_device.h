// Where matrices on a GPU are factorised (weft::linalg::set_linalg_device, weft.config.linalg_device).
#pragma once

#include <string>
#include <string_view>

#include "weft/linalg.h"

namespace weft::linalg {

std::string_view linalg_device_name(LinalgDevice device);
LinalgDevice parse_linalg_device(std::string_view name);  // throws ValueError that lists the names there are

/// Whether the setting sends these matrices to the CPU, which is quicker; then `why` says so.
enum class SpectralWork : uint8_t { kSymmetric, kSingularValues, kGeneral };
bool goes_to_host(SpectralWork work, const array& a, std::string& why);

}  // namespace weft::linalg
