// Every loop of the op table and every cast on a GPU, against the ahead-of-time loop. Runs where
// WEFT_GPU_TESTS is set (tools/gpu-check), on the machine's GPU. What the shared scalar functions compute has
// equal bits on both; where functions take part that are others on GPUs, results agree within the bounds of
// both.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "codegen/ptx/compiler.h"
#include "core/complex.h"
#include "core/threads/thread_pool.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/kernel_image.h"
#include "support/kernel_testing.h"

namespace weft {
namespace {

using namespace testing_kernels;

constexpr int64_t kCount = 4099;

// In units in the last place; of a complex number, of the larger part.
double distance(const char* left, const char* right, ScalarType type) {
    const auto parts = [&](auto zero, int count, int digits) {
        double worst = 0, scale = 0;
        for (int k = 0; k < count; ++k) {
            auto a = zero, b = zero;
            std::memcpy(&a, left + static_cast<size_t>(k) * sizeof a, sizeof a);
            std::memcpy(&b, right + static_cast<size_t>(k) * sizeof b, sizeof b);
            const auto x = static_cast<double>(a), y = static_cast<double>(b);
            if (x == y || (x != x && y != y)) {
                if (std::isfinite(y)) scale = std::max(scale, std::abs(y));
                continue;
            }
            if (!std::isfinite(x) || !std::isfinite(y)) {
                // A complex number with an infinite part is infinity, whatever the other is.
                if (count == 2 && std::isinf(x) && std::isinf(y)) continue;
                return HUGE_VAL;
            }
            worst = std::max(worst, std::abs(x - y));
            scale = std::max(scale, std::abs(y));
        }
        if (worst == 0) return 0.0;
        const double smallest = digits == 53   ? 0x1p-1074
                                : digits == 24 ? 0x1p-149
                                : digits == 11 ? 0x1p-24
                                               : 0x1p-133;
        return worst / std::max(std::ldexp(1.0, std::ilogb(scale) - digits + 1), smallest);
    };
    switch (type) {
        case ScalarType::kFloat16: return parts(_Float16{}, 1, 11);
        case ScalarType::kBFloat16: return parts(BFloat16(0), 1, 8);
        case ScalarType::kFloat32: return parts(0.0F, 1, 24);
        case ScalarType::kFloat64: return parts(0.0, 1, 53);
        case ScalarType::kComplex64: return parts(0.0F, 2, 24);
        case ScalarType::kComplex128: return parts(0.0, 2, 53);
        default:
            return std::memcmp(left, right, static_cast<size_t>(DType(type).itemsize())) == 0 ? 0 : HUGE_VAL;
    }
}

class GpuTable : public testing::Test {
protected:
    void SetUp() override {
        if (std::getenv("WEFT_GPU_TESTS") == nullptr) GTEST_SKIP() << "WEFT_GPU_TESTS is not set";
    }

