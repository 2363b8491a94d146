// weft::ElementwiseKernel: bodies within the subset are operations of the program's own, one for each
// combination of dtypes.
#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "api/kernels/cuda_kernels.h"
#include "api/kernels/cuda_text.h"
#include "api/kernels/parameters.h"
#include "api/kernels/raw_elements.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/placement.h"
#include "lang/c_source/elements.h"
#include "ops/op.h"
#include "weft/c_kernels.h"
#include "weft/define.h"
#include "weft/errors.h"
#include "weft/ops.h"

namespace weft {

namespace {

namespace c_source = lang::c_source;

/// One combination of dtypes.
struct Variant {
    std::vector<DType> inputs;
    std::string text;
    const OpInfo* op = nullptr;
    c_source::ElementCode code;
    bool needs_input = false;  // it reads nothing, and operations have an input
};

std::vector<c_source::Parameter> with_types(std::span<const CKernelParameter> parameters,
                                            std::span<const DType> types) {
    std::vector<c_source::Parameter> result;
    for (size_t k = 0; k < parameters.size(); ++k)
        result.push_back({parameters[k].name, types[k].scalar_type(), parameters[k].is_raw});
    return result;
}

/// The function's text, with an input that it does not read.
std::string with_input(const std::string& ir) {
    const size_t open = ir.find('(');
    return ir.substr(0, open + 1) + "%unread: i64" + ir.substr(open + 1);
}

}  // namespace

class ElementwiseKernel::Parts {
public:
    Parts(std::string_view inputs, std::string_view outputs, std::string_view body,
          const KernelOptions& given)
        : inputs_(read_kernel_parameters(inputs)),
          outputs_(read_kernel_parameters(outputs)),
          body_(body),
          options_(given) {
        check_kernel_names(options_.name, inputs_, outputs_);
        const auto is_raw = [](const CKernelParameter& one) { return one.is_raw; };
        // Position, size and the outputs' old values are operands, too.
        needs_memory_ = std::ranges::any_of(inputs_, is_raw) || std::ranges::any_of(outputs_, is_raw) ||
                        inputs_.size() + 2 * outputs_.size() + 2 > static_cast<size_t>(kMaxOperands);
    }

    std::vector<array> call(std::span<const Argument> given, const Call& how) {
        if (how.block_size <= 0)
            throw ValueError("block_size is " + std::to_string(how.block_size) + ", and is 1 at least");
        const KernelArguments arguments = read_kernel_arguments(options_.name, inputs_, outputs_, given);
        const Dims shape = shape_of(arguments, how.size);
        const KernelTypes types = kernel_types(inputs_, outputs_, arguments);
        check_outputs(arguments, shape, how.size.has_value());
        DeviceBackend& device = device_of_kernel(options_.name, arguments);
        std::vector<array> results;
        const std::string reason = refusals_.try_without(types.key(), device, [&] {
            check_loop();
            results = needs_memory_ ? raw_.run(options_.name, source_of(types), arguments, types, shape)
                                    : run(variant_for(types), arguments, types, shape);
        });
        return reason.empty() ? results : run_cuda(reason, arguments, types, shape, device, how);
    }

    const std::vector<CKernelParameter>& inputs() const { return inputs_; }
    const std::vector<CKernelParameter>& outputs() const { return outputs_; }
    const std::string& name() const { return options_.name; }
    KernelCodes codes() const {
        const std::lock_guard lock(mutex_);
        KernelCodes result;
        for (const auto& [_, one] : variants_) result.emplace_back(one->inputs, one->text);
        return result;
    }

private:
    void check_loop() const {
        for (const auto& [code, where] :
             {std::pair(&options_.before_loop, "before"), std::pair(&options_.after_loop, "after")}) {
            if (code->find_first_not_of(" \t\r\n") == code->npos) continue;
            const c_source::SourceText text{
                "the code " + std::string(where) + " the loop of " + options_.name, *code};
            throw c_source::OutsideSubset({&text, 0}, "code around the loop is outside of the subset");
        }
    }

    std::vector<array> run_cuda(const std::string& reason, const KernelArguments& arguments,
                                const KernelTypes& types, const Dims& shape, DeviceBackend& device,
                                const Call& how) {
        const DeviceScope scope(device);
        const c_source::ElementSource source = source_of(types);
        const TakenArguments taken(source.inputs, source.outputs, arguments, types, shape);
        const int64_t count = element_count(shape);
        if (count == 0) return taken.results();
        const auto text = [&] {
            CudaElements kernel;
            kernel.name = options_.name;
            kernel.preamble = options_.preamble;
            kernel.types = types.names();
            kernel.inputs = source.inputs;
            kernel.outputs = source.outputs;
            for (const Taken& one : taken.all()) kernel.arguments.push_back(one.how);
            kernel.before = options_.before_loop;
            kernel.body = body_;
            kernel.after = options_.after_loop;
            return text_of(kernel);
        };
        CudaKernels::Launch launch{.name = options_.name, .reason = reason, .options = options_.options};
        launch.sizes = {count};
        launch.blocks = std::min<int64_t>((count + how.block_size - 1) / how.block_size, INT32_MAX);
        launch.threads = how.block_size;
        launch.stream = how.stream;
        cuda_.launch(launch, types.key() + taken.key(), text, taken, device);
        taken.write_back();
        return taken.results();
    }

