// Accesses of a kernel's threads to memory that others have, told to the race checker (jit/race_checker.h).
#include <algorithm>

#include "lang/kernels/kernels.h"

namespace weft::lang {

using ir::ValueId;

bool FunctionLowering::Kernels::tells() const {
    return f_.compilation_.options().tells_accesses && !f_.dry_ && !f_.compilation_.is_entry(f_.target_);
}

void FunctionLowering::Kernels::tell_event(ThreadEvent event, std::vector<ValueId> payload) {
    if (!tells()) return;
    for (const PlacePart part : {PlacePart::kThread, PlacePart::kBlock}) {
        for (size_t axis = 0; axis < 3; ++axis) payload.push_back(number(part, axis));
    }
    f_.raise_deferred();
    Site told = f_.site({}, {});
    told.kind = SiteKind::kEvent;
    told.event = event;
    told.function = f_.spot(where_).function;
    told.node = f_.spot(where_).node;
    told.payload = static_cast<int>(payload.size());
    f_.builder_->tell(f_.compilation_.add_site(std::move(told)), std::move(payload));
}

void FunctionLowering::Kernels::tell_access(ThreadEvent event, const Element& element,
                                            std::optional<ValueId> value) {
    if (!tells()) return;
    const TypeRef array = element.array.type;
    ValueId address = f_.builder_->address(element.array.parts[0]);
    for (size_t d = 0; d < array->rank; ++d)
        address = f_.apply(
            OpId::kAdd,
            {address, f_.apply(OpId::kMultiply, {element.indices[d], f_.stride_of(element.array, d)})});
    tell_memory(event, array, address, value);
}

void FunctionLowering::Kernels::tell_memory(ThreadEvent event, TypeRef array, ValueId address,
                                            std::optional<ValueId> value) {
    // What a thread has allocated is its own, and the next thread's afterwards.
    if (!tells() || array->scope == kOwnMemoryScope || array->owned) return;
    const int64_t bytes = DType(array->scalar).itemsize();
    std::vector<ValueId> payload{address, index(bytes), index(array->scope == kBlockMemoryScope ? 1 : 0)};
    if (value) payload.push_back(*value);
    tell_event(event, std::move(payload));
}

}  // namespace weft::lang
