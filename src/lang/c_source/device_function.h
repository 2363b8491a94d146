// Functions in CUDA C++ that kernels in Python call, where they lie within the subset: their code stands in
// the place of the call.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/builder.h"
#include "lang/c_source/syntax/source.h"
#include "weft/dtype.h"

namespace weft::lang::c_source {

struct DeviceArgument {
    ScalarType type = ScalarType::kFloat64;
    bool is_pointer = false;  // `value` is a buffer of such, whose elements lie side by side
    ir::ValueId value{};
    ir::ValueId size{};  // how many
};

/// What its caller has to do with what it reads and writes. `argument` counts the given ones.
struct DeviceAccess {
    size_t argument = 0;
    ir::ValueId position{};
    std::optional<ir::ValueId> written{};  // the value
    bool is_atomic = false;
    std::string_view where;  // "'a', in functions.cu, line 3"
};

struct DeviceFunction {
    std::string name;
    std::optional<ScalarType> result{};
    bool tells_status = false;  // and writes its result to where its first parameter points
    std::function<void(const DeviceAccess&)> access;  // comes before each
};

struct DeviceResults {
    std::optional<ir::ValueId> status{}, result{};
};

/// Whether the text has a function of this name.
bool has_function(const SourceText& source, std::string_view name);

/// Throws OutsideSubset.
DeviceResults call_device_function(ir::Builder& builder, const SourceText& source,
                                   const DeviceFunction& function, std::span<const DeviceArgument> arguments);

}  // namespace weft::lang::c_source
