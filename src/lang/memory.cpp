// Who uses the memory that a function allocates. A variable that is bound to an array counts as a user, and
// so does a value that nobody has kept yet. What is left where a function raises is given back by its frame.
#include <algorithm>

#include "lang/lowering.h"

namespace weft::lang {

using ir::ValueId;

void FunctionLowering::count_owners(const Value& value, bool retains) {
    if (dry_ || !has_owner(value.type)) return;
    switch (value.type->kind) {
        case TypeKind::kStructures:
        case TypeKind::kArray:
            if (retains) {
                builder_->retain(owner_of(value));
            } else {
                builder_->release(owner_of(value));
            }
            return;
        case TypeKind::kList:
            if (retains) {
                builder_->retain(value.parts[1]);
            } else {
                builder_->release(value.parts[1]);
            }
            return;
        case TypeKind::kOptional:
        case TypeKind::kMaybe:  // what is unbound has no owner
            count_owners({value.type->parts[0], {value.parts.begin() + 1, value.parts.end()}}, retains);
            return;
        case TypeKind::kClosure:
        case TypeKind::kGenerator:
        case TypeKind::kTogether:
        case TypeKind::kFormat:
        case TypeKind::kRecord:
        case TypeKind::kTuple:
            for (size_t i = 0; i < value.type->parts.size(); ++i) count_owners(tuple_item(value, i), retains);
            return;
        default: return;
    }
}

Value FunctionLowering::kept(Value value) {
    if (!has_owner(value.type)) return value;
    if (!value.fresh) {
        count_owners(value, true);
        return value;
    }
    value.fresh = false;
    if (!dry_) {
        const auto found =
            std::find_if(temporaries_.begin(), temporaries_.end(), [&](const Value& temporary) {
                return temporary.type == value.type && temporary.parts == value.parts;
            });
        if (found != temporaries_.end()) {
            temporaries_.erase(found);
        } else {
            count_owners(value, true);
        }
    }
    return value;
}

void FunctionLowering::release(Value& variable) {
    if (variable.type != nullptr) count_owners(variable, false);
}

void FunctionLowering::add_temporary(const Value& value) {
    if (!dry_ && has_owner(value.type)) temporaries_.push_back(value);
}

void FunctionLowering::end_temporaries(size_t from) {
    if (dry_) return;
    const bool ended = builder_->has_ended();
    while (temporaries_.size() > from) {
        if (!ended) count_owners(temporaries_.back(), false);
        temporaries_.pop_back();
    }
}

void FunctionLowering::release_dropped(const Environment& inner, const std::function<bool(size_t)>& stays) {
    if (dry_) return;
    for (size_t v = 0; v < inner.size(); ++v) {
        if (!stays(v)) count_owners(inner[v], false);
    }
}

}  // namespace weft::lang