    Dims shape_of(const KernelArguments& arguments, std::optional<int64_t> size) const {
        std::vector<const Dims*> shapes;
        for (size_t k = 0; k < inputs_.size(); ++k) {
            if (!inputs_[k].is_raw && arguments.inputs[k]) shapes.push_back(&arguments.inputs[k]->shape());
        }
        for (size_t k = 0; k < arguments.outputs.size(); ++k) {
            if (!outputs_[k].is_raw) shapes.push_back(&arguments.outputs[k].shape());
        }
        if (size) {
            if (!shapes.empty())
                throw ValueError("Specified 'size' can only go with arrays that are all raw: the others of " +
                                 options_.name + "() say how many elements there are");
            if (*size < 0) throw ValueError("size= is " + std::to_string(*size) + ", and is 0 at least");
            return {*size};
        }
        if (shapes.empty())
            throw ValueError("Loop size is undecided. " + options_.name +
                             "() gets no array that is not raw, so size= has to say it");
        return broadcast_shapes(shapes);
    }

    void check_outputs(const KernelArguments& arguments, const Dims& shape, bool has_size) const {
        for (size_t k = 0; k < arguments.outputs.size(); ++k) {
            if (!outputs_[k].is_raw && arguments.outputs[k].shape() != shape)
                throw ValueError("Out shape is mismatched: '" + outputs_[k].name + "' has " +
                                 shape_text(arguments.outputs[k].shape()) + ", and the elements " +
                                 shape_text(shape));
        }
        if (!arguments.outputs.empty() || has_size) return;
        for (const CKernelParameter& one : outputs_) {
            if (one.is_raw)
                throw ValueError("'" + one.name +
                                 "' is raw: how large it is, the array says that is given for it");
        }
    }

    c_source::ElementSource source_of(const KernelTypes& types) const {
        c_source::ElementSource source;
        source.preamble = {"the preamble of " + options_.name, options_.preamble};
        source.body = {"the operation of " + options_.name, body_};
        source.types = types.names();
        source.inputs = with_types(inputs_, types.inputs);
        source.outputs = with_types(outputs_, types.outputs);
        return source;
    }

    const Variant& variant_for(const KernelTypes& types) {
        const std::string key = types.key();
        {
            const std::lock_guard lock(mutex_);
            if (const auto found = variants_.find(key); found != variants_.end()) return *found->second;
        }
        auto made = std::make_unique<Variant>();
        made->code = c_source::lower_elements(options_.name, source_of(types));
        made->inputs = types.inputs;
        made->text = made->code.ir;
        const bool reads = !inputs_.empty() || made->code.reads_position || made->code.reads_size ||
                           std::ranges::find(made->code.reads_output, true) != made->code.reads_output.end();
        made->needs_input = !reads;
        const std::string& ir = made->code.ir;
        if (!outputs_.empty()) {
            const DefinedLoop loop{.ir = reads ? ir : with_input(ir)};
            made->op = &define_operation(options_.name, std::span(&loop, 1));
        }
        const std::lock_guard lock(mutex_);
        return *variants_.emplace(key, std::move(made)).first->second;
    }

    std::vector<array> run(const Variant& variant, const KernelArguments& arguments, const KernelTypes& types,
                           const Dims& shape) const {
        if (outputs_.empty()) return {};
        std::optional<DeviceScope> scope;
        for (const std::optional<array>& one : arguments.inputs) {
            if (one && !scope) scope.emplace(device_of(*one));
        }
        if (!scope && !arguments.outputs.empty()) scope.emplace(device_of(arguments.outputs[0]));
        std::vector<Argument> inputs;
        Dims given_shape;
        const auto add = [&](const array& one) {
            const Dims before = given_shape;
            given_shape = broadcast_shapes(std::array{&before, &one.shape()});
            inputs.emplace_back(one);
        };
        for (size_t k = 0; k < inputs_.size(); ++k)
            add(arguments.inputs[k] ? *arguments.inputs[k]
                                    : converted_number(arguments.numbers[k], types.inputs[k]));
        for (size_t k = 0; k < outputs_.size(); ++k) {
            if (!variant.code.reads_output[k]) continue;
            add(arguments.outputs.empty() ? converted_number(Integer(0), types.outputs[k])
                                          : arguments.outputs[k]);
        }
        const int64_t size = element_count(shape);
        if (variant.code.reads_position)
            add(reshape(arange(Integer(0), Integer(size), Integer(1), DType(ScalarType::kInt64)), shape));
        if (variant.code.reads_size || variant.needs_input)
            add(converted_number(Integer(size), ScalarType::kInt64));
        std::vector<array> out = arguments.outputs;
        if (out.empty() && given_shape != shape) {
            for (const DType type : types.outputs) out.push_back(empty(shape, type));
        }
        weft::CallOptions options;
        options.out = out;
        options.order = 'C';
        return weft::call(*variant.op, inputs, options);
    }

    const std::vector<CKernelParameter> inputs_, outputs_;
    const std::string body_;
    const KernelOptions options_;
    bool needs_memory_ = false;
    RawElements raw_;
    CudaKernels cuda_;
    Refusals refusals_;
    mutable std::mutex mutex_;
    std::map<std::string, std::unique_ptr<const Variant>> variants_;
};

ElementwiseKernel::ElementwiseKernel(std::string_view inputs, std::string_view outputs, std::string_view body,
                                     const KernelOptions& options)
    : parts_(std::make_shared<Parts>(inputs, outputs, body, options)) {}

std::vector<array> ElementwiseKernel::call(std::span<const Argument> arguments, const Call& how) const {
    return parts_->call(arguments, how);
}

const std::vector<CKernelParameter>& ElementwiseKernel::inputs() const { return parts_->inputs(); }
const std::vector<CKernelParameter>& ElementwiseKernel::outputs() const { return parts_->outputs(); }
const std::string& ElementwiseKernel::name() const { return parts_->name(); }
KernelCodes ElementwiseKernel::codes() const { return parts_->codes(); }

}  // namespace weft
