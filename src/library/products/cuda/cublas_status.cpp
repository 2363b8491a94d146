#include "library/products/cuda/cublas_status.h"

#include "weft/errors.h"

namespace weft {

std::string cublas_status_text(int status) {
    const char* name = "an unknown status";
    switch (status) {
        case 1: name = "CUBLAS_STATUS_NOT_INITIALIZED"; break;
        case kCublasAllocationFailed: name = "CUBLAS_STATUS_ALLOC_FAILED"; break;
        case 7: name = "CUBLAS_STATUS_INVALID_VALUE"; break;
        case 8: name = "CUBLAS_STATUS_ARCH_MISMATCH"; break;
        case 11: name = "CUBLAS_STATUS_MAPPING_ERROR"; break;
        case 13: name = "CUBLAS_STATUS_EXECUTION_FAILED"; break;
        case 14: name = "CUBLAS_STATUS_INTERNAL_ERROR"; break;
        case 15: name = "CUBLAS_STATUS_NOT_SUPPORTED"; break;
        default: break;
    }
    return std::string(name) + " (" + std::to_string(status) + ")";
}

void throw_cublas_error(const std::string& library, int status, const std::string& what) {
    const std::string text = library + " could not " + what + ": " + cublas_status_text(status);
    if (status == kCublasAllocationFailed)
        throw OutOfMemoryError(text +
                               ". Nothing is lost: let go of arrays, call weft.empty_pool(), or end other "
                               "programs on the device, and try again");
    throw DeviceError(text + ". Nothing is lost: try again, and please report it if it stays so");
}

}  // namespace weft
