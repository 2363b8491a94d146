// numpy.einsum and tensordot: sums of products over named axes, as the engine's matrix products where two
// operands share the axes that are summed.
#include <algorithm>
#include <map>

#include "lang/arrays/functions.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr int kNew = -1;      // an axis of one element, for with_axes
constexpr char kRest = '\n';  // in the place of '...'

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

std::string those_of(const std::string& labels, const std::function<bool(char)>& keeps) {
    std::string result;
    std::copy_if(labels.begin(), labels.end(), std::back_inserter(result), keeps);
    return result;
}

}  // namespace

// The axes in another order of their labels; labels that an array does not have become axes of one element.
Value FunctionLowering::ArrayFunctions::in_order(const Labelled& of, const std::string& labels) {
    std::vector<int> axes;
    for (const char label : labels) {
        const size_t at = of.labels.find(label);
        axes.push_back(at == std::string::npos ? kNew : static_cast<int>(at));
    }
    return labels == of.labels || axes.empty() ? of.array : f_.with_axes(of.array, axes);
}

// Equal labels are one axis, of the elements whose indices are equal.
FunctionLowering::ArrayFunctions::Labelled FunctionLowering::ArrayFunctions::diagonals(
    const Value& array, const std::string& labels) {
    std::string own;
    std::vector<ValueId> shape, strides;
    for (size_t d = 0; d < labels.size(); ++d) {
        const size_t at = own.find(labels[d]);
        if (at == std::string::npos) {
            own += labels[d];
            shape.push_back(f_.size_of(array, d));
            strides.push_back(f_.stride_of(array, d));
            continue;
        }
        check_sizes(f_.apply(OpId::kEqual, {shape[at], f_.size_of(array, d)}),
                    std::string("dimensions in single operand for collapsing index '") + labels[d] +
                        "' don't match ({} != {})",
                    {shape[at], f_.size_of(array, d)});
        strides[at] = f_.apply(OpId::kAdd, {strides[at], f_.stride_of(array, d)});
    }
    if (own.size() == labels.size()) return {array, labels};
    return {f_.view(array, f_.integer(0).parts[0], shape, strides, false), own};
}

// Sums over the axes that are not in `kept`.
FunctionLowering::ArrayFunctions::Labelled FunctionLowering::ArrayFunctions::summed(Labelled of,
                                                                                    const std::string& kept) {
    for (size_t d = of.labels.size(); d-- > 0;) {
        if (has(kept, of.labels[d])) continue;
        const Value sum = reduce("sum", of.array, f_.integer(static_cast<int64_t>(d)));
        of.array = array(sum, of.array.type->scalar);
        of.labels.erase(d, 1);
    }
    return of;
}

// With an axis of one element repeated, where it has to have more.
FunctionLowering::ArrayFunctions::Labelled FunctionLowering::ArrayFunctions::repeated(Labelled of, char label,
                                                                                      ValueId wanted) {
    std::vector<ValueId> shape = shape_of(of.array), strides;
    const size_t at = of.labels.find(label);
    for (size_t d = 0; d < shape.size(); ++d) strides.push_back(f_.stride_of(of.array, d));
    const ValueId is_whole = f_.apply(OpId::kEqual, {shape[at], wanted});
    strides[at] = f_.apply(OpId::kSelect, {is_whole, strides[at], f_.integer(0).parts[0]});
    shape[at] = wanted;
    const bool contiguous = of.array.type->contiguous && at + 1 < shape.size();
    of.array = f_.view(of.array, f_.integer(0).parts[0], shape, strides, contiguous);
    return of;
}

