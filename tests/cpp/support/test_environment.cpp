// Tests compile what they run: kernels of an earlier run, or of the person at the keyboard, would hide
// faults. Nor do they use a GPU that the machine may have, unless asked to (WEFT_GPU_TESTS): the fake
// driver answers instead.
// They see machine code from the first launch on, unless WEFT_TIER says otherwise.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/config.h"

namespace weft {
namespace {

class TestEnvironment final : public ::testing::Environment {
public:
    void SetUp() override {
        config().cache = false;
        if (std::getenv("WEFT_GPU_TESTS") == nullptr) setenv("WEFT_CUDA_DRIVER", WEFT_FAKE_DRIVER, 1);
        config().set_device("");
        if (std::getenv("WEFT_TIER") == nullptr) config().tier = Tier::kJit;
    }
};

const auto* const kRegistered = ::testing::AddGlobalTestEnvironment(new TestEnvironment);

}  // namespace
}  // namespace weft
