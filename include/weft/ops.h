// What can be done with arrays: every operation of the op table by name or number, reductions, views,
// creation.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "weft/array.h"

namespace weft {

struct OpInfo;
struct ReductionInfo;

// ---- element-wise operations ----

struct CallOptions {
    std::span<const array> out;     // empty, or one for each result; an invalid array is "none"
    std::optional<Argument> where;  // a boolean array; elsewhere `out` keeps its values
    std::optional<DType> dtype;     // computation dtype, as in NumPy's ufuncs
    Casting casting = Casting::kSameKind;
    char order = 'K';
};

std::vector<array> call(const OpInfo& op, std::span<const Argument> inputs, const CallOptions& options = {});
array call_unary(const OpInfo& op, const Argument& input);
array call_binary(const OpInfo& op, const Argument& left, const Argument& right);
// a += b and its kin: writes into `target`'s view, same_kind casting.
void call_in_place(const OpInfo& op, const array& target, const Argument& right);

// ---- reductions ----

struct ReduceOptions {
    std::optional<Dims> axes;  // absent: all; negative ones allowed; an empty list reduces nothing
    std::optional<DType> dtype;
    bool keepdims = false;
    std::optional<Argument> initial;
    std::optional<Argument> where;
    array out;  // invalid: a new array
};

array reduce(const ReductionInfo& reduction, const array& input, const ReduceOptions& options = {});
array reduce(std::string_view name, const array& input, const ReduceOptions& options = {});

// ---- running results ----

struct AccumulateOptions {
    std::optional<DType> dtype;  // to compute in; without it, NumPy's choice
    array out;                   // invalid: a new array
};

// Along `axis`: the first element, the first two combined by `op`, the first three, and so on.
array accumulate(const OpInfo& op, const array& input, int64_t axis, const AccumulateOptions& options = {});

// ---- creation ----

array empty(const Shape& shape, DType dtype = {}, char order = 'C');
array full(const Shape& shape, const Argument& value, std::optional<DType> dtype = {}, char order = 'C');
array arange(const Argument& start, const Argument& stop, const Argument& step,
             std::optional<DType> dtype = {});
array linspace(double start, double stop, int64_t count = 50, bool endpoint = true, DType dtype = {});
array eye(int64_t rows, int64_t columns, int64_t diagonal, DType dtype, char order = 'C');
array scalar(DType dtype, const void* bytes);  // 0-d
array from_argument(const Argument& value, std::optional<DType> dtype = {});
// Copies `shape` elements at `data` with byte strides.
array copy_in(const void* data, DType dtype, const Dims& shape, const Dims& strides);
// Shares foreign memory, whose first element is at `data`; `release` is called when the last user is gone.
array share(void* data, DType dtype, const Dims& shape, const Dims& strides, bool writeable,
            std::function<void()> release);
array empty_like(const array& prototype, std::optional<DType> dtype, char order, std::optional<Dims> shape,
                 std::string_view device = {});

// ---- views: no data moves ----

struct Slice {
    std::optional<int64_t> start, stop, step;
};
struct NewAxis {};
struct Ellipsis {};
using Index = std::variant<int64_t, Slice, NewAxis, Ellipsis, array>;  // an array of integers or bools

// A view, but with arrays among the indices a copy: elements at the positions that these name together, after
// they are broadcast. An array of bools stands for the positions, along as many axes as it has dimensions, at
// which it is true. Throws IndexError.
array index(const array& input, std::span<const Index> indices);
// target[indices] = value. Where arrays of integers name an element several times, it takes the last value.
// Throws IndexError before anything is written.
void assign_at(const array& target, std::span<const Index> indices, const Argument& value);
// The positions of elements that are not zero, along each axis, in C order. Throws ValueError for an array
// without dimensions.
std::vector<array> nonzero(const array& input);
array transpose(const array& input, std::span<const int64_t> axes);  // empty: reversed
array swapaxes(const array& input, int64_t first, int64_t second);
array squeeze(const array& input, std::optional<Dims> axes);
array expand_dims(const array& input, const Dims& axes);
array broadcast_to(const array& input, const Shape& shape);  // read-only
array flip(const array& input, std::optional<Dims> axes);
array view(const array& input, DType dtype);
array real(const array& input);  // a view
array imag(const array& input);  // a view; of a real array: zeros, read-only
array diagonal(const array& input, int64_t offset, int64_t axis1, int64_t axis2);  // read-only view
// Any view of the array's memory from its first element on. Throws ValueError where it would leave that
// memory.
array strided_view(const array& input, const Dims& shape, const Dims& strides);
// A view where strides allow it, else a copy; one extent may be -1. order: C, F or A.
array reshape(const array& input, const Shape& shape, char order = 'C', std::optional<bool> copy = {});
array ravel(const array& input, char order = 'C');

// ---- reading and writing at computed positions: copies ----

// What positions beyond an axis mean: an error; counted on around the axis; the nearest one there is.
enum class TakeMode : uint8_t { kRaise, kWrap, kClip };

// The subarrays at `indices` along `axis`; without one, elements of the flattened array.
array take(const array& input, const array& indices, std::optional<int64_t> axis, TakeMode mode,
           const array& out = {});
// The element at indices[i] along `axis` and at i along the others, which broadcast.
array take_along_axis(const array& input, const array& indices, int64_t axis);
// What take_along_axis reads becomes `value`, which broadcasts to the result's shape.
void put_along_axis(const array& target, const array& indices, const Argument& value, int64_t axis);

// ---- order: computed at the call ----

// Along `axis`; NaN last, complex numbers by their real part first. Equal elements keep their order.
array sort(const array& input, int64_t axis);
// The positions along `axis` in the order of their elements, int64; equal elements keep their order.
array argsort(const array& input, int64_t axis);
// Where each of `values` belongs in a sorted array of one dimension and the same dtype: before equal
// elements, or with `right` behind them.
array searchsorted(const array& sorted, const array& values, bool right);
// How often each of 0, 1, ... is in an int64 array of one dimension, or the sums of their float64 weights
// (none: invalid); of `least` numbers at least. Throws ValueError for negative ones.
array bincount(const array& input, const array& weights, int64_t least);

// ---- moving and converting ----

array copy(const array& input, char order = 'K');
array astype(const array& input, DType dtype, char order = 'K', Casting casting = Casting::kUnsafe,
             bool copy = true);
void assign(const array& target, const Argument& value,
            Casting casting = Casting::kUnsafe);  // target[...] = value
void assign_where(const array& target, const Argument& value, const Argument& where,
                  Casting casting);  // np.copyto
array concatenate(std::span<const array> inputs, std::optional<int64_t> axis, std::optional<DType> dtype,
                  Casting casting, const array& out);
array stack(std::span<const array> inputs, int64_t axis, std::optional<DType> dtype, Casting casting,
            const array& out);
bool may_share_memory(const array& first, const array& second);
bool shares_memory(const array& first, const array& second);  // exact, on strided intervals

// ---- observing ----

void eval(std::span<const array> arrays);
bool evaluated(const array& input);  // no work is pending for it
// Evaluates, and pins the storage: from here to release, operations on it run eagerly and in place.
class MemoryPin;
class HostView {
public:
    HostView();
    explicit HostView(const array& input, bool for_writing = false);
    HostView(HostView&&) noexcept;
    HostView& operator=(HostView&&) noexcept;
    ~HostView();
    char* data() const { return data_; }  // of the view's first element

private:
    std::unique_ptr<MemoryPin> pin_;
    char* data_ = nullptr;
};
// One element, at C-order multi-index `position` (an empty one for 0-d), copied into `bytes` (16 at most).
void read_element(const array& input, std::span<const int64_t> position, void* bytes);
void copy_out(const array& input, void* destination);  // C order, dense
// The only element as `dtype`: array::item (weft/array.h).
void read_item(const array& input, DType dtype, void* bytes);
// What Python's bool() says. Throws ValueError for several elements or none.
bool truth_of(const array& input);
void check_is_scalar(const array& input);  // throws TypeError for an array with dimensions

std::string explain(std::span<const array> arrays);

struct KernelRecord {
    std::string name;  // for people: "multiply_add f64" and so on
    std::string ir;    // text form of the kernel IR
    double seconds = 0;
    double compile_seconds = 0;  // 0 when it was compiled before
    int64_t bytes_read = 0, bytes_written = 0;
    int64_t bytes_streamed = 0;  // of those written: by non-temporal stores
    int64_t elements = 0;
    int operations = 0;    // nodes of the graph that it computes
    bool compiled = true;  // false: the vectorised interpreter began it (docs/internals/tiers.md)
    std::string device = "cpu";
    std::string fallback;  // why the CPU did what was the device's: bytes are those moved there and back
};
std::vector<KernelRecord> kernel_history();
void clear_kernel_history();

}  // namespace weft
