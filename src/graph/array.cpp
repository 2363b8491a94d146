#include "weft/array.h"

#include "core/shape.h"
#include "graph/storage.h"

namespace weft {

array::array(std::shared_ptr<Storage> storage, DType dtype, Dims shape, Dims strides, int64_t offset,
             bool writeable)
    : storage_(std::move(storage)),
      dtype_(dtype),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      offset_(offset),
      writeable_(writeable) {
    check_shape(shape_, itemsize());
}

bool array::c_contiguous() const { return is_c_contiguous(shape_, strides_, itemsize()); }

bool array::f_contiguous() const { return is_f_contiguous(shape_, strides_, itemsize()); }

void array::set_writeable(bool writeable) {
    if (writeable && !writeable_ && storage_->readonly)
        throw ValueError("cannot set WRITEABLE flag to True of this array");
    writeable_ = writeable;
}

void array::set_layout(Dims shape, Dims strides) {
    check_shape(shape, itemsize());
    shape_ = std::move(shape);
    strides_ = std::move(strides);
}

}  // namespace weft
