// Structures: a variable for each number in one, and an array for each number in an array of them.
#include <algorithm>
#include <array>
#include <utility>

#include "lang/c_source/lowering.h"
#include "ops/op.h"

namespace weft::lang::c_source {

using ir::ValueId;

namespace {

constexpr size_t kMostNumbers = 256;  // of a structure that is copied

}  // namespace

std::optional<Lowering::Member> Lowering::member_of(const CStructure& structure, std::string_view name) {
    for (const StatementPtr& declaration : structure.members) {
        for (const Declarator& one : declaration->names) {
            if (one.name != name) continue;
            if (one.pointers != 0 || one.is_reference)
                throw OutsideSubset(one.place, "pointers in structures are outside of the subset");
            Member result{.type = program_.full_type(declaration->type)};
            if (!result.type.is_number() && result.type.structure == nullptr)
                throw OutsideSubset(one.place, "pointers in structures are outside of the subset");
            if (!one.extents.empty()) result.sizes = sizes_of(one, result.type);
            return result;
        }
    }
    return {};
}

void Lowering::add_leaves(const std::string& name, const CStructure& structure,
                          const std::vector<int64_t>& sizes) {
    for (const StatementPtr& declaration : structure.members) {
        for (const Declarator& one : declaration->names) {
            const Member member = *member_of(structure, one.name);
            std::vector<int64_t> all = sizes;
            all.insert(all.end(), member.sizes.begin(), member.sizes.end());
            const std::string path = name + "." + one.name;
            if (member.type.structure != nullptr) {
                add_leaves(path, *member.type.structure, all);
                continue;
            }
            Variable leaf{.name = path};
            if (all.empty()) {
                leaf.value = numbers_.zero(member.type.scalar);
            } else {
                leaf.value.type = member.type.scalar;
                leaf.array = allocate_array(path, member.type.scalar, std::move(all));
            }
            scopes_.add(std::move(leaf));
        }
    }
}

// A variable of any type but pointers, whose numbers are 0.
size_t Lowering::declare(const std::string& name, const CType& type, std::vector<int64_t> sizes,
                         bool is_constant, std::string why_constant) {
    Variable variable{.name = name, .is_constant = is_constant, .why_constant = std::move(why_constant)};
    variable.type = type;
    if (type.structure == nullptr) {
        variable.value = sizes.empty() ? numbers_.zero(type.scalar) : Number{type.scalar, {}};
        if (!sizes.empty()) variable.array = allocate_array(name, type.scalar, std::move(sizes));
        return scopes_.add(std::move(variable));
    }
    variable.structure = type.structure;
    if (!sizes.empty()) variable.array = OwnArray{.buffer = {}, .sizes = sizes};
    const size_t root = scopes_.add(std::move(variable));
    add_leaves(name, *type.structure, sizes);
    scopes_[root].leaves = scopes_.size() - root - 1;
    return root;
}

void Lowering::for_each_leaf(const Target& of, const std::function<void(const Target&)>& visit) {
    if (!of.sizes.empty()) {
        // An array in a structure: each of its elements.
        const int64_t size = of.sizes.front();
        for (int64_t k = 0; k < size; ++k) {
            Target one = of;
            one.sizes.erase(one.sizes.begin());
            ir::Builder& builder = numbers_.builder();
            const ValueId position = builder.index(k);
            one.offset =
                of.offset ? added(builder.apply(OpId::kMultiply, {*of.offset, builder.index(size)}), position)
                          : position;
            for_each_leaf(one, visit);
        }
        return;
    }
    if (of.type.structure == nullptr) {
        visit(of);
        return;
    }
    for (const StatementPtr& declaration : of.type.structure->members) {
        for (const Declarator& one : declaration->names) for_each_leaf(member(of, one.name, of.place), visit);
    }
}

std::vector<Number> Lowering::leaves_of(const Target& target) {
    std::vector<Number> result;
    for_each_leaf(target, [&](const Target& leaf) {
        if (result.size() == kMostNumbers)
            throw OutsideSubset(target.place, "a structure that is copied has " +
                                                  std::to_string(kMostNumbers) + " numbers at most");
        result.push_back(load(leaf));
    });
    return result;
}

void Lowering::set_leaves(const Target& target, std::span<const Number> values) {
    size_t k = 0;
    for_each_leaf(target, [&](const Target& leaf) { store(leaf, values[k++]); });
}

Target Lowering::temporary(const CStructure& of, std::span<const Number> values, const Place& place) {
    const std::string name = "temporary " + std::to_string(temporaries_++);  // that no program can name
    const size_t root = declare(name, {.scalar = ScalarType::kInt32, .structure = &of}, {});
    const Target result = target_of_variable(root, place);
    if (!values.empty()) set_leaves(result, values);
    return result;
}

// What a member, or an element of an array, begins with.
void Lowering::set_member(const Target& target, const Expression& given) {
    if (!target.sizes.empty()) {
        if (given.kind != ExpressionKind::kList)
            throw OutsideSubset(given.place, "the values of an array stand in braces");
        fill(target, given);
        return;
    }
    if (target.type.structure == nullptr) {
        const bool is_list = given.kind == ExpressionKind::kList;
        if (is_list && given.operands.size() != 1)
            throw OutsideSubset(given.place, "a number is made of one number");
        const Expression& one = is_list ? *given.operands[0] : given;
        store(target, numbers_.convert(value(one), target.type.scalar, one.place));
        return;
    }
    set_leaves(target, structure_value(given, *target.type.structure));
}

// {1, 2}, by the order of the members; the others are 0.
void Lowering::set_members(const Target& target, const Expression& list) {
    const CStructure& of = *target.type.structure;
    size_t k = 0;
    for (const StatementPtr& declaration : of.members) {
        for (const Declarator& one : declaration->names) {
            const Target place = member(target, one.name, list.place);
            if (k < list.operands.size()) {
                set_member(place, *list.operands[k++]);
            } else if (one.initial != nullptr) {
                set_member(place, *one.initial);
            }
        }
    }
    if (k < list.operands.size())
        throw OutsideSubset(list.operands[k]->place, "a " + of.name + " has not so many members");
}

std::vector<Number> Lowering::structure_value(const Expression& expression, const CStructure& of) {
    const auto is_it = [&](const CType& type) { return type.structure == &of && type.pointers == 0; };
    const auto refuse = [&] {
        throw OutsideSubset(expression.place, "a " + of.name + " is wanted here, and this is none");
    };
    const bool has_constructor =
        std::ranges::any_of(of.functions, [](const CFunction& one) { return one.is_constructor; });
    switch (expression.kind) {
        case ExpressionKind::kList:
        case ExpressionKind::kCast: {
            if (expression.kind == ExpressionKind::kCast && !is_it(program_.full_type(expression.type)))
                refuse();
            if (has_constructor) return construct(of, expression.operands, expression.place).leaves;
            const bool is_copy = expression.operands.size() == 1 && is_it(shape(*expression.operands[0])) &&
                                 expression.operands[0]->kind != ExpressionKind::kList;
            if (is_copy) return structure_value(*expression.operands[0], of);
            if (expression.kind == ExpressionKind::kCast && expression.text != "{" &&
                !expression.operands.empty())
                refuse();
            const Target made = temporary(of, {}, expression.place);
            set_members(made, expression);
            return leaves_of(made);
        }
        case ExpressionKind::kConditional: {
            const Target made = temporary(of, {}, expression.place);
            const ValueId condition =
                numbers_.truth(value(*expression.operands[0]), expression.operands[0]->place);
            std::set<std::string> names;
            for (const size_t k : {1, 2})
                add_assigned(*expression.operands[k], program_.function_names, names);
            names.insert(scopes_[made.root].name);
            const auto one = [&](size_t which) {
                return [&, which] {
                    set_leaves(made, structure_value(*expression.operands[which], of));
                    return numbers_.zero(ScalarType::kBool);
                };
            };
            either(condition, scopes_.of_names(names), one(1), one(2));
            return leaves_of(made);
        }
        case ExpressionKind::kBinary:
        case ExpressionKind::kUnary:
            if (expression.text == ",") {
                run(*expression.operands[0]);
                return structure_value(*expression.operands[1], of);
            }
            if (const std::optional<Value> made = call_operator(expression)) {
                if (!is_it(made->type)) refuse();
                return made->leaves;
            }
            break;
        case ExpressionKind::kAssign: {
            const std::optional<Target> place = target(*expression.operands[0]);
            if (!place || !is_it(place->type)) refuse();
            run(expression);
            return leaves_of(*place);
        }
        case ExpressionKind::kCall:
        case ExpressionKind::kMember: {
            if (expression.kind == ExpressionKind::kMember && expression.after) break;
            const Value made =
                expression.kind == ExpressionKind::kCall ? call(expression, false) : call_method(expression);
            if (!is_it(made.type)) refuse();
            return made.leaves;
        }
        default: break;
    }
    if (!is_it(shape(expression))) {
        // A constructor of one argument converts.
        if (!has_constructor) refuse();
        Value given = argument(expression);
        std::vector<Value> arguments;
        arguments.push_back(std::move(given));
        const std::optional<Program::Chosen> chosen = choose(of.name, {}, arguments, expression.place, &of);
        if (!chosen) refuse();
        const Target made = temporary(of, {}, expression.place);
        put_in_place(*chosen, std::move(arguments), made, expression.place);
        return leaves_of(made);
    }
    const std::optional<Target> place = target(expression);
    if (!place) refuse();
    return leaves_of(*place);
}

// As C lays it out.
int64_t Lowering::size_in_bytes(const CType& type, int64_t& alignment) {
    if (type.pointers != 0) {
        alignment = 8;
        return 8;
    }
    if (type.structure == nullptr) {
        const DType dtype(type.scalar);
        alignment = dtype.is_complex() ? dtype.itemsize() / 2 : dtype.itemsize();
        return dtype.itemsize();
    }
    int64_t size = 0, most = 1;
    for (const StatementPtr& declaration : type.structure->members) {
        for (const Declarator& one : declaration->names) {
            const Member member = *member_of(*type.structure, one.name);
            int64_t inner = 1;
            int64_t bytes = size_in_bytes(member.type, inner);
            for (const int64_t extent : member.sizes) bytes *= extent;
            size = (size + inner - 1) / inner * inner + bytes;
            most = std::max(most, inner);
        }
    }
    alignment = most;
    return std::max<int64_t>(1, (size + most - 1) / most * most);
}

}  // namespace weft::lang::c_source
