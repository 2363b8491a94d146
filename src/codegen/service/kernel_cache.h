// Kernels on disk: what was compiled in one process is loaded by the next. Everything that decides the
// machine code is in the key; docs/reference/kernel-cache.md has the whole story.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "codegen/cpu/compiler.h"
#include "device/cuda/kernel_image.h"
#include "device/kernel.h"

namespace weft::codegen {

struct CachedKernel {
    std::shared_ptr<const CompiledKernel> kernel;
    std::string ir;  // as the kernel was before the passes
};

// The key of a kernel that this engine makes of `form`, whatever that text is, for the options' CPU. Equal
// keys mean equal machine code: the engine's build decides what the form means. Throws ValueError for an
// unknown CPU.
std::string cache_key(std::string_view form, const CompileOptions& options);

// Whether what is compiled is there for later processes.
bool keeps_kernels();

// Nothing where there is no cache, or nothing of use in it.
std::optional<CachedKernel> find_in_cache(const std::string& key);
StridedLoop find_strided_loop_in_cache(const std::string& key);  // null where there is none
// The same for functions, which keep_in_cache takes, too. What they call lazily is looked for here first.
std::shared_ptr<const CompiledFunction> find_function_in_cache(const std::string& key,
                                                               const CompileOptions& options);
// Without a key nothing is looked for or kept.
std::shared_ptr<const CompiledFunction> load_function(const std::string& key, const KernelObject& object,
                                                      const CompileOptions& options);
// Of the cache, if there is a key, or made now.
std::shared_ptr<const CompiledFunction> found_or_made(const std::string& key, const CompileOptions& options,
                                                      const std::function<KernelObject()>& make);
void keep_in_cache(const std::string& key, const KernelObject& object, std::string_view ir);

// What an entry holds of a function.
std::string encode_object(const KernelObject& object);
std::optional<KernelObject> decode_object(std::string_view bytes);

// The same for GPUs. `target` says for which one, and by whose driver the machine code is made.
std::string gpu_cache_key(std::string_view form, std::string_view target);
struct CachedGpuKernel {
    CudaKernelImage image;  // without its PTX
    std::string machine_code, ir;
};
std::optional<CachedGpuKernel> find_gpu_kernel_in_cache(const std::string& key);
void keep_gpu_kernel_in_cache(const std::string& key, const CachedGpuKernel& kernel);
// What others make for GPUs, in a form of their own.
std::optional<std::string> find_bytes_in_cache(const std::string& key);
void keep_bytes_in_cache(const std::string& key, std::string_view bytes);
void drop_from_cache(const std::string& key);  // it was whole, but the driver refuses it

}  // namespace weft::codegen
