#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/ordering/counting_sort.h"
#include "weft/ops.h"

namespace weft {

namespace {

struct Positions {
    array result;
    int64_t* data = nullptr;

    Positions(bool wanted, int64_t count) {
        if (!wanted) return;
        BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count) * sizeof(int64_t));
        data = reinterpret_cast<int64_t*>(buffer->data());
        result = array_of(std::move(buffer), ScalarType::kInt64, Dims{count}, Dims{sizeof(int64_t)});
    }
};

}  // namespace

std::optional<Unique> unique_integers(const array& input, bool first, bool counts, bool inverse) {
    const DType dtype = input.dtype();
    if (!(dtype.is_integer() || dtype.is_bool()) || !device_of(input).is_cpu()) return std::nullopt;
    const array dense = input.c_contiguous() && !is_exported(input) ? input : copy(input, 'C');
    const BufferPtr held = evaluate_storage(*dense.storage());
    const IntegerRow row{dtype.scalar_type(), held->data() + dense.offset(), dense.size()};
    const std::optional<KeyRange> range = range_if_dense(row, UniqueIntegers::most_apart(row.count));
    if (!range) return std::nullopt;
    const UniqueIntegers found(row, *range);
    const int64_t count = found.count();
    BufferPtr values = cpu_device().allocate(static_cast<size_t>(count * dtype.itemsize()));
    found.write_values(values->data());
    const Positions firsts(first, count), lengths(counts, count), numbers(inverse, row.count);
    if (first || counts || inverse) found.describe(firsts.data, lengths.data, numbers.data);
    return Unique{array_of(std::move(values), dtype, Dims{count}, Dims{dtype.itemsize()}), firsts.result,
                  lengths.result, numbers.result};
}

}  // namespace weft
