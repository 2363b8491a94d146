// The CUDA device against the fake driver (tests/fake_driver): loading, pooling, copies and their order,
// launches, errors.
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/config.h"
#include "device/devices.h"
#include "support/gpu_device_testing.h"
#include "weft/errors.h"

namespace weft {
namespace {

// --- loading

TEST(CudaDriver, SaysWhatIsMissing) {
    std::string reason;
    EXPECT_EQ(cuda::open_driver("/nowhere/libcuda.so.1", reason), nullptr);
    EXPECT_NE(reason.find("/nowhere/libcuda.so.1"), std::string::npos) << reason;
    EXPECT_EQ(cuda::open_driver("libm.so.6", reason), nullptr);
    EXPECT_NE(reason.find("cuInit"), std::string::npos) << reason;
}

TEST(CudaDriver, SaysThatTheDriverIsTooOld) {
    std::string reason;
    setenv("WEFT_FAKE_DRIVER_VERSION", "11080", 1);
    EXPECT_EQ(cuda::open_driver(WEFT_FAKE_DRIVER, reason), nullptr);
    unsetenv("WEFT_FAKE_DRIVER_VERSION");
    EXPECT_NE(reason.find("CUDA 11.8"), std::string::npos) << reason;
    EXPECT_NE(reason.find("update"), std::string::npos) << reason;
}

TEST_F(CudaTest, SaysThatThereIsNoDevice) {
    std::string reason;
    control.fail("cuInit", 1, cuda::kNoDevice);
    EXPECT_EQ(cuda::open_driver(WEFT_FAKE_DRIVER, reason), nullptr);
    EXPECT_NE(reason.find("CUDA_ERROR_NO_DEVICE"), std::string::npos) << reason;
}

TEST_F(CudaTest, DevicesHaveNames) {
    EXPECT_EQ(&device_named("cuda"), &device());
    EXPECT_EQ(&device_named("cuda:0"), &device());
    EXPECT_EQ(&device_named("cuda:1"), &cuda_device(1));
    EXPECT_EQ(device_named("cuda:1").name(), "cuda:1");
    EXPECT_EQ(&device_named("cpu"), &cpu_device());
    for (const char* wrong : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda1", "cuda:1 "})
        EXPECT_THROW(device_named(wrong), ValueError) << wrong;
    const std::string error = error_of([] { device_named("cuda:7"); });
    EXPECT_NE(error.find("cuda:0 to cuda:1"), std::string::npos) << error;
    EXPECT_EQ(device().context().facts().capability, 90);
}

TEST_F(CudaTest, ScopesSayWhichDeviceIsCurrent) {
    EXPECT_EQ(&current_device(), &cpu_device());
    {
        const DeviceScope outer(cuda_device(1));
        EXPECT_EQ(&current_device(), &cuda_device(1));
        {
            const DeviceScope inner(cpu_device());
            EXPECT_EQ(&current_device(), &cpu_device());
        }
        std::thread([] { EXPECT_EQ(&current_device(), &cpu_device()); }).join();
    }
    EXPECT_EQ(&current_device(), &cpu_device());
    config().set_device("cuda:1");
    EXPECT_EQ(&current_device(), &cuda_device(1));
    config().set_device("");
}

// --- memory

TEST_F(CudaTest, BuffersAreNotTheHosts) {
    const BufferPtr buffer = device().allocate(100);
    EXPECT_FALSE(buffer->on_host());
    EXPECT_EQ(&buffer->device(), &device());
    EXPECT_NE(buffer->address(), 0u);
    EXPECT_THROW(buffer->data(), InternalError);
    EXPECT_TRUE(cpu_device().allocate(100)->on_host());
}

TEST_F(CudaTest, FreedMemoryIsUsedAgainWithoutTheDriver) {
    for (const size_t bytes : {size_t{1}, size_t{5000}, size_t{100000}, size_t{100} << 20}) {
        const uint64_t first = device().allocate(bytes)->address();
        const int calls = control.calls("cuMemAlloc_v2");
        EXPECT_EQ(device().allocate(bytes)->address(), first) << bytes;
        EXPECT_EQ(device().allocate(bytes - bytes / 100)->address(), first) << bytes;
        EXPECT_EQ(control.calls("cuMemAlloc_v2"), calls);
    }
}

TEST_F(CudaTest, StatsCountBytes) {
    device().empty_pool();
    const MemoryStats before = device().memory_stats();
    BufferPtr buffer = device().allocate(size_t{10} << 20);
    EXPECT_EQ(device().memory_stats().in_use - before.in_use, int64_t{10} << 20);
    buffer.reset();
    EXPECT_EQ(device().memory_stats().in_use, before.in_use);
    EXPECT_EQ(device().memory_stats().pooled, int64_t{10} << 20);
    device().empty_pool();
    EXPECT_EQ(device().memory_stats().pooled, 0);
    EXPECT_EQ(control.live_bytes(0), static_cast<size_t>(before.in_use));
}

TEST_F(CudaTest, OutOfMemoryOnlyAfterThePoolWasEmptied) {
    device().empty_pool();
    control.set_memory(size_t{100} << 20);
    device().allocate(size_t{60} << 20).reset();
    const BufferPtr held = device().allocate(size_t{90} << 20);  // only once the 60 MiB were given back
    EXPECT_EQ(device().bytes_pooled(), 0u);
    const std::string error = error_of([&] { device().allocate(size_t{20} << 20); });
    EXPECT_NE(error.find(std::to_string(20 << 20)), std::string::npos) << error;
    EXPECT_NE(error.find("cuda:0"), std::string::npos) << error;
    EXPECT_THROW(device().allocate(SIZE_MAX), OutOfMemoryError);
    EXPECT_THROW(device().require(size_t{20} << 20), OutOfMemoryError);
    device().require(size_t{5} << 20);
}

TEST_F(CudaTest, ARefusalOnceIsTriedAgain) {
    device().empty_pool();
    device().allocate(1 << 20).reset();
    control.fail("cuMemAlloc_v2", 1, cuda::kOutOfMemory);
    EXPECT_NE(device().allocate(5 << 20), nullptr);
    EXPECT_EQ(control.calls("cuMemFree_v2"), 1);
}

TEST_F(CudaTest, TheLimitHolds) {
    device().empty_pool();
    config().device_memory_limit = static_cast<int64_t>(device().bytes_in_use()) + (10 << 20);
    device().allocate(6 << 20).reset();
    EXPECT_NE(device().allocate(8 << 20), nullptr);
    const std::string error = error_of([] { device().allocate(11 << 20); });
    config().device_memory_limit = 0;
    EXPECT_NE(error.find("WEFT_DEVICE_MEMORY_LIMIT"), std::string::npos) << error;
}

// --- copies

TEST_F(CudaTest, CopiesGoThereAndBack) {
    for (const size_t bytes :
         {size_t{1}, size_t{1000}, size_t{65537}, (size_t{4} << 20) + 1, size_t{30} << 20}) {
        std::vector<char> values = numbers(bytes, static_cast<int>(bytes));
        const std::vector<char> expected = values;
        const BufferPtr buffer = device().allocate(bytes);
        device().copy_in(*buffer, 0, values.data(), bytes);
        std::fill(values.begin(), values.end(), 0);  // what was given has been read
        const BufferPtr second = device().allocate(bytes);
        device().copy(*second, 0, *buffer, 0, bytes);
        EXPECT_EQ(read(second), expected) << bytes;
    }
}

TEST_F(CudaTest, PartsAreCopied) {
    const std::vector<char> values = numbers(1000);
    const BufferPtr buffer = device().allocate(3000);
    device().copy_in(*buffer, 500, values.data(), 1000);
    std::vector<char> part(10);
    device().copy_out(part.data(), *buffer, 700, 10);
    EXPECT_EQ(part, std::vector<char>(values.begin() + 200, values.begin() + 210));
}

TEST_F(CudaTest, CopiesWorkWithoutPinnedMemory) {
    CudaDevice second(cuda::driver(), 1);  // one that has copied nothing yet
    control.fail("cuMemHostAlloc", 1, cuda::kOutOfMemory);
    const std::vector<char> values = numbers(size_t{20} << 20);
    {
        const BufferPtr buffer = second.allocate(values.size());
        second.copy_in(*buffer, 0, values.data(), values.size());
        EXPECT_EQ(read(buffer), values);
    }
    second.empty_pool();
}

TEST_F(CudaTest, CopiesBetweenDevicesAreOrderedWithBoth) {
    const std::vector<char> values = numbers(size_t{1} << 20), others = numbers(size_t{1} << 20, 3);
    BufferPtr first = device().allocate(values.size());
    const uint64_t address = first->address();
    device().copy_in(*first, 0, values.data(), values.size());
    const BufferPtr second = cuda_device(1).allocate(values.size());
    cuda_device(1).copy(*second, 0, *first, 0, values.size());
    first.reset();  // its memory is given out again, and written, before anything has run
    first = device().allocate(values.size());
    EXPECT_EQ(first->address(), address);
    device().copy_in(*first, 0, others.data(), others.size());
    EXPECT_EQ(read(first), others);
    EXPECT_EQ(read(second), values);
}

TEST_F(CudaTest, CopiesInWaitForKernelsThatStillUseTheMemory) {
    // The kernel writes into memory that is freed while it is queued, and taken again for a large copy, which
    // goes on another stream.
    const auto kernel = make_kernel(device(), 2);
    control.set_kernel("stub", [](std::span<const uint64_t> words, unsigned, unsigned) {
        std::fill_n(reinterpret_cast<char*>(words[1]), 1 << 20, char{99});
    });
    BufferPtr buffer = device().allocate(1 << 20);
    const uint64_t address = buffer->address();
    device().launch(*kernel, std::vector<ArgumentWord>{1, address}, std::vector<int64_t>{1}, 1, {});
    buffer.reset();
    const std::vector<char> values = numbers(1 << 20);
    buffer = device().allocate(1 << 20);
    ASSERT_EQ(buffer->address(), address);
    device().copy_in(*buffer, 0, values.data(), values.size());
    EXPECT_EQ(read(buffer), values);
}

// --- kernels

TEST_F(CudaTest, LaunchesPassWordsInOrder) {
    const auto kernel = make_kernel(device(), 3);
    std::vector<std::vector<uint64_t>> seen;
    uint64_t threads_in_all = 0;
    control.set_kernel("stub", [&](std::span<const uint64_t> words, unsigned blocks, unsigned threads) {
        seen.emplace_back(words.begin(), words.end());
        threads_in_all = uint64_t{blocks} * threads;
    });
    for (uint64_t k = 0; k < 3; ++k) {
        std::vector<ArgumentWord> words{100000, k, 77};
        device().launch(*kernel, words, std::vector<int64_t>{100000}, 1, {});
        words.assign(3, 0);
    }
    EXPECT_TRUE(seen.empty());  // queued
    device().synchronize();
    EXPECT_EQ(seen, (std::vector<std::vector<uint64_t>>{{100000, 0, 77}, {100000, 1, 77}, {100000, 2, 77}}));
    EXPECT_GT(threads_in_all, 100u);
}

// --- launches together

// What the kernel "stub" saw, one list of words for each time that it ran.
class CudaBatchTest : public CudaTest {
protected:
    void SetUp() override {
        CudaTest::SetUp();
        control.set_kernel("stub", [&](std::span<const uint64_t> words, unsigned, unsigned) {
            seen.emplace_back(words.begin(), words.end());
        });
    }
    void launch(CudaDevice& on, const CompiledKernel& kernel, std::vector<ArgumentWord> words) {
        on.launch(kernel, words, std::vector<int64_t>{1000}, 1, {});
        expected.push_back(std::move(words));
    }
    // `count` launches with words that are others each time.
    void launch_together(CudaDevice& on, const CompiledKernel& kernel, size_t count) {
        const size_t queued = control.queued(on.context().ordinal());
        on.begin_launches();
        for (size_t k = 0; k < count; ++k) launch(on, kernel, {1000, ++turn, k});
        EXPECT_EQ(control.queued(on.context().ordinal()), queued);
        on.end_launches();
    }

    std::vector<std::vector<uint64_t>> seen, expected;
    uint64_t turn = 0;
};

TEST_F(CudaBatchTest, ThoseThatRepeatBecomeAGraph) {
    const auto kernel = make_kernel(device(), 3);
    for (int k = 0; k < 2; ++k) launch_together(device(), *kernel, 6);
    EXPECT_EQ(control.calls("cuGraphLaunch"), 0);
    for (int k = 0; k < 5; ++k) launch_together(device(), *kernel, 6);
    EXPECT_EQ(control.calls("cuGraphInstantiateWithFlags"), 1);
    EXPECT_EQ(control.calls("cuGraphLaunch"), 5);
    EXPECT_EQ(control.calls("cuLaunchKernel"), 12);
    for (int k = 0; k < 5; ++k) launch_together(device(), *kernel, 3);
    EXPECT_EQ(control.calls("cuGraphLaunch"), 5) << "of three launches no graph is made";
    device().synchronize();
    EXPECT_EQ(seen, expected);
}

TEST_F(CudaBatchTest, AnotherKernelIsAnotherGraph) {
    const auto first = make_kernel(device(), 3), second = make_kernel(device(), 3);
    for (int k = 0; k < 5; ++k) {
        for (const auto& last : {first, second}) {
            device().begin_launches();
            for (uint64_t n = 0; n < 4; ++n) launch(device(), n == 3 ? *last : *first, {1000, ++turn, n});
            device().end_launches();
        }
    }
    EXPECT_EQ(control.calls("cuGraphInstantiateWithFlags"), 2);
    EXPECT_EQ(control.calls("cuGraphLaunch"), 6);
    device().synchronize();
    EXPECT_EQ(seen, expected);
}

TEST_F(CudaBatchTest, WhoUsesTheDeviceComesAfterWhatWasCollected) {
    const auto kernel = make_kernel(device(), 2);
    const BufferPtr buffer = device().allocate(100);
    control.set_kernel("stub", [](std::span<const uint64_t> words, unsigned, unsigned) {
        std::fill_n(reinterpret_cast<char*>(words[1]), 100, char{99});
    });
    device().begin_launches();
    device().launch(*kernel, std::vector<ArgumentWord>{1, buffer->address()}, std::vector<int64_t>{1}, 1, {});
    std::vector<char> values;
    std::thread([&] { values = read(buffer); }).join();
    EXPECT_EQ(values, std::vector<char>(100, 99));
    device().copy_in(*buffer, 0, numbers(100).data(), 100);
    device().end_launches();
    EXPECT_EQ(read(buffer), numbers(100));
}

TEST_F(CudaBatchTest, AGraphIsLetGoOfBeforeItsKernelsAre) {
    auto kernel = make_kernel(device(), 3);
    for (int k = 0; k < 4; ++k) launch_together(device(), *kernel, 4);
    EXPECT_EQ(control.calls("cuGraphLaunch"), 2);
    kernel.reset();
    EXPECT_EQ(control.calls("cuGraphExecDestroy"), 1);
    EXPECT_EQ(control.calls("cuGraphDestroy"), 1);
    EXPECT_EQ(seen, expected);
}

TEST_F(CudaBatchTest, WhatTheDriverRefusesOnceIsLaunchedOneByOne) {
    for (const char* symbol : {"cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags",
                               "cuGraphLaunch", "cuGraphExecKernelNodeSetParams_v2", "cuLaunchKernel"}) {
        const auto kernel = make_kernel(device(), 3);
        control.fail(symbol, 1, cuda::kOutOfMemory);
        for (int k = 0; k < 6; ++k) launch_together(device(), *kernel, 5);
        device().synchronize();
        EXPECT_EQ(seen, expected) << symbol;
    }
}

TEST_F(CudaBatchTest, WhatTheDriverRefusesStaysCollected) {
    const auto kernel = make_kernel(device(), 3);
    // Of five the third is refused, again and again: the values of all count as computed.
    control.fail("cuLaunchKernel", 3, cuda::kOutOfMemory, true);
    const std::string error = error_of([&] { launch_together(device(), *kernel, 5); });
    EXPECT_NE(error.find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos) << error;
    EXPECT_EQ(error_of([&] { device().synchronize(); }), error);
    EXPECT_THROW(launch_together(device(), *kernel, 100), OutOfMemoryError) << "not without bound";
    control.succeed();
    device().synchronize();
    EXPECT_EQ(seen, expected);
}

TEST_F(CudaBatchTest, WhatWasCollectedIsNotDroppedWhereTheContextCannotBeEntered) {
    CudaDevice second(cuda::driver(), 1);  // whose context is not current between uses
    const auto kernel = make_kernel(second, 3);
    control.fail("cuCtxPushCurrent_v2", 1, cuda::kInvalidValue);
    EXPECT_THROW(launch_together(second, *kernel, 5), DeviceError);
    EXPECT_TRUE(seen.empty());
    second.synchronize();
    EXPECT_EQ(seen, expected);
}

TEST_F(CudaTest, TheAssemblersMessagesAreInTheError) {
    control.fail("cuLinkAddData_v2", 1, cuda::kInvalidPtx);
    const std::string error = error_of([] { make_kernel(device(), 1); });
    EXPECT_NE(error.find("CUDA_ERROR_INVALID_PTX"), std::string::npos) << error;
    EXPECT_NE(error.find("ptxas error"), std::string::npos) << error;
    control.fail("cuModuleGetFunction", 1, cuda::kNotFound);
    EXPECT_THROW(make_kernel(device(), 1), DeviceError);
    EXPECT_EQ(control.calls("cuModuleUnload"), 1);
}

TEST_F(CudaTest, ModulesAreUnloadedWhenTheirWorkIsDone) {
    auto kernel = make_kernel(device(), 1);
    bool ran = false;
    control.set_kernel("stub", [&](std::span<const uint64_t>, unsigned, unsigned) { ran = true; });
    device().launch(*kernel, std::vector<ArgumentWord>{1}, std::vector<int64_t>{1}, 1, {});
    kernel.reset();
    EXPECT_TRUE(ran);
    EXPECT_EQ(control.calls("cuModuleUnload"), 1);
}

TEST_F(CudaTest, AFaultRuinsTheContextAndSaysSo) {
    CudaDevice ruined(cuda::driver(), 1);
    const BufferPtr buffer = ruined.allocate(1000);
    control.fail("cuEventSynchronize", 1, cuda::kIllegalAddress);
    std::vector<char> bytes(1000, 'x');
    const std::string error = error_of([&] { ruined.copy_out(bytes.data(), *buffer, 0, 1000); });
    EXPECT_NE(error.find("CUDA_ERROR_ILLEGAL_ADDRESS (700)"), std::string::npos) << error;
    EXPECT_NE(error.find("start the process again"), std::string::npos) << error;
    control.reset();  // even if the driver forgot, weft does not
    EXPECT_EQ(error_of([&] { ruined.copy_out(bytes.data(), *buffer, 0, 1000); }), error);
    EXPECT_EQ(error_of([&] { ruined.synchronize(); }), error);
    EXPECT_EQ(bytes, std::vector<char>(1000, 'x'));
}

TEST_F(CudaTest, EveryCallMayFail) {
    // Whatever the driver refuses becomes an error, and afterwards the device works as before.
    const auto work = [&] {
        const auto kernel = make_kernel(device(), 2);
        const std::vector<char> values = numbers(100000);
        const BufferPtr buffer = device().allocate(values.size());
        device().copy_in(*buffer, 0, values.data(), values.size());
        const BufferPtr second = device().allocate(values.size());
        device().launch(*kernel, std::vector<ArgumentWord>{1, buffer->address()}, std::vector<int64_t>{1}, 1,
                        {});
        device().copy(*second, 0, *buffer, 0, values.size());
        EXPECT_EQ(read(second), values);
        device().synchronize();
    };
    work();
    device().empty_pool();
    control.reset();
    work();
    const std::vector<std::string> log = control.log();
    int failures = 0;
    for (size_t k = 0; k < log.size(); ++k) {
        if (log[k] == "cuLinkDestroy" || log[k] == "cuModuleUnload") continue;  // of no consequence
        device().empty_pool();
        control.reset();
        const auto nth = std::count(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(k) + 1, log[k]);
        control.fail(log[k], static_cast<int>(nth), cuda::kInvalidValue);
        failures += error_of(work).find("CUDA_ERROR_INVALID_VALUE") != std::string::npos;
        control.reset();
        work();
    }
    EXPECT_GT(failures, 15);
}

}  // namespace
}  // namespace weft
