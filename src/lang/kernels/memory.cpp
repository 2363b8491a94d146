// shared.array and local.array: views of the memory that a block and a thread have.
#include <algorithm>

#include "lang/kernels/kernels.h"

namespace weft::lang {

using ir::ValueId;

namespace {

// What GPUs of compute capability 9.0 have for a block and for a thread (CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability").
constexpr int64_t kMostOfBlock = 227 << 10, kMostOfThread = 512 << 10;

}  // namespace

bool FunctionLowering::Kernels::makes_arrays(const FunctionSource& function) {
    return std::ranges::any_of(function.symbols, [](const Symbol& symbol) {
        return symbol.path == "weft.cuda.shared.array" || symbol.path == "weft.cuda.local.array";
    });
}

// Of arrays without fields.
ScalarType FunctionLowering::Kernels::element_of(const Value& dtype) const {
    std::string name = dtype.type->kind == TypeKind::kString ? dtype.type->text : "";
    if (dtype.type->kind == TypeKind::kSymbol) name = dtype.type->symbol->path;
    for (const std::string_view kind : {"datetime64", "timedelta64"}) {
        if (name.find(kind) != std::string::npos)
            refuse("() has no dates", "Take int64, which has their numbers: a.view('int64') of an argument.");
    }
    const std::optional<ScalarType> element = f_.dtype_of(dtype, where_);
    if (!element) refuse("() needs a dtype");
    return *element;
}

Value FunctionLowering::Kernels::make_array(PlaceArgument memory, const Arguments& arguments) {
    std::optional<Value> shape, dtype;
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        if (i > 1) refuse("() takes a shape and a dtype");
        (i == 0 ? shape : dtype) = arguments.positional[i];
    }
    for (const auto& [name, value] : arguments.keywords) {
        if (name == "shape") {
            shape = value;
        } else if (name == "dtype" || name == "type") {
            dtype = value;
        } else if (name != "alignment") {
            refuse("() takes no keyword '" + name + "'");
        }
    }
    if (!shape || !dtype) refuse("() takes a shape and a dtype");
    const Layout* const layout =
        dtype->type->kind == TypeKind::kSymbol ? dtype->type->symbol->layout : nullptr;
    const ScalarType element = layout != nullptr ? ScalarType::kUInt8 : element_of(*dtype);
    const int64_t itemsize = layout != nullptr ? layout->size : DType(element).itemsize();
    std::vector<int64_t> sizes;
    // While types are found, a size may be any integer: what is computed of constants is known later.
    const auto add = [&](const Value& size) {
        std::optional<int64_t> known = literal_integer(size.type);
        if (!known && is_integer(size.type) && f_.dry_) known = 1;
        if (!known && is_integer(size.type)) {
            const Fact fact = f_.fact(size.parts[0]);
            if (fact.least == fact.most) known = fact.least;
        }
        if (!known || *known < 0)
            refuse("() needs a shape of constants", "Name a global of integers, or write them here.");
        sizes.push_back(*known);
    };
    if (shape->type->kind == TypeKind::kTuple) {
        for (size_t i = 0; i < shape->type->parts.size(); ++i) add(f_.tuple_item(*shape, i));
    } else {
        add(*shape);
    }
    const int64_t most = memory == PlaceArgument::kBlockMemory ? kMostOfBlock : kMostOfThread;
    int64_t bytes = itemsize;
    for (const int64_t size : sizes) {
        if (size != 0 && bytes > most / size)
            refuse("() of that shape needs more than " + std::to_string(most) +
                   " bytes, the most that there are");
        bytes *= size;
    }
    // Of no elements: what the launch has asked for, in which all such arrays begin at the same place.
    const bool is_dynamic = bytes == 0 && sizes.size() == 1 && memory == PlaceArgument::kBlockMemory;
    const uint16_t scope = memory == PlaceArgument::kBlockMemory ? kBlockMemoryScope : kOwnMemoryScope;
    TypeRef type = array_type(element, static_cast<int>(sizes.size()), !sizes.empty(), false, scope, false,
                              /*ordered=*/true);
    if (layout != nullptr) type = structures_type(layout, type);
    const Value whole = place(memory);
    if (f_.dry_) return {type, std::vector<ValueId>(part_count(type)), 0};
    std::vector<ValueId> counts, strides;
    int64_t stride = itemsize;
    for (size_t d = sizes.size(); d-- > 0;) {
        counts.insert(counts.begin(), index(sizes[d]));
        strides.insert(strides.begin(), index(stride));
        stride *= sizes[d];
    }
    if (is_dynamic) {
        const ValueId dynamic = number(PlacePart::kDynamicBytes, 0);
        counts = {f_.apply(OpId::kFloorDivide, {dynamic, index(itemsize)})};
        return f_.view_as(whole, type, number(PlacePart::kDynamicBytes, kDynamicPlace), counts, strides);
    }
    const ValueId at = index(f_.compilation_.kernel_memory().place_of(memory, &f_.source_, where_, bytes));
    return f_.view_as(whole, type, at, counts, strides);
}

}  // namespace weft::lang
