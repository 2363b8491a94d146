// The stand-in for the CUDA driver as tests reach it: opened once, in place of the machine's driver.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "stand_in.h"

namespace weft {

inline stand_in::Control& stand_in_driver() {
    static stand_in::Control* const control = [] {
        void* library = dlopen(WEFT_STAND_IN, RTLD_NOW | RTLD_LOCAL);
        EXPECT_NE(library, nullptr) << dlerror();
        return reinterpret_cast<stand_in::Control* (*)()>(dlsym(library, "weft_stand_in"))();
    }();
    return *control;
}

// Each test begins with a driver that answers as it should.
class StandInTest : public ::testing::Test {
protected:
    void SetUp() override { control.reset(); }
    void TearDown() override { control.reset(); }

    stand_in::Control& control = stand_in_driver();
};

}  // namespace weft