    // The largest distance of a result from the loop's.
    static double compare(const ir::Module& module, StridedLoop loop, std::span<const ScalarType> types,
                          int inputs, uint64_t seed, std::string& worst, bool& approximate) {
        codegen::PtxOptions options;
        options.sm = 90;
        codegen::PtxTexts texts;
        CudaKernelImage image = codegen::compile_ptx(module, "kernel", options, &texts);
        approximate = texts.uses_gpu_math || texts.uses_libdevice;
        cuda::CudaDevice& device = cuda::cuda_device(0);
        const std::string code = device.assemble(image);
        const auto kernel = device.load(std::move(image), code);
        std::mt19937_64 random(seed);
        std::vector<std::vector<char>> host;
        std::vector<BufferPtr> buffers;
        std::vector<ArgumentWord> words;
        std::vector<char*> data;
        std::vector<int64_t> strides;
        for (size_t i = 0; i < types.size(); ++i) {
            const auto size = static_cast<size_t>(DType(types[i]).itemsize());
            std::vector<char>& bytes = host.emplace_back(kCount * size);
            if (static_cast<int>(i) < inputs) fill(bytes, types[i], random);
            buffers.push_back(device.allocate(bytes.size()));
            device.copy_in(*buffers.back(), 0, bytes.data(), bytes.size());
            words.push_back(static_cast<ArgumentWord>(buffers.back()->address()));
            strides.push_back(static_cast<int64_t>(size));
        }
        for (std::vector<char>& bytes : host) data.push_back(bytes.data());
        words.push_back(kCount);
        const int64_t grid[] = {kCount};
        device.launch(*kernel, words, grid, 1, {});
        loop(data.data(), strides.data(), kCount);
        double most = 0;
        for (auto i = static_cast<size_t>(inputs); i < types.size(); ++i) {
            std::vector<char> result(host[i].size());
            device.copy_out(result.data(), *buffers[i], 0, result.size());
            for (int64_t k = 0; k < kCount; ++k) {
                const char *ours = result.data() + k * strides[i],
                           *expected = host[i].data() + k * strides[i];
                if (same_value(ours, expected, types[i])) continue;
                const double ulp = distance(ours, expected, types[i]);
                if (ulp <= most) continue;
                most = ulp;
                worst.clear();
                for (size_t j = 0; j < types.size(); ++j) {
                    worst += " " + std::string(DType(types[j]).name()) + ":";
                    for (int64_t b = strides[j]; b-- > 0;) {
                        char digits[8];
                        std::snprintf(digits, sizeof digits, "%02x",
                                      host[j][static_cast<size_t>(k * strides[j] + b)] & 0xff);
                        worst += digits;
                    }
                }
                worst += " gpu:";
                for (int64_t b = strides[i]; b-- > 0;) {
                    char digits[8];
                    std::snprintf(digits, sizeof digits, "%02x", ours[b] & 0xff);
                    worst += digits;
                }
            }
        }
        return most;
    }
};

TEST_F(GpuTable, OperationsAgreeWithTheLoops) {
    struct Case {
        const OpInfo* op;
        const LoopInfo* loop;
    };
    std::vector<Case> cases;
    for (const OpInfo& op : op_table()) {
        for (const LoopInfo& loop : op.loops) cases.push_back({&op, &loop});
    }
    std::mutex mutex;
    std::map<std::string, double> distances;
    parallel_for(static_cast<int64_t>(cases.size()), [&](int64_t task) {
        const auto [op, loop] = cases[static_cast<size_t>(task)];
        const std::string name = std::string(op->name) + " " + signature(*op, *loop);
        std::string worst;
        bool approximate = false;
        try {
            const double ulp = compare(elementwise_module(*op, *loop), loop->loop,
                                       std::span(loop->types).first(op->nin + op->nout), op->nin,
                                       static_cast<uint64_t>(task), worst, approximate);
            const std::lock_guard lock(mutex);
            if (ulp != 0) distances[name] = ulp;
            // Where the terms of a logarithm of a sum cancel, their errors are many units of the small
            // result.
            const bool cancels = op->id == OpId::kLogaddexp || op->id == OpId::kLogaddexp2;
            EXPECT_LE(ulp, cancels       ? 256
                           : approximate ? 8
                                         : 0)
                << name << (approximate ? " (approximate):" : ":") << worst;
        } catch (const std::exception& error) {
            ADD_FAILURE() << name << ": " << error.what();
        }
    });
    for (const auto& [name, ulp] : distances) std::printf("%s %.1f ULP\n", name.c_str(), ulp);
}

TEST_F(GpuTable, CastsEqualTheLoops) {
    parallel_for(kScalarTypeCount * kScalarTypeCount, [&](int64_t task) {
        const auto from = static_cast<ScalarType>(task / kScalarTypeCount);
        const auto to = static_cast<ScalarType>(task % kScalarTypeCount);
        if (from == to) return;
        const std::string name = std::string(DType(from).name()) + " to " + std::string(DType(to).name());
        const ScalarType types[] = {from, to};
        std::string worst;
        bool approximate = false;
        try {
            EXPECT_EQ(compare(cast_module(from, to), cast_loop(from, to).loop, types, 1,
                              static_cast<uint64_t>(task) + 1000000, worst, approximate),
                      0)
                << name << worst;
        } catch (const std::exception& error) {
            ADD_FAILURE() << name << ": " << error.what();
        }
    });
}

}  // namespace
}  // namespace weft
