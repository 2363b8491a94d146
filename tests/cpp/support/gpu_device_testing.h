// What tests of the CUDA device share: the device on the fake driver, bytes, errors, kernels.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "device/cuda/kernel_image.h"
#include "support/fake_driver_testing.h"
#include "weft/errors.h"

namespace weft {

using cuda::cuda_device;
using cuda::CudaDevice;

class CudaTest : public FakeDriverTest {
protected:
    void TearDown() override {
        device().synchronize();
        device().empty_pool();
        control.set_memory(size_t{4} << 30);
        FakeDriverTest::TearDown();
    }
    static CudaDevice& device() { return cuda_device(0); }

    static std::vector<char> read(const BufferPtr& buffer) {
        std::vector<char> bytes(buffer->size());
        buffer->device().copy_out(bytes.data(), *buffer, 0, bytes.size());
        return bytes;
    }
    static std::vector<char> numbers(size_t count, int first = 0) {
        std::vector<char> bytes(count);
        for (size_t k = 0; k < count; ++k) bytes[k] = static_cast<char>(first + static_cast<int>(k * 7 / 3));
        return bytes;
    }
    static std::string error_of(const std::function<void()>& work) {
        try {
            work();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
};

// A kernel, as the device takes it, that a test's function stands for.
inline std::shared_ptr<const cuda::CudaKernel> make_kernel(CudaDevice& device, int words,
                                                           int grid_dimensions = 1) {
    CudaKernelImage image;
    image.name = image.symbol = "stub";
    image.ptx = ".entry stub";
    image.words = words;
    image.grid_dimensions = grid_dimensions;
    return device.load(image, device.assemble(image));
}

}  // namespace weft
