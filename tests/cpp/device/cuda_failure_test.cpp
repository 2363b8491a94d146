// What holds when the driver fails: nothing is handed out that queued work may still write into, nothing is
// left behind, and what failed once can be done again.
#include <string>
#include <vector>

#include "device/devices.h"
#include "support/gpu_device_testing.h"

namespace weft {
namespace {

class CudaFailureTest : public CudaTest {
protected:
    static std::string error_of_copy_in(const Buffer& to, const std::vector<char>& values) {
        return error_of([&] { device().copy_in(to, 0, values.data(), values.size()); });
    }
    // Writes the byte 99 into all of the buffer, later.
    void fill(const Buffer& buffer) {
        if (kernel == nullptr) {
            control.set_kernel("stub", [](std::span<const uint64_t> words, unsigned, unsigned) {
                std::fill_n(reinterpret_cast<char*>(words[1]), words[2], char{99});
            });
            kernel = make_kernel(device(), 3);
        }
        device().launch(*kernel, std::vector<ArgumentWord>{1, buffer.address(), buffer.size()},
                        std::vector<int64_t>{1}, 1, {});
    }
    std::shared_ptr<const cuda::CudaKernel> kernel;
};

TEST_F(CudaFailureTest, WhatCannotBeInitialisedAtFirstIsInitialisedLater) {
    for (const char* symbol : {"cuInit", "cuDriverGetVersion", "cuDeviceGetCount"}) {
        std::string reason;
        control.reset();
        control.fail(symbol, symbol == std::string("cuDriverGetVersion") ? 2 : 1, cuda::kSystemNotReady);
        EXPECT_EQ(cuda::open_driver(WEFT_FAKE_DRIVER, reason), nullptr) << symbol;
        EXPECT_NE(reason.find("nvidia-fabricmanager"), std::string::npos) << reason;
        EXPECT_NE(cuda::open_driver(WEFT_FAKE_DRIVER, reason), nullptr) << symbol;
    }
}

TEST_F(CudaFailureTest, ADeviceThatCannotBeOpenedLeavesNothing) {
    const int64_t objects = control.live_objects();
    for (const char* symbol : {"cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuDeviceGetAttribute"}) {
        for (const int nth : {1, 2}) {
            control.reset();
            control.fail(symbol, nth, cuda::kInvalidValue);
            error_of([] { const CudaDevice second(cuda::driver(), 1); });
            EXPECT_EQ(control.live_objects(), objects) << symbol << " " << nth;
        }
    }
}

TEST_F(CudaFailureTest, ADeviceWhoseContextIsRuinedAsItIsOpenedIsLost) {
    control.fail("cuStreamCreate", 1, cuda::kEccUncorrectable);
    const std::string error = error_of([] { const CudaDevice second(cuda::driver(), 1); });
    EXPECT_NE(error.find("is lost"), std::string::npos) << error;
    EXPECT_NE(error.find("start the process again"), std::string::npos) << error;
}

TEST_F(CudaFailureTest, ErrorsSayWhereAndWhatToDo) {
    const BufferPtr buffer = device().allocate(100);
    control.fail("cuMemcpyHtoDAsync_v2", 1, cuda::kInvalidValue);
    std::string error = error_of_copy_in(*buffer, numbers(100));
    EXPECT_NE(error.find("on cuda:0: CUDA_ERROR_INVALID_VALUE (1)"), std::string::npos) << error;
    EXPECT_NE(error.find("try again"), std::string::npos) << error;
    control.fail("cuMemcpyHtoDAsync_v2", 1, cuda::kOutOfMemory);
    EXPECT_THROW(device().copy_in(*buffer, 0, numbers(100).data(), 100), OutOfMemoryError);
    control.fail("cuMemcpyHtoDAsync_v2", 1, cuda::kDriverMismatch);
    error = error_of_copy_in(*buffer, numbers(100));
    EXPECT_NE(error.find("start the machine again"), std::string::npos) << error;
}

// --- memory

TEST_F(CudaFailureTest, WhatCannotBeFreedIsCountedOnce) {
    device().empty_pool();
    device().allocate(1 << 20).reset();
    device().allocate(3 << 20).reset();
    const size_t pooled = device().bytes_pooled();
    control.fail("cuMemFree_v2", 1, cuda::kInvalidValue);
    EXPECT_THROW(device().empty_pool(), DeviceError);
    EXPECT_EQ(device().bytes_pooled(), pooled);
    device().empty_pool();
    EXPECT_EQ(device().bytes_pooled(), 0u);
    EXPECT_EQ(control.live_bytes(0), device().bytes_in_use());
}

TEST_F(CudaFailureTest, AFailedCopyInHasEndedBeforeItsMemoryIsUsedAgain) {
    // It goes on a stream of its own; where its end cannot be told to the kernels' stream, it is waited for.
    const std::vector<char> values = numbers(1 << 20);
    for (const char* symbol : {"cuEventRecord", "cuStreamWaitEvent"}) {
        BufferPtr buffer = device().allocate(values.size());
        const uint64_t address = buffer->address();
        control.fail(symbol, 1, cuda::kInvalidValue, true);
        EXPECT_NE(error_of_copy_in(*buffer, values), "") << symbol;
        control.succeed();
        buffer.reset();
        buffer = device().allocate(values.size());
        ASSERT_EQ(buffer->address(), address);
        fill(*buffer);
        device().synchronize();
        EXPECT_EQ(read(buffer), std::vector<char>(values.size(), 99)) << symbol;
    }
}

TEST_F(CudaFailureTest, APieceOfAFailedCopyIsNotWrittenWhileItTravels) {
    const std::vector<char> first = numbers(40000), second = numbers(40000, 7);
    const BufferPtr one = device().allocate(first.size()), other = device().allocate(first.size());
    for (int k = 0; k < 3; ++k)
        device().copy_in(*one, 0, first.data(), first.size());  // all pieces were used
    control.fail("cuEventRecord", 1, cuda::kInvalidValue);
    EXPECT_NE(error_of_copy_in(*one, second), "");
    std::vector<char> bytes(first.size());
    for (int k = 0; k < 3; ++k) device().copy_in(*other, 0, first.data(), first.size());
    EXPECT_EQ(read(one), second) << "its bytes were in the piece, and it was queued";
    EXPECT_EQ(read(other), first);
}

TEST_F(CudaFailureTest, PiecesForCopiesAreMadeOnce) {
    CudaDevice second(cuda::driver(), 1);
    const int64_t objects = control.live_objects();
    const std::vector<char> values = numbers(1000);
    const BufferPtr buffer = second.allocate(values.size());
    for (const int nth : {3, 4, 5}) {
        control.reset();
        control.fail("cuEventCreate", nth, cuda::kInvalidValue);
        error_of([&] { second.copy_in(*buffer, 0, values.data(), values.size()); });
    }
    control.reset();
    second.copy_in(*buffer, 0, values.data(), values.size());
    EXPECT_EQ(read(buffer), values);
    EXPECT_EQ(control.live_objects(), objects + 3 + 5) << "three pieces and five events";
}

TEST_F(CudaFailureTest, WorkOfOthersIsWaitedForWhereItCannotBeOrdered) {
    const BufferPtr buffer = device().allocate(100);
    control.fail("cuStreamWaitEvent", 1, cuda::kInvalidValue);
    EXPECT_THROW(device().wait_for_stream(kDefaultStream), DeviceError);
    EXPECT_EQ(control.calls("cuCtxSynchronize"), 0);
    device().copy_in(*buffer, 0, numbers(100).data(), 100);
    EXPECT_EQ(control.calls("cuCtxSynchronize"), 1) << "before its memory is used again";
    device().copy_in(*buffer, 0, numbers(100).data(), 100);
    EXPECT_EQ(control.calls("cuCtxSynchronize"), 1) << "once";
    EXPECT_EQ(read(buffer), numbers(100));

    control.fail("cuCtxSynchronize", 1, cuda::kInvalidValue);
    EXPECT_THROW(device().synchronize_with_others(), DeviceError);
    device().synchronize();
    EXPECT_EQ(control.calls("cuCtxSynchronize"), 3);
}

TEST_F(CudaFailureTest, OthersThatCannotBeToldToWaitFindAllDone) {
    const BufferPtr buffer = device().allocate(1000);
    fill(*buffer);
    control.fail("cuStreamWaitEvent", 1, cuda::kInvalidValue);
    device().make_stream_wait(kDefaultStream);
    EXPECT_EQ(control.queued(0), 0u);
    fill(*buffer);
    control.fail("cuStreamWaitEvent", 1, cuda::kInvalidValue);
    control.fail("cuStreamSynchronize", 1, cuda::kInvalidValue);
    EXPECT_THROW(device().make_stream_wait(kDefaultStream), DeviceError);
}

TEST_F(CudaFailureTest, AForeignOwnerKeepsItsMemoryUntilAllIsDone) {
    auto owner = std::make_shared<std::vector<char>>(1000);
    const std::weak_ptr<void> watched = owner;
    const BufferPtr memory = device().allocate(owner->size());
    BufferPtr shared =
        device().wrap(reinterpret_cast<char*>(memory->address()), owner->size(), std::move(owner));
    fill(*shared);
    control.fail("cuStreamSynchronize", 1, cuda::kInvalidValue);
    shared.reset();
    EXPECT_FALSE(watched.expired()) << "a kernel may still write into it";
    device().synchronize();
    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(read(memory), std::vector<char>(1000, 99));
}

TEST_F(CudaFailureTest, CopiesBetweenDevicesAreWaitedForWhereTheyCannotBeOrdered) {
    CudaDevice& other = cuda_device(1);
    const std::vector<char> values = numbers(100000);
    const BufferPtr source = device().allocate(values.size());
    device().copy_in(*source, 0, values.data(), values.size());
    const BufferPtr target = other.allocate(values.size());
    other.copy(*target, 0, *source, 0, values.size());  // the link is asked for
    control.reset();
    control.fail("cuEventRecord", 2, cuda::kInvalidValue);  // the one behind the copy
    EXPECT_NE(error_of([&] { other.copy(*target, 0, *source, 0, values.size()); }), "");
    EXPECT_EQ(control.queued(1), 0u) << "it reads memory that may be freed now";
    other.copy(*target, 0, *source, 0, values.size());
    fill(*source);
    EXPECT_EQ(read(target), values);
    other.empty_pool();
}

// --- kernels

TEST_F(CudaFailureTest, AKernelThatFindsNoMemoryGetsThePools) {
    for (const char* symbol :
         {"cuModuleLoadDataEx", "cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete"}) {
        device().allocate(1 << 20).reset();
        control.reset();
        control.fail(symbol, 1, cuda::kOutOfMemory);
        EXPECT_NE(make_kernel(device(), 1), nullptr) << symbol;
        EXPECT_EQ(control.calls("cuMemFree_v2"), 1) << symbol;
        EXPECT_EQ(device().bytes_pooled(), 0u);
        control.fail(symbol, 1, cuda::kOutOfMemory);  // nothing is left to give back
        EXPECT_THROW(make_kernel(device(), 1), OutOfMemoryError) << symbol;
    }
}

TEST_F(CudaFailureTest, AFaultWhileAKernelIsLoadedIsRemembered) {
    CudaDevice ruined(cuda::driver(), 1);
    control.fail("cuModuleLoadDataEx", 1, cuda::kIllegalAddress);
    const std::string error = error_of([&] { make_kernel(ruined, 1); });
    EXPECT_NE(error.find("is lost"), std::string::npos) << error;
    EXPECT_TRUE(ruined.is_lost());
    control.reset();
    EXPECT_EQ(error_of([&] { ruined.synchronize(); }), error);
}

TEST_F(CudaFailureTest, TimesThatCannotBeToldAreNoErrors) {
    for (const char* symbol :
         {"cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime"}) {
        control.reset();
        const std::unique_ptr<Stopwatch> good = device().start_stopwatch();
        good->stop();
        EXPECT_TRUE(good->read().has_value());
        control.fail(symbol, 1, cuda::kInvalidValue, true);
        const std::unique_ptr<Stopwatch> watch = device().start_stopwatch();
        if (watch == nullptr) continue;  // none can be started
        watch->stop();
        EXPECT_FALSE(watch->read().has_value()) << symbol;
    }
}

}  // namespace
}  // namespace weft
