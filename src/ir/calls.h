// What a call makes of buffers: alias scopes are a function's own, so those of a callee become scopes of its
// caller. The builder, the verifier and the passes ask here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "ir/ir.h"

namespace weft::ir {

class CallScopes {
public:
    CallScopes(const Function& callee, const Function& caller, std::span<const ValueId> arguments);

    // A type of the callee as it is in the caller. The scope of a parameter becomes that of its argument; any
    // other keeps its number, so that it may overlap what has this number in the caller.
    Type in_caller(Type type) const;
    // Whether parameters of one scope have arguments of one scope.
    bool agree() const { return agree_; }

private:
    std::map<uint16_t, uint16_t> scopes_;
    bool agree_ = true;
};

// Whether the function comes to call itself.
bool is_recursive(const Module& module, const Function& function);
// The functions of the module that it calls, or what these call. Throws InternalError where one is not there.
// Without `lazily` those are left out that are only called so.
std::vector<Function> called_functions(const Module& module, const Function& function, bool lazily = true);
// Calls `visit` with each call and spread in the region, at any depth.
void for_each_call(const Region& region, const std::function<void(const Instruction&)>& visit);

// Whether a value may be where `wanted` is asked for: of a buffer the callee may know less than is known, and
// may promise to write less than is allowed.
bool passes_as(const Type& given, const Type& wanted);

}  // namespace weft::ir
