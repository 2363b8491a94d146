// What compiled code gives functions of this folder, as the library takes it.
#pragma once

#include "device/device.h"
#include "library/linalg/matrices.h"
#include "ops/engine_function.h"

namespace weft::called {

// The elements of an array as those of `type`, where the library may read them: in its place, or a copy.
class Given {
public:
    // `dense`: it has to lie in C order.
    Given(EngineArray array, ScalarType type, bool dense = false);
    explicit Given(const EngineArray& array) : Given(array, array.type) {}
    const EngineArray* operator->() const { return &array_; }
    const EngineArray& operator*() const { return array_; }

private:
    BufferPtr copy_;
    EngineArray array_;
};

// An array that the library fills with elements of `type`: in its place where it lies in C order, or
// elsewhere at first.
class Made {
public:
    Made(const EngineArray& target, ScalarType type);
    explicit Made(const EngineArray& target) : Made(target, target.type) {}
    const EngineArray* operator->() const { return &array_; }
    const EngineArray& operator*() const { return array_; }
    void finish();

private:
    EngineArray target_, array_;
    BufferPtr elsewhere_;
};

// The last two axes are a matrix's, or the last one is a matrix of one column.
lapack::Matrices matrices_of(const EngineArray& array, size_t core = 2);

}  // namespace weft::called
