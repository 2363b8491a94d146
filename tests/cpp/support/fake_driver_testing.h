// The fake CUDA driver as tests reach it: opened once, in place of the machine's driver.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "fake_driver.h"

namespace weft {

inline fake_driver::Control& fake_driver_control() {
    static fake_driver::Control* const control = [] {
        void* library = dlopen(WEFT_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
        EXPECT_NE(library, nullptr) << dlerror();
        return reinterpret_cast<fake_driver::Control* (*)()>(dlsym(library, "weft_fake_driver"))();
    }();
    return *control;
}

// Each test begins with a driver that answers as it should.
class FakeDriverTest : public ::testing::Test {
protected:
    void SetUp() override { control.reset(); }
    void TearDown() override { control.reset(); }

    fake_driver::Control& control = fake_driver_control();
};

}  // namespace weft
