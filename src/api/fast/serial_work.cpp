#include "api/fast/serial_work.h"

#include "device/cpu/grid_cut.h"
#include "graph/operand.h"

namespace weft {

namespace {

constexpr int64_t kOfFew = 8;  // times as many elements, whatever the operation

}  // namespace

bool is_below_serial_cutoff(const OpInfo* op, int64_t elements) {
    const int64_t cost = op == nullptr ? 3 : 1 + op->nin + op->nout + op->cost;  // as a kernel's point
    return is_small((elements - 1) / kOfFew + 1) && GridCut::is_one_task(elements, cost);
}

bool lies_as(const array& one, const array& other) {
    if (!(one.shape() == other.shape())) return false;
    for (size_t d = 0; d < one.shape().size(); ++d) {
        if (one.strides()[d] * other.itemsize() != other.strides()[d] * one.itemsize()) return false;
    }
    return true;
}

}  // namespace weft
