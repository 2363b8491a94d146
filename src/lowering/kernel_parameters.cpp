#include "lowering/kernel_parameters.h"

#include <string>

namespace weft {

using ir::Builder;
using ir::ValueId;

namespace {

ValueId buffer_parameter(Builder& builder, const BufferForm& buffer, int64_t row, const std::string& name) {
    ir::BufferType type;
    type.element = buffer.element;
    type.alias_scope = buffer.alias_scope;
    type.readonly = buffer.readonly;
    type.streamed = buffer.streamed;
    type.prefetch = buffer.prefetch;
    const int64_t itemsize = DType::of(buffer.element).itemsize();
    const auto add = [&](StrideClass stride) {
        switch (stride) {
            case StrideClass::kZero: type.strides.push_back(0); break;
            case StrideClass::kDynamic: type.strides.push_back(ir::kDynamic); break;
            case StrideClass::kItem: type.strides.push_back(itemsize); break;
            case StrideClass::kMinusItem: type.strides.push_back(-itemsize); break;
            case StrideClass::kRow: type.strides.push_back(row * itemsize); break;
        }
    };
    for (const StrideClass stride : buffer.strides) add(stride);
    for (const StrideClass stride : buffer.computed) add(stride);
    return builder.parameter(ir::Type::of(std::move(type)), name);
}

ValueId integer_parameter(Builder& builder, const std::string& name) {
    return builder.parameter(ir::Type::of(ScalarType::kInt64), name);
}

KernelParameters::Position position_parameter(Builder& builder, const BufferForm& buffer,
                                              const std::string& name) {
    KernelParameters::Position position{integer_parameter(builder, name), {}};
    for (size_t d = 0; d < buffer.strides.size(); ++d) {
        position.strides.push_back(buffer.strides[d] == StrideClass::kDynamic
                                       ? integer_parameter(builder, name + "s" + std::to_string(d))
                                       : ValueId{});
    }
    return position;
}

int sizes_beside_the_grid(const KernelForm& form) {
    switch (form.shape) {
        case KernelShape::kElementwise: return 0;
        case KernelShape::kReduce: return form.collapsed ? 2 : 1;
        case KernelShape::kCombine: return form.outer_rank;
        case KernelShape::kScan: return form.scan->across ? 3 : 1;
        case KernelShape::kProduct: return 3;
        case KernelShape::kCompress: return form.compress->rank - 1;
    }
    return 0;
}

}  // namespace

KernelParameters declare_parameters(Builder& builder, const KernelForm& form) {
    KernelParameters parameters;
    for (int d = 0; d < form.grid_rank; ++d)
        parameters.grid_sizes.push_back(integer_parameter(builder, "n" + std::to_string(d)));
    for (int d = 0; d < sizes_beside_the_grid(form); ++d)
        parameters.reduced_sizes.push_back(integer_parameter(builder, "m" + std::to_string(d)));
    for (size_t k = 0; k < form.inputs.size(); ++k) {
        const InputForm& input = form.inputs[k];
        const std::string name = (input.position ? "position" : "in") + std::to_string(k);
        if (input.position) {
            parameters.positions.push_back(position_parameter(builder, input.buffer, name));
            parameters.inputs.emplace_back();
        } else {
            parameters.positions.emplace_back();
            parameters.inputs.push_back(buffer_parameter(builder, input.buffer, form.row, name));
        }
    }
    for (size_t k = 0; k < form.scalars.size(); ++k) {
        parameters.scalars.push_back(
            builder.parameter(ir::Type::of(form.scalars[k]), "c" + std::to_string(k)));
    }
    for (size_t k = 0; k < form.outputs.size(); ++k) {
        parameters.outputs.push_back(
            buffer_parameter(builder, form.outputs[k].buffer, form.row, "out" + std::to_string(k)));
    }
    return parameters;
}

}  // namespace weft
