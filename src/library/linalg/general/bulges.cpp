#include "library/linalg/general/bulges.h"

#include "core/processor.h"

namespace weft::lapack {

template <class T>
ChaseBulges<T> chase_bulges() {
    switch (processor_level()) {
        case ProcessorLevel::kX86V4: return chase_bulges_avx512(T());
        case ProcessorLevel::kX86V3: return chase_bulges_avx2(T());
        case ProcessorLevel::kX86V2: break;
    }
    return nullptr;
}

template ChaseBulges<float> chase_bulges();
template ChaseBulges<double> chase_bulges();

}  // namespace weft::lapack
