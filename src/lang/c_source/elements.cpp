#include "lang/c_source/elements.h"

#include <algorithm>
#include <utility>

#include "ir/printer.h"
#include "lang/c_source/lowering.h"

namespace weft::lang::c_source {

namespace {

// Of a function of one element: where it is comes as arguments.
class OneElement final : public Surroundings {
public:
    explicit OneElement(bool has_position) : has_position_(has_position) {}
    Number place{ScalarType::kInt64, {}}, count{ScalarType::kInt64, {}};
    std::optional<Number> position(Numbers&) override {
        return has_position_ ? std::optional(place) : std::nullopt;
    }
    std::optional<Number> size(Numbers&) override {
        return has_position_ ? std::optional(count) : std::nullopt;
    }

private:
    bool has_position_;
};

bool uses(const ir::Region& region, ir::ValueId value) {
    return std::ranges::any_of(region.body, [&](const ir::Instruction& instruction) {
        return std::ranges::find(instruction.operands, value) != instruction.operands.end() ||
               std::ranges::any_of(instruction.regions,
                                   [&](const ir::Region& inner) { return uses(inner, value); });
    });
}

class Elements {
public:
    Elements(std::string_view name, const ElementSource& source)
        : name_(name), source_(source), program_(source.preamble, source.types) {
        for (const auto& parameters : {source.inputs, source.outputs}) {
            for (const Parameter& one : parameters) program_.type_names.hidden.push_back(one.name);
        }
        const std::vector<Token> tokens = tokenise(source.body, program_.macros);
        if (source.value) {
            expression_ = parse_expression(tokens, program_.type_names);
        } else {
            body_ = parse_statements(tokens, program_.type_names);
        }
    }

    // A first walk finds what is read, a second one leaves out the rest.
    ElementCode run() {
        ElementCode code;
        code.reads_output.assign(source_.outputs.size(), true);
        code.reads_position = code.reads_size = source_.has_position;
        lower(code);
        lower(code);
        return code;
    }

private:
    void lower(ElementCode& code) {
        ir::Builder builder(name_);
        OneElement around(source_.has_position);
        Lowering lowering(program_, around, builder);
        std::vector<Variable> variables;
        for (const Parameter& input : source_.inputs)
            variables.push_back({input.name, parameter(builder, input.type, input.name), true, "an input"});
        std::vector<ir::ValueId> old_values(source_.outputs.size());
        std::vector<Number> outputs;
        for (size_t k = 0; k < source_.outputs.size(); ++k) {
            const Parameter& output = source_.outputs[k];
            Number before{output.type, {}};
            if (code.reads_output[k]) before = parameter(builder, output.type, output.name);
            old_values[k] = before.id;
            outputs.push_back(before);
        }
        if (code.reads_position) around.place = parameter(builder, ScalarType::kInt64, "i");
        if (code.reads_size) around.count = parameter(builder, ScalarType::kInt64, "n");
        const auto in_body = [&](std::string_view one) {
            return body_ != nullptr ? mentions(*body_, one) : mentions(*expression_, one);
        };
        lowering.declare_constants([&](std::string_view one) { return program_.mentions(in_body, one); });
        lowering.scopes().open();
        for (Variable& one : variables) lowering.scopes().add(std::move(one));
        const size_t first = lowering.scopes().size();
        for (size_t k = 0; k < outputs.size(); ++k) {
            // What nobody reads is nothing; it has a value all the same.
            if (!code.reads_output[k]) outputs[k] = lowering.numbers().zero(outputs[k].type);
            lowering.scopes().add({source_.outputs[k].name, outputs[k]});
        }
        std::vector<ir::ValueId> results;
        std::vector<ir::Type> types;
        if (expression_ != nullptr) {
            const Number value = lowering.value(*expression_);
            results.push_back(lowering.numbers().convert(value, *source_.value, expression_->place).id);
            types.push_back(ir::Type::of(*source_.value));
        } else {
            lowering.kernel(*body_);
            for (size_t k = 0; k < outputs.size(); ++k) {
                results.push_back(lowering.scopes()[first + k].value.id);
                types.push_back(ir::Type::of(outputs[k].type));
            }
        }
        builder.return_values(results);
        ir::Module module;
        module.functions.push_back(builder.finish_function(types));
        module.functions[0].is_kernel = false;
        program_.finish(module);
        const ir::Region& body = module.functions[0].body;
        for (size_t k = 0; k < outputs.size(); ++k)
            code.reads_output[k] = code.reads_output[k] && uses(body, old_values[k]);
        code.reads_position = code.reads_position && uses(body, around.place.id);
        code.reads_size = code.reads_size && uses(body, around.count.id);
        code.ir = ir::print(module);
    }

    static Number parameter(ir::Builder& builder, ScalarType type, const std::string& name) {
        const bool is_name = name.find('(') == name.npos;  // and no "_in_ind.size()"
        return {type, builder.parameter(ir::Type::of(type), is_name ? name : std::string())};
    }

    std::string name_;
    const ElementSource& source_;
    Program program_;
    StatementPtr body_;
    ExpressionPtr expression_;
};

}  // namespace

ScalarType read_type(const ElementSource& source) {
    Program program(source.preamble, source.types);
    // A number of the type is an expression; its type is what is looked for.
    const SourceText value{source.body.title, source.body.text + "()"};
    const std::vector<Token> tokens = tokenise(value, program.macros);
    const ExpressionPtr expression = parse_expression(tokens, program.type_names);
    ir::Builder builder("type");
    Surroundings nothing;
    return Lowering(program, nothing, builder).value(*expression).type;
}

ElementCode lower_elements(std::string_view name, const ElementSource& source) {
    return Elements(name, source).run();
}

}  // namespace weft::lang::c_source
