// What functions are refused for in more than one place.
#include "lang/containers/literal_lists.h"
#include "lang/lowering.h"

namespace weft::lang {

// With the line where the function's parameters are.
void FunctionLowering::refuse_arguments(NodeId where, const FunctionSource& callee,
                                        const std::string& what) const {
    std::vector<std::pair<Spot, std::string>> others;
    if (!callee.is_prelude) others.push_back({{&callee, 0}, callee.name + "() is"});
    throw CompileError(render(spot(where), what, others));
}

void FunctionLowering::refuse_missing(const Symbol& symbol, NodeId where) const {
    const size_t dot = symbol.name.rfind('.');
    const bool is_attribute = dot != std::string::npos;
    const std::string owner = symbol.name.substr(0, is_attribute ? dot : 0);
    const std::string help =
        is_attribute ? "dir(" + owner + ") lists what it has." : "Assign it, or import it.";
    fail(where,
         is_attribute ? "'" + owner + "' has no attribute '" + symbol.name.substr(dot + 1) + "'"
                      : "name '" + symbol.name + "' is not defined",
         symbol.path.empty() ? help : "Is '" + symbol.path + "' meant?");
}

// `where` is a[i], or a statement or call that changes a.
void FunctionLowering::expect_writeable(TypeRef array, NodeId where) const {
    if (!array->readonly) return;
    NodeId at = where;
    while (node(at).kind != NodeKind::kName && !node(at).children.empty()) at = node(at).children[0];
    const bool has_name = node(at).kind == NodeKind::kName && !source_.is_prelude;
    const std::string name = has_name ? variable(static_cast<size_t>(node(at).number)) : "a";
    fail(where,
         (has_name ? "array '" + name + "' is read-only" : "the array is read-only") +
             std::string(" (Cannot modify readonly array of type: ") + lang::describe(array) + ")",
         "Give the function a copy: np.array(" + name + ").");
}

void FunctionLowering::expect_items(TypeRef type, NodeId where) const {
    if (is_strided(type)) return;
    if (is_literal_list(type)) fail(where, "Cannot mutate a literal list: its elements are of several types");
    fail(where, "items of " + lang::describe(type) + " cannot be assigned in a compiled function",
         "Make an array or a list of it.");
}

void FunctionLowering::expect_index(TypeRef type, NodeId where) const {
    if (is_integer(type) && !is_bool(type)) return;
    if (is_array(type)) fail(where, "an array is no index here", "Write a loop over the indices.");
    fail(where, "an index is an integer or a slice here, not " + lang::describe(type),
         is_float(type) || is_bool(type) ? "Convert it by int(...), or divide by //." : "Index by numbers.");
}

void FunctionLowering::refuse_many_indices(size_t rank, size_t count, NodeId where) const {
    const std::string given = std::to_string(count);
    fail(where,
         "too many indices for array: array is " + std::to_string(rank) + "-dimensional, but " + given +
             " were indexed",
         "Leave " + std::to_string(count - rank) + " out, or give an array of " + given + " dimensions.");
}

}  // namespace weft::lang