FunctionLowering::ArrayFunctions::Labelled FunctionLowering::ArrayFunctions::contracted(
    Labelled left, Labelled right, const std::string& kept) {
    left = summed(left, kept + right.labels);
    right = summed(right, kept + left.labels);
    std::vector<ValueId> batch;
    for (const char label : left.labels) {
        if (!has(right.labels, label)) continue;
        const ValueId size = f_.size_of(left.array, left.labels.find(label));
        const ValueId other = f_.size_of(right.array, right.labels.find(label));
        const ValueId one = f_.integer(1).parts[0];
        ValueId fits = f_.apply(OpId::kEqual, {size, other}), both_have = size;
        if (name_ != "tensordot") {
            const ValueId is_one = f_.apply(OpId::kEqual, {size, one});
            fits = f_.apply(OpId::kLogicalOr, {fits, is_one});
            fits = f_.apply(OpId::kLogicalOr, {fits, f_.apply(OpId::kEqual, {other, one})});
            both_have = f_.apply(OpId::kSelect, {is_one, other, size});
        }
        check_sizes(fits,
                    name_ == "tensordot"
                        ? std::string("shape-mismatch for sum: an axis of {} elements beside one of {}")
                        : std::string("operands could not be broadcast together: '") + label +
                              "' has {} and {} elements",
                    {size, other});
        if (has(kept, label)) {
            batch.push_back(both_have);
        } else if (name_ != "tensordot") {
            left = repeated(std::move(left), label, both_have);
            right = repeated(std::move(right), label, both_have);
        }
    }
    const std::string both =
        those_of(left.labels, [&](char c) { return has(right.labels, c) && has(kept, c); });
    const std::string sums =
        those_of(left.labels, [&](char c) { return has(right.labels, c) && !has(kept, c); });
    const auto of_one = [&](const Labelled& each, const Labelled& other) {
        return those_of(each.labels, [&](char c) { return !has(other.labels, c); });
    };
    const std::string rows = of_one(left, right), columns = of_one(right, left);
    const std::string labels = both + rows + columns;
    if (sums.empty()) {
        return {array(operate(OpId::kMultiply, {in_order(left, labels), in_order(right, labels)})), labels};
    }
    // The summed axes last, as one.
    const auto factor = [&](const Labelled& each, const std::string& own) {
        const Value ordered = in_order(each, both + own + sums);
        if (sums.size() == 1) return ordered;
        std::vector<Value> sizes;
        ValueId count = f_.integer(1).parts[0];
        for (size_t d = 0; d < ordered.type->rank; ++d) {
            if (d < both.size() + own.size()) {
                sizes.push_back(whole(f_.size_of(ordered, d)));
            } else {
                count = f_.apply(OpId::kMultiply, {count, f_.size_of(ordered, d)});
            }
        }
        sizes.push_back(whole(count));
        return f_.reshaped(f_.ravelled(ordered, where_), std::move(sizes), where_);
    };
    const auto places = [&](const std::string& own) {
        std::vector<size_t> result;
        for (size_t d = 0; d < own.size(); ++d) result.push_back(both.size() + d);
        return result;
    };
    const Value found = product(factor(left, rows), factor(right, columns), batch, places(rows),
                                both.size() + rows.size(), places(columns), both.size() + columns.size());
    return {is_array(found.type) ? found : array(found), labels};
}

Value FunctionLowering::ArrayFunctions::einsum() {
    if (given_.positional.size() < 2)
        f_.fail(where_, "einsum() takes a text and arrays in a compiled function");
    std::string subscripts = those_of(text(given_.positional[0], ""), [](char c) { return c != ' '; });
    Value out = f_.none();
    for (const auto& [keyword, value] : given_.keywords) {
        if (keyword == "out") {
            out = value;
        } else if (keyword != "optimize") {
            f_.fail(where_, "einsum() takes no keyword '" + keyword + "' in a compiled function");
        }
    }
    // The axes of '...' have digits for labels, from the last one on.
    for (size_t at = 0; (at = subscripts.find("...", at)) != std::string::npos; ++at)
        subscripts.replace(at, 3, 1, kRest);
    const size_t arrow = subscripts.find("->");
    std::vector<std::string> parts(1);
    for (const char each : subscripts.substr(0, arrow)) {
        if (each == ',') {
            parts.emplace_back();
        } else if (std::isalpha(static_cast<unsigned char>(each)) != 0 || each == kRest) {
            parts.back() += each;
        } else {
            f_.fail(where_, std::string("einsum() has no subscript '") + each + "'");
        }
    }
    if (parts.size() + 1 != given_.positional.size())
        f_.fail(where_, "einsum() is given " + std::to_string(given_.positional.size() - 1) +
                            " operands, and its subscripts are of " + std::to_string(parts.size()));
    std::string others;  // the labels of '...' in the result
    const auto spelled = [&](std::string labels, size_t count) {
        const size_t at = labels.find(kRest);
        if (at == std::string::npos) return labels;
        std::string digits;
        for (size_t d = count; d-- > 0;) digits += static_cast<char>('0' + d);
        if (digits.size() > others.size()) others = digits;
        return labels.replace(at, 1, digits);
    };
    std::vector<Value> arrays;
    for (size_t k = 0; k < parts.size(); ++k) {
        arrays.push_back(array(given_.positional[k + 1]));
        const size_t rank = arrays[k].type->rank, named = parts[k].size();
        if (has(parts[k], kRest) && rank + 1 < named)
            f_.fail(where_, "einstein sum subscripts string contains too many subscripts for operand " +
                                std::to_string(k));
        parts[k] = spelled(parts[k], rank + 1 - named);
    }
    std::map<char, int> counts;
    for (const std::string& part : parts) {
        for (const char label : part) ++counts[label];
    }
    std::string kept = others;
    if (arrow == std::string::npos) {
        for (const auto& [label, count] : counts) {
            if (count == 1 && std::isdigit(static_cast<unsigned char>(label)) == 0) kept += label;
        }
    } else {
        kept = spelled(subscripts.substr(arrow + 2), others.size());
        if (!others.empty() && !has(kept, '0'))
            f_.fail(where_, "output has subscripts that do not have the '...' of the operands");
        for (const char label : kept) {
            if (counts.count(label) == 0 || std::count(kept.begin(), kept.end(), label) > 1)
                f_.fail(where_, std::string("einstein sum subscripts string included output subscript '") +
                                    label +
                                    (counts.count(label) == 0 ? "' which never appeared in an input"
                                                              : "' multiple times"));
        }
    }
    std::vector<Labelled> operands;
    for (size_t k = 0; k < parts.size(); ++k) {
        const Value& operand = arrays[k];
        if (operand.type->rank != parts[k].size())
            f_.fail(where_, "einstein sum subscripts string '" + parts[k] +
                                "' is of another number of axes than " + lang::describe(operand.type));
        operands.push_back(diagonals(operand, parts[k]));
    }
    Labelled result = operands[0];
    for (size_t k = 1; k < operands.size(); ++k) {
        std::string needed = kept;
        for (size_t later = k + 1; later < operands.size(); ++later) needed += operands[later].labels;
        result = contracted(result, operands[k], needed);
    }
    result = summed(result, kept);
    return stored(element_or_array(in_order(result, kept)), out);
}

