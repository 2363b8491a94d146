// Kernels for GPUs run on the CPU: the LLVM IR that would become PTX is compiled for the CPU by the compiler
// that built weft, with threads as fibers (tests/simulation/gpu_threads.cpp). What it computes is what the
// GPU does, as far as LLVM's target and the hardware are right.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <span>
#include <stdexcept>
#include <string>

#include "codegen/ptx/compiler.h"
#include "device/cuda/kernel_image.h"
#include "device/cuda/launch_shape.h"

namespace weft::testing_ptx {

inline bool can_simulate() { return access(WEFT_COMPILER, X_OK) == 0; }

class SimulatedKernel {
public:
    SimulatedKernel(const ir::Module& module, const std::string& name,
                    const codegen::PtxOptions& options = {})
        : SimulatedKernel(codegen::compile_ptx, module, name, options) {}
    // A function that each thread of a launch runs.
    static std::unique_ptr<SimulatedKernel> of_launch(const ir::Module& module, const std::string& name,
                                                      const codegen::PtxOptions& options = {}) {
        return std::unique_ptr<SimulatedKernel>(
            new SimulatedKernel(codegen::compile_launch_for_ptx, module, name, options));
    }
    SimulatedKernel(const SimulatedKernel&) = delete;
    SimulatedKernel& operator=(const SimulatedKernel&) = delete;
    ~SimulatedKernel() {
        if (library_ != nullptr) dlclose(library_);
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    const CudaKernelImage& image() const { return image_; }

    void run(std::span<const ArgumentWord> words, std::span<const int64_t> grid) const {
        if (!fits(image_, words, grid)) throw std::runtime_error("the image does not fit its arguments");
        run(words, launch_shape(image_, words, grid));
    }
    void run(std::span<const ArgumentWord> words, const CudaLaunchShape& shape) const {
        if (simulate_(entry_, words.data(), shape.blocks, shape.threads_x, shape.threads_y) != 0)
            throw std::runtime_error("threads wait for what never comes");
    }

private:
    using Entry = void (*)(const void* words);
    using Simulate = int (*)(Entry, const void*, uint32_t, uint32_t, uint32_t);
    using Compile = CudaKernelImage(const ir::Module&, const std::string&, const codegen::PtxOptions&,
                                    codegen::PtxTexts*);

    SimulatedKernel(Compile& compile, const ir::Module& module, const std::string& name,
                    const codegen::PtxOptions& options) {
        codegen::PtxTexts texts;
        image_ = compile(module, name, options, &texts);
        char folder[] = "/tmp/weft-simulated-XXXXXX";
        if (mkdtemp(folder) == nullptr) throw std::runtime_error("no temporary folder");
        folder_ = folder;
        std::ofstream(folder_ + "/kernel.ll") << for_cpu(texts.llvm_ir);
        const std::string command =
            std::string(WEFT_COMPILER) + " -shared -fPIC -O1 -march=native -ffp-contract=off -w -o " +
            folder_ + "/kernel.so " + folder_ + "/kernel.ll " WEFT_GPU_THREADS " 2>" + folder_ + "/messages";
        if (std::system(command.c_str()) != 0) {
            std::ifstream messages(folder_ + "/messages");
            throw std::runtime_error(std::string(std::istreambuf_iterator<char>(messages), {}));
        }
        library_ = dlopen((folder_ + "/kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library_ == nullptr) throw std::runtime_error(dlerror());
        simulate_ = reinterpret_cast<Simulate>(dlsym(library_, "simulate"));
        entry_ = reinterpret_cast<Entry>(dlsym(library_, image_.symbol.c_str()));
        if (simulate_ == nullptr || entry_ == nullptr) throw std::runtime_error("the kernel has no entry");
    }

    static std::string for_cpu(std::string text) {
        const auto replace = [&](const char* what, const char* with) {
            text = std::regex_replace(text, std::regex(what), with);
        };
        replace("target (datalayout|triple) = [^\n]*\n", "");
        replace("ptx_kernel ", "");
        replace("byval\\([^)]*\\) ", "");
        replace("call void asm sideeffect \"fence[^\n]*\n", "\n");  // one thread runs at a time
        replace("@vprintf\\(", "@simulated_vprintf(");
        // Intrinsics become functions.
        std::smatch found;
        while (std::regex_search(text, found, std::regex("@llvm\\.nvvm\\.([a-z0-9._]+)"))) {
            std::string name = found[1].str();
            for (char& c : name) c = c == '.' ? '_' : c;
            text = found.prefix().str() + "@simulated_" + name + found.suffix().str();
        }
        return text;
    }

    CudaKernelImage image_;
    std::string folder_;
    void* library_ = nullptr;
    Simulate simulate_ = nullptr;
    Entry entry_ = nullptr;
};

}  // namespace weft::testing_ptx
