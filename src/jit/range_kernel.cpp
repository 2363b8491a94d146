#include "jit/range_kernel.h"

#include <array>
#include <chrono>
#include <cstring>
#include <exception>

#include "codegen/cpu/compiler.h"
#include "codegen/runtime/heap.h"
#include "codegen/runtime/spread.h"
#include "codegen/service/kernel_cache.h"
#include "ir/printer.h"
#include "jit/gpu_kernel.h"
#include "lang/exceptions/classes.h"
#include "lang/lower.h"
#include "lang/types.h"
#include "weft/errors.h"

namespace weft::jit {

namespace {

class Watch {
public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::shared_ptr<const RangeKernel> compile_range(const ir::Module& module, const std::string& entry) {
    const Watch watch;
    auto made = std::make_shared<RangeKernel>();
    made->name = entry;
    made->ir = ir::print(module);
    const codegen::CompileOptions options;
    const std::string key = codegen::keeps_kernels()
                                ? codegen::cache_key("function " + entry + "\n" + made->ir, options)
                                : std::string();
    if (!key.empty()) made->code = codegen::find_function_in_cache(key, options);
    made->from_disk = made->code != nullptr;
    if (!made->from_disk) {
        const codegen::KernelObject object = codegen::compile_object_for_cpu(module, entry, options);
        made->code = codegen::load_function(key, object, options);
        if (!key.empty()) codegen::keep_in_cache(key, object, {});
    }
    made->compile_seconds = watch.seconds();
    return made;
}

std::shared_ptr<const RangeKernel> compile_range_for_gpu(const ir::Module& thread, const ir::Module& whole,
                                                         const std::string& entry, DeviceBackend& device) {
    const Watch watch;
    auto made = std::make_shared<RangeKernel>();
    made->name = entry;
    made->ir = ir::print(thread);
    lang::Lowered lowered;
    lowered.module = thread;
    lowered.entry = entry;
    // As those of a launch begin: sizes of the grid and of a block, which are none of its parameters here.
    const lang::TypeRef number = lang::scalar_type(ScalarType::kInt64);
    lowered.arguments = {number, number};
    Options options;
    options.device = &device;
    made->gpu = compile_for_gpu(lowered, made->ir, ir::print(whole), options);
    made->from_disk = made->gpu->from_disk;
    made->compile_seconds = watch.seconds();
    return made;
}

RangeError range_error(int64_t status, const char* values) {
    RangeError error;
    error.site = lang::site_of_error(static_cast<uint32_t>(status - 1));
    std::memcpy(&error.index, values, sizeof error.index);
    std::memcpy(&error.size, values + 16, sizeof error.size);
    return error;
}

std::optional<RangeError> run_range(const RangeKernel& kernel, std::span<const ArgumentWord> words) {
    alignas(16) std::array<char, 64> results{};
    const codegen::HeapFrame frame;
    const int64_t status = kernel.code->function(words.data(), results.data());
    if (status == codegen::kStopped) {
        const std::exception_ptr reason = codegen::HeapFrame::take_stopped();
        if (reason == nullptr) throw InternalError("a compiled function stopped without a reason");
        std::rethrow_exception(reason);
    }
    if (status == 0) return {};
    return range_error(status, results.data());
}

void launch_range(const RangeKernel& kernel, std::span<const ArgumentWord> words, int64_t count,
                  int64_t block, int64_t number) {
    launch(*kernel.gpu, words, {.grid = {(count + block - 1) / block, 1, 1}, .block = {block, 1, 1}}, number);
}

}  // namespace weft::jit
