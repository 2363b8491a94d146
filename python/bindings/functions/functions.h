// What the functions of several topics share.
#pragma once

#include "engine/numpy_version.h"
#include "objects/objects.h"
#include "ops/resolve.h"

namespace weft::python {

/// The array that a result goes to; an invalid one for None. Throws TypeError for what is no array.
array to_out(nb::handle out);
/// What positions beyond an axis mean: 'raise', 'wrap' or 'clip'.
TakeMode to_take_mode(nb::handle mode);
/// Where elements of `dtype` are written that were chosen. Beside NumPy 2.5 they are cast to what `out` has,
/// with a warning between kinds; before, the other way has to be safe.
class TakenOutput {
public:
    TakenOutput(array out, DType dtype) : out_(std::move(out)), dtype_(dtype) {
        casts_ = out_.valid() && out_.dtype() != dtype && is_numpy_2_5();
        if (casts_ && !can_cast(dtype, out_.dtype(), Casting::kSameKind))
            deprecated_in_numpy_2_5(
                "Implicit casting of output to a different kind is deprecated. In a future version, this "
                "will "
                "result in an error. (Deprecated NumPy 2.5)");
    }
    template <class Write>
    array write(Write&& write) const {
        if (!casts_) return write(out_);
        const array values = empty(out_.shape(), dtype_);
        write(values);
        assign(out_, values, Casting::kUnsafe);
        return out_;
    }

private:
    array out_;
    DType dtype_;
    bool casts_ = false;
};

/// A dtype, or the type of a value, as np.result_type takes them.
OperandType operand_type(nb::handle object);

}  // namespace weft::python
