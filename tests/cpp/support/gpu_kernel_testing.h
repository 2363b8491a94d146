// What tests of kernels for GPUs share: a kernel's arguments, and every way to run it beside the CPU's
// kernel.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/kernel_image.h"
#include "device/cuda/launch_shape.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "support/kernel_testing.h"
#include "support/ptx_simulation.h"

namespace weft::testing_ptx {

using testing_kernels::fill;

// One argument of a kernel: a scalar, or a buffer with its dynamic strides.
struct Argument {
    std::vector<char>* memory = nullptr;
    int64_t value = 0;  // of a scalar, or the offset into the memory
    std::vector<int64_t> strides = {};
};

inline std::vector<ArgumentWord> words_of(const std::vector<Argument>& arguments) {
    std::vector<ArgumentWord> words;
    for (const Argument& argument : arguments) {
        const auto base =
            argument.memory == nullptr ? 0 : reinterpret_cast<ArgumentWord>(argument.memory->data());
        words.push_back(base + static_cast<ArgumentWord>(argument.value));
        for (const int64_t stride : argument.strides) words.push_back(static_cast<ArgumentWord>(stride));
    }
    return words;
}

// The memory of a kernel's buffers, filled the same for each target.
class Memory {
public:
    explicit Memory(uint64_t seed) : random_(seed) {}
    std::vector<char>& add(ScalarType type, int64_t elements, bool written = false) {
        auto bytes =
            std::make_unique<std::vector<char>>(static_cast<size_t>(elements * DType(type).itemsize() + 64));
        if (!written) fill(std::span(*bytes).first(bytes->size() - 64), type, random_);
        buffers_.push_back(std::move(bytes));
        return *buffers_.back();
    }

private:
    std::mt19937_64 random_;
    std::vector<std::unique_ptr<std::vector<char>>> buffers_;
};

// A way to run a kernel for GPUs.
class Way {
public:
    virtual ~Way() = default;
    virtual const char* name() const = 0;
    virtual const CudaKernelImage& image() const = 0;
    // Changes the arguments' memory.
    virtual void run(const std::vector<Argument>& arguments, const std::vector<int64_t>& grid) = 0;
};

class Simulated final : public Way {
public:
    Simulated(const ir::Module& module, const std::string& name, const codegen::PtxOptions& options)
        : kernel_(module, name, options) {}
    const char* name() const override { return "simulated"; }
    const CudaKernelImage& image() const override { return kernel_.image(); }
    void run(const std::vector<Argument>& arguments, const std::vector<int64_t>& grid) override {
        const std::vector<ArgumentWord> words = words_of(arguments);
        if (!fits(image(), words, grid)) throw std::runtime_error("the image does not fit its arguments");
        run(arguments, launch_shape(image(), words, grid));
    }
    void run(const std::vector<Argument>& arguments, const CudaLaunchShape& shape) {
        kernel_.run(words_of(arguments), shape);
    }

private:
    SimulatedKernel kernel_;
};

class OnHardware final : public Way {
public:
    OnHardware(const ir::Module& module, const std::string& name, codegen::PtxOptions options) {
        options.sm = 90;
        image_ = codegen::compile_ptx(module, name, options);
        kernel_ = device_.load(image_, device_.assemble(image_));
    }
    const char* name() const override { return "on the GPU"; }
    const CudaKernelImage& image() const override { return image_; }
    void run(const std::vector<Argument>& arguments, const std::vector<int64_t>& grid) override {
        std::map<std::vector<char>*, BufferPtr> buffers;
        std::vector<ArgumentWord> words;
        for (const Argument& argument : arguments) {
            ArgumentWord base = 0;
            if (argument.memory != nullptr) {
                BufferPtr& buffer = buffers[argument.memory];
                if (buffer == nullptr) {
                    buffer = device_.allocate(argument.memory->size());
                    device_.copy_in(*buffer, 0, argument.memory->data(), argument.memory->size());
                }
                base = static_cast<ArgumentWord>(buffer->address());
            }
            words.push_back(base + static_cast<ArgumentWord>(argument.value));
            for (const int64_t stride : argument.strides) words.push_back(static_cast<ArgumentWord>(stride));
        }
        device_.launch(*kernel_, words, grid, 1, {});
        for (const auto& [memory, buffer] : buffers)
            device_.copy_out(memory->data(), *buffer, 0, memory->size());
    }

private:
    cuda::CudaDevice& device_ = cuda::cuda_device(0);
    CudaKernelImage image_;
    std::shared_ptr<const CompiledKernel> kernel_;
};

inline bool has_hardware() { return std::getenv("WEFT_GPU_TESTS") != nullptr; }

class GpuKernel {
public:
    GpuKernel(const ir::Module& module, const std::string& name, const codegen::PtxOptions& options = {}) {
        if (can_simulate()) {
            auto simulated = std::make_unique<Simulated>(module, name, options);
            simulated_ = simulated.get();
            ways_.push_back(std::move(simulated));
        }
        if (has_hardware()) ways_.push_back(std::make_unique<OnHardware>(module, name, options));
    }
    const CudaKernelImage& image() const { return ways_[0]->image(); }
    Simulated* simulated() const { return simulated_; }
    // Runs the kernel each way, from the same memory, and has the results checked.
    template <class Check>
    void run(const std::vector<Argument>& arguments, const std::vector<int64_t>& grid, std::vector<char>& out,
             const Check& check) const {
        const std::vector<char> before = out;
        for (const std::unique_ptr<Way>& way : ways_) {
            SCOPED_TRACE(way->name());
            std::copy(before.begin(), before.end(), out.begin());
            way->run(arguments, grid);
            check();
        }
    }

private:
    std::vector<std::unique_ptr<Way>> ways_;
    Simulated* simulated_ = nullptr;
};

class GpuKernelTest : public testing::Test {
protected:
    void SetUp() override {
        if (!can_simulate() && !has_hardware())
            GTEST_SKIP() << "there is neither the compiler " WEFT_COMPILER " nor a GPU";
    }

    // A kernel for the CPU, which tests run with many arguments, is compiled once.
    static const CompiledKernel& compiled_for_cpu(const ir::Module& module) {
        static auto* const known = new std::map<std::string, std::shared_ptr<const CompiledKernel>>;
        std::shared_ptr<const CompiledKernel>& kernel = (*known)[print(module)];
        if (kernel == nullptr) kernel = codegen::compile_for_cpu(module, module.functions.back().name);
        return *kernel;
    }

    // All targets' results, in `out`, from the same arguments.
    static void expect_same(const ir::Module& module, const GpuKernel& gpu,
                            const std::vector<Argument>& arguments, const std::vector<int64_t>& grid,
                            std::vector<char>& out, ScalarType type) {
        const std::string name = module.functions.back().name;
        const std::vector<char> before = out;
        cpu_device().launch(compiled_for_cpu(module), words_of(arguments), grid, 1);
        const std::vector<char> expected = out;
        std::copy(before.begin(), before.end(), out.begin());  // the arguments have its address
        const auto size = static_cast<size_t>(DType(type).itemsize());
        gpu.run(arguments, grid, out, [&] {
            for (size_t at = 0; at + size <= out.size(); at += size) {
                ASSERT_TRUE(testing_kernels::same_value(out.data() + at, expected.data() + at, type))
                    << name << ": element " << at / size << " of " << out.size() / size;
            }
        });
    }
};

}  // namespace weft::testing_ptx
