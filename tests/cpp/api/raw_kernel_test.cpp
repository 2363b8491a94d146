// What C++ programs give to kernels of CUDA C++. Launches: tests/python/raw_kernels.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include "api/raw_kernels/packed_arguments.h"
#include "weft/cuda/raw_kernel.h"
#include "weft/errors.h"

namespace weft {
namespace {

using Kind = KernelParameter::Kind;

template <class T>
bool holds(const KernelArgument& argument) {
    return std::holds_alternative<T>(argument.value());
}

TEST(KernelArguments, AreWhatCppHasForThem) {
    EXPECT_TRUE(holds<bool>(true));
    EXPECT_TRUE(holds<int64_t>(3));
    EXPECT_TRUE(holds<int64_t>(short{3}));
    EXPECT_TRUE(holds<uint64_t>(3U));
    EXPECT_TRUE(holds<double>(2.5F));
    EXPECT_TRUE(holds<std::complex<double>>(std::complex<float>(1, 2)));
    EXPECT_TRUE(holds<array>(array()));
    const KernelArgument exact = KernelArgument::exact(2.5F);
    ASSERT_TRUE(holds<KernelArgument::Bytes>(exact));
    EXPECT_EQ(std::get<KernelArgument::Bytes>(exact.value()).bytes.size(), sizeof(float));
}

template <class T>
T packed(const KernelParameter& parameter, const KernelArgument& argument) {
    const std::vector<KernelParameter> parameters{parameter};
    PackedArguments all("f", &parameters, std::span(&argument, 1));
    T value;
    std::memcpy(&value, all.pointers()[0], sizeof value);
    return value;
}

TEST(KernelArguments, BecomeWhatTheParametersAre) {
    const auto of = [](Kind kind, ScalarType type) {
        return KernelParameter{.kind = kind, .dtype = DType(type), .bytes = DType(type).itemsize()};
    };
    EXPECT_EQ(packed<float>(of(Kind::kFloating, ScalarType::kFloat32), 3), 3.0F);
    EXPECT_EQ(packed<double>(of(Kind::kFloating, ScalarType::kFloat64), 0.1), 0.1);
    EXPECT_EQ(packed<uint16_t>(of(Kind::kFloating, ScalarType::kFloat16), 1.5), 0x3E00);
    EXPECT_EQ(packed<uint16_t>(of(Kind::kFloating, ScalarType::kBFloat16), 1.5), 0x3FC0);
    EXPECT_EQ(packed<int8_t>(of(Kind::kInteger, ScalarType::kInt8), -128), -128);
    EXPECT_THROW(packed<int8_t>(of(Kind::kInteger, ScalarType::kInt8), 128), OverflowError);
    EXPECT_THROW(packed<int8_t>(of(Kind::kInteger, ScalarType::kUInt8), -1), OverflowError);
    EXPECT_EQ(packed<uint64_t>(of(Kind::kInteger, ScalarType::kUInt64), UINT64_MAX), UINT64_MAX);
    EXPECT_THROW(packed<int64_t>(of(Kind::kInteger, ScalarType::kInt64), UINT64_MAX), OverflowError);
    EXPECT_THROW(packed<int>(of(Kind::kInteger, ScalarType::kInt32), 1.0), TypeError);
    EXPECT_EQ(
        packed<std::complex<float>>(of(Kind::kBytes, ScalarType::kComplex64), std::complex<double>(1, 2)),
        std::complex<float>(1, 2));
}

TEST(KernelArguments, OfUnknownParametersAreWhatPythonHas) {
    const KernelParameter nothing{};
    EXPECT_EQ(packed<int64_t>(nothing, -3), -3);
    EXPECT_EQ(packed<double>(nothing, 0.5), 0.5);
    EXPECT_EQ(packed<float>(KernelParameter{.bytes = 4}, 0.5), 0.5F);
    EXPECT_EQ(packed<int32_t>(KernelParameter{.bytes = 4}, -3), -3);
    EXPECT_EQ(packed<uint64_t>(KernelParameter{.kind = Kind::kPointer, .bytes = 8}, array()), 0U);
    EXPECT_THROW(packed<float>(KernelParameter{.bytes = 24}, 0.5), TypeError);
}

TEST(LaunchSizes, AreOneToThree) {
    const std::array<int64_t, 4> sizes{2, 3, 4, 5};
    const LaunchSize size(std::span(sizes).first(2));
    EXPECT_EQ(size[0], 2);
    EXPECT_EQ(size[1], 3);
    EXPECT_EQ(size[2], 1);
    EXPECT_THROW(LaunchSize{std::span<const int64_t>()}, ValueError);
    EXPECT_THROW(LaunchSize{std::span<const int64_t>(sizes)}, ValueError);
}

TEST(RawModules, HaveSources) {
    EXPECT_THROW(RawModule(std::vector<std::string>{}), ValueError);
    EXPECT_THROW(RawModule::from_files({}), ValueError);
}

}  // namespace
}  // namespace weft
