#include "api/ordering/fast_interpolate.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "api/fast/fast_call.h"
#include "core/shape.h"
#include "graph/operand.h"
#include "graph/storage_locks.h"
#include "library/ordering/search_loops.h"

namespace weft {

namespace {

constexpr ScalarType kType = ScalarType::kFloat64;

// A row of float64 whose storage is locked and at hand.
struct Row {
    const char* data;
    int64_t stride, length;

    explicit Row(const array& value)
        : data(value.storage()->current.buffer->data() + value.offset()),
          stride(value.strides()[0]),
          length(value.shape()[0]) {}
    double operator[](int64_t i) const {
        double element;
        std::memcpy(&element, data + i * stride, sizeof element);
        return element;
    }
};

bool are_points(const array& xp, const array& fp) {
    return xp.ndim() == 1 && fp.ndim() == 1 && xp.dtype() == DType(kType) && fp.dtype() == DType(kType) &&
           xp.shape() == fp.shape() && xp.shape()[0] >= 2 && is_small(xp.shape()[0]);
}

// `place`: how many points lie at `x` or before it.
double between(const Row& xp, const Row& fp, double x, int64_t place) {
    const int64_t last = xp.length - 1, k = std::clamp<int64_t>(place - 1, 0, last - 1);
    const double left = xp[k], right = xp[k + 1], from = fp[k], to = fp[k + 1];
    const double slope = (to - from) / (right - left);
    double result = slope * (x - left) + from;
    if (result != result) result = slope * (x - right) + to;  // where one side is infinite
    if (result != result && from == to) result = from;
    if (x == left) result = from;
    if (x == xp[last]) result = fp[last];
    if (x != x) result = x;
    if (x < xp[0]) result = fp[0];
    if (x > xp[last]) result = fp[last];
    return result;
}

}  // namespace

bool interpolate_at_hand(const array& x, const array& xp, const array& fp, array& result) {
    int64_t stride = 0;
    const int64_t count = x.size(), itemsize = sizeof(double);
    if (!are_points(xp, fp) || x.ndim() == 0 || count == 0 || !is_small(count) ||
        !(x.dtype() == DType(kType)) || !single_stride(x, stride) || stride != itemsize)
        return false;
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(count * itemsize));
    std::vector<int64_t> places(static_cast<size_t>(count));
    StorageLocks locks;
    for (const array* each : {&x, &xp, &fp}) locks.add(*each->storage());
    locks.lock();
    if (!locks.all_at_hand()) return false;
    const Row from(xp), to(fp);
    const char* const wanted = x.storage()->current.buffer->data() + x.offset();
    search_sorted(kType, from.data, from.stride, from.length, wanted, count, true, places.data());
    for (int64_t i = 0; i < count; ++i) {
        double place;
        std::memcpy(&place, wanted + i * itemsize, sizeof place);
        const double value = between(from, to, place, places[static_cast<size_t>(i)]);
        std::memcpy(buffer->data() + i * itemsize, &value, sizeof value);
    }
    locks.unlock();
    result =
        array(make_storage(std::move(buffer)), kType, x.shape(), c_strides(x.shape(), itemsize), 0, true);
    return true;
}

bool interpolate_at_hand(double x, const array& xp, const array& fp, double& result) {
    if (!are_points(xp, fp)) return false;
    StorageLocks locks;
    for (const array* each : {&xp, &fp}) locks.add(*each->storage());
    locks.lock();
    if (!locks.all_at_hand()) return false;
    const Row from(xp), to(fp);
    int64_t place = 0;
    search_sorted(kType, from.data, from.stride, from.length, reinterpret_cast<const char*>(&x), 1, true,
                  &place);
    result = between(from, to, x, place);
    return true;
}

}  // namespace weft
