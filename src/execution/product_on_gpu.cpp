#include "execution/product_on_gpu.h"

#include <string>
#include <string_view>

#include "core/config.h"
#include "device/cuda/cuda_device.h"
#include "execution/kernels/gpu_programs.h"
#include "library/products/cuda/contraction.h"
#include "library/products/cuda/kernel_arguments.h"
#include "library/products/cuda/program_choice.h"

namespace weft {

namespace {

constexpr int64_t kItemsize = sizeof(float);

}  // namespace

bool multiply_in_parts(const Contraction& contraction, DeviceBackend& device, ContractionReport& report) {
    const auto plan = choose_program(contraction, device);
    if (!plan) return false;
    const auto& [batch, m, n, k] = plan->axes;
    const auto elements = [](int64_t bytes) { return static_cast<uint64_t>(bytes / kItemsize); };
    const auto extent = [](const ProductAxis& axis) { return static_cast<uint64_t>(axis.extent); };
    const auto address = [](const char* data) { return reinterpret_cast<uint64_t>(data); };
    const gpu::ProductArguments words{address(contraction.left),
                                      address(contraction.right),
                                      address(contraction.out),
                                      extent(m),
                                      extent(n),
                                      extent(k),
                                      static_cast<uint64_t>(plan->left.leading),
                                      static_cast<uint64_t>(plan->right.leading),
                                      elements(m.out),
                                      elements(batch.left),
                                      elements(batch.right),
                                      elements(batch.out)};
    std::string program(plan->choice.program);
    program += plan->left.transposed ? 't' : 'n';
    program += plan->right.transposed ? 't' : 'n';
    launch_program(device, program, "weft_" + program, words,
                   {blocks_of(plan->choice.tiles), plan->choice.threads, 1, plan->choice.shared_bytes});
    report.batch = batch.extent;
    report.m = m.extent;
    report.n = n.extent;
    report.k = k.extent;
    report.routine = "product_in_parts";
    return true;
}

}  // namespace weft
