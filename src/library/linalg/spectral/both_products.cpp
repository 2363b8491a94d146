#include "library/linalg/spectral/both_products.h"

#include "core/processor.h"

namespace weft::lapack {

template <class T>
BothProducts<T> both_products() {
    switch (processor_level()) {
        case ProcessorLevel::kX86V4: return both_products_avx512(T());
        case ProcessorLevel::kX86V3: return both_products_avx2(T());
        case ProcessorLevel::kX86V2: break;
    }
    return nullptr;
}

template BothProducts<float> both_products();
template BothProducts<double> both_products();

}  // namespace weft::lapack
