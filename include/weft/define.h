// Operations of the program's own: element-wise functions that are recorded, fused and compiled as those of
// the op table are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/dtype.h"

namespace weft {

struct OpInfo;
struct ReductionInfo;

/// One way to compute an operation. `ir` is kernel IR (docs/reference/kernel-ir.md), whose first function
/// takes the scalars of one element and gives one or more scalars. `outputs` are types that its results are
/// cast to; without any, results are of the function's own types.
struct DefinedLoop {
    std::string ir;
    std::vector<ScalarType> outputs = {};
};

/// An operation for weft::call (weft/ops.h). Loops are tried in their order: the first whose inputs are those
/// of the call, or else the first to which they can be cast safely. `identity`, which is 0, 1 or -1, is what
/// a reduction of no elements gives.
///
/// Operations live as long as the process; one that is like an earlier one is that one. The kernel IR may
/// have branches, loops and calls, but raises no errors, and needs no memory.
///
/// Throws ValueError for wrong IR, for loops that differ in their numbers of operands and for more than 16
/// operands, and NotImplementedError for IR that kernels do not run.
///
///     const weft::OpInfo& lerp = weft::define_operation("lerp", std::vector<weft::DefinedLoop>{{R"(
///         function @lerp(%a: f64, %b: f64, %t: f64) : f64 {
///           %width = subtract %b, %a
///           %step = multiply %t, %width
///           %y = add %a, %step
///           return %y
///         })"}});
///     weft::array y = weft::call(lerp, std::vector<weft::Argument>{a, b, 0.5})[0];
const OpInfo& define_operation(std::string_view name, std::span<const DefinedLoop> loops,
                               std::optional<int64_t> identity = {}, std::string_view doc = {});

/// A reduction for weft::reduce (weft/ops.h), which combines partial results by `ir`: a function of two
/// scalars of one type that gives a third. The order of combination depends on the shape alone. Partial
/// results begin with `start`, an element's bytes, so `start` has to be an identity of the function. Elements
/// of other types are cast to that of the function. `allows_empty`: a reduction of no elements gives `start`,
/// and does not throw ValueError.
///
/// Throws as define_operation does.
const ReductionInfo& define_reduction(std::string_view name, std::string_view ir, const void* start,
                                      bool allows_empty = true);

}  // namespace weft