Value FunctionLowering::ArrayFunctions::tensordot() {
    const std::vector<Value> given = bind("a b axes?");
    const Value left = array(given[0]), right = array(given[1]);
    std::vector<int64_t> of_left, of_right;
    const auto known = [&](const Value& value) {
        const std::optional<int64_t> number = literal_integer(value.type);
        if (!number)
            f_.fail(where_, "the axes of tensordot() have to be known when the function is compiled",
                    "Write numbers, or a default that calls leave out.");
        return *number;
    };
    const auto read = [&](const Value& value, std::vector<int64_t>& into, size_t rank) {
        if (value.type->kind == TypeKind::kTuple) {
            for (size_t i = 0; i < value.type->parts.size(); ++i)
                into.push_back(known(f_.tuple_item(value, i)));
        } else {
            into.push_back(known(value));
        }
        for (int64_t& each : into) {
            const auto most = static_cast<int64_t>(rank);
            if (each < -most || each >= most)
                f_.fail(where_,
                        "tensordot() has no axis " + std::to_string(each) + " of " + std::to_string(rank));
            if (each < 0) each += most;
        }
    };
    if (given[2].type->kind == TypeKind::kTuple) {
        if (given[2].type->parts.size() != 2) f_.fail(where_, "tensordot() takes a pair of axes");
        read(f_.tuple_item(given[2], 0), of_left, left.type->rank);
        read(f_.tuple_item(given[2], 1), of_right, right.type->rank);
    } else {
        const int64_t count = is_none(given[2]) ? 2 : known(given[2]);
        const auto rank = static_cast<int64_t>(left.type->rank);
        if (count < 0 || count > rank || count > static_cast<int64_t>(right.type->rank))
            f_.fail(where_, "tensordot() sums over " + std::to_string(count) + " axes, which " +
                                lang::describe(left.type) + " and " + lang::describe(right.type) +
                                " do not have");
        for (int64_t d = 0; d < count; ++d) {
            of_left.push_back(rank - count + d);
            of_right.push_back(d);
        }
    }
    if (of_left.size() != of_right.size()) f_.fail(where_, "shape-mismatch for sum");
    std::string rows, columns;
    char next = 'a';
    for (size_t d = 0; d < left.type->rank; ++d) rows += next++;
    for (size_t d = 0; d < right.type->rank; ++d) {
        const auto at = std::find(of_right.begin(), of_right.end(), static_cast<int64_t>(d));
        columns += at == of_right.end()
                       ? next++
                       : rows[static_cast<size_t>(of_left[static_cast<size_t>(at - of_right.begin())])];
    }
    const std::string kept = those_of(rows, [&](char c) { return !has(columns, c); }) +
                             those_of(columns, [&](char c) { return !has(rows, c); });
    return element_or_array(in_order(contracted({left, rows}, {right, columns}, kept), kept));
}

std::optional<Value> FunctionLowering::ArrayFunctions::call_contraction() {
    if (name_ == "einsum") return einsum();
    if (name_ == "tensordot") return tensordot();
    return std::nullopt;
}

}  // namespace weft::lang
