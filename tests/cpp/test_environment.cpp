// Tests compile what they run: kernels of an earlier run, or of the person at the keyboard, would hide
// faults.
#include <gtest/gtest.h>

#include "core/config.h"

namespace weft {
namespace {

class NoKernelCache final : public ::testing::Environment {
public:
    void SetUp() override { config().cache = false; }
};

const auto* const kRegistered = ::testing::AddGlobalTestEnvironment(new NoKernelCache);

}  // namespace
}  // namespace weft
