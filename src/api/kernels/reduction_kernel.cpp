// weft::ReductionKernel: an operation that maps elements, a reduction of the program's own, and an operation
// that maps its results.
#include <algorithm>
#include <array>
#include <mutex>

#include "api/kernels/cuda_kernels.h"
#include "api/kernels/cuda_text.h"
#include "api/kernels/parameters.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/placement.h"
#include "lang/c_source/elements.h"
#include "ops/op.h"
#include "weft/c_kernels.h"
#include "weft/define.h"
#include "weft/elements.h"
#include "weft/errors.h"
#include "weft/memory.h"
#include "weft/ops.h"

namespace weft {

namespace {

namespace c_source = lang::c_source;

/// One combination of dtypes, and of arguments that are numbers.
struct Variant {
    std::vector<DType> inputs;
    std::string text;
    const OpInfo *map = nullptr, *finish = nullptr;
    const ReductionInfo* reduction = nullptr;
    c_source::ElementCode finish_code;
};

const OpInfo& define(const std::string& name, const std::string& ir) {
    const DefinedLoop loop{.ir = ir};
    return define_operation(name, std::span(&loop, 1));
}

}  // namespace

class ReductionKernel::Parts {
public:
    Parts(std::string_view inputs, std::string_view outputs, std::string_view map, std::string_view combine,
          std::string_view finish, std::string_view identity, const Options& options)
        : inputs_(read_kernel_parameters(inputs)),
          outputs_(read_kernel_parameters(outputs)),
          map_(map),
          combine_(combine),
          finish_(finish),
          identity_(identity),
          options_(options) {
        check_kernel_names(options_.name, inputs_, outputs_);
        if (inputs_.empty() || outputs_.empty())
            throw ValueError(options_.name + "() has " + (inputs_.empty() ? "no inputs" : "no outputs") +
                             ", and a reduction has one of each at least");
    }

    std::vector<array> call(std::span<const Argument> given, const Call& how) {
        KernelArguments arguments = read_kernel_arguments(options_.name, inputs_, outputs_, given);
        if (!how.out.empty()) {
            if (!arguments.outputs.empty())
                throw ValueError("the outputs of " + options_.name + "() are given twice");
            if (how.out.size() != outputs_.size())
                throw ValueError(options_.name + "() has " + std::to_string(outputs_.size()) +
                                 " outputs, and out= " + std::to_string(how.out.size()));
            for (const array& one : how.out) {
                if (!one.writeable()) throw ValueError("output array is read-only");
            }
            arguments.outputs = how.out;
        }
        std::vector<const Dims*> shapes;
        std::string numbers;
        for (size_t k = 0; k < inputs_.size(); ++k) {
            numbers += arguments.inputs[k] ? 'a' : 'n';
            if (arguments.inputs[k] && !inputs_[k].is_raw) shapes.push_back(&arguments.inputs[k]->shape());
        }
        if (shapes.empty())
            throw ValueError(options_.name + "() gets no array that is not raw, and a reduction needs one");
        const KernelTypes types = kernel_types(inputs_, outputs_, arguments);
        DeviceBackend& device = device_of_kernel(options_.name, arguments);
        const DeviceScope scope(device);
        const Dims shape = broadcast_shapes(shapes);
        std::vector<array> results;
        const std::string reason = refusals_.try_without(types.key() + numbers, device, [&] {
            check_raw();
            results = run(variant_for(types, numbers), arguments, types, shape, how);
        });
        return reason.empty() ? results : run_cuda(reason, std::move(arguments), types, shape, device, how);
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
    static constexpr int kThreads = 256;
    static constexpr int64_t kMostBlocks = 1 << 20;

    void check_raw() const {
        for (const auto& parameters : {std::span(inputs_), std::span(outputs_)}) {
            for (const CKernelParameter& one : parameters) {
                if (one.is_raw)
                    throw NotImplementedError("'" + one.name + "' of " + options_.name +
                                              "() is raw: arrays that a reduction indexes are outside of the "
                                              "subset");
            }
        }
    }

    void check_outputs(const KernelArguments& arguments, const Dims& shape) const {
        for (size_t k = 0; k < arguments.outputs.size(); ++k) {
            if (outputs_[k].is_raw || arguments.outputs[k].shape() == shape) continue;
            throw ValueError("Out shape is mismatched: '" + outputs_[k].name + "' has " +
                             shape_text(arguments.outputs[k].shape()) + ", and the result " +
                             shape_text(shape));
        }
    }

    std::vector<bool> reduced_axes(const Dims& shape, const Call& how) const {
        std::vector<bool> is_reduced(shape.size(), !how.axes);
        if (!how.axes) return is_reduced;
        for (const int64_t axis : *how.axes) {
            const auto d = static_cast<size_t>(normalize_axis(axis, static_cast<int>(shape.size())));
            if (is_reduced[d]) throw ValueError("duplicate value in 'axis'");
            is_reduced[d] = true;
        }
        return is_reduced;
    }

    CudaReduction cuda_reduction(const KernelTypes& types) const {
        CudaReduction kernel;
        kernel.name = options_.name;
        kernel.preamble = options_.preamble;
        kernel.types = types.names();
        for (size_t k = 0; k < inputs_.size(); ++k)
            kernel.inputs.push_back({inputs_[k].name, types.inputs[k].scalar_type(), inputs_[k].is_raw});
        for (size_t k = 0; k < outputs_.size(); ++k)
            kernel.outputs.push_back({outputs_[k].name, types.outputs[k].scalar_type(), outputs_[k].is_raw});
        kernel.map = map_;
        kernel.combine = combine_;
        kernel.finish = finish_;
        kernel.identity = identity_;
        kernel.partial_type = options_.partial_type;
        return kernel;
    }

    // Inputs are laid out with the axes of results first.
    std::vector<array> run_cuda(const std::string& reason, KernelArguments arguments,
                                const KernelTypes& types, const Dims& shape, DeviceBackend& device,
                                const Call& how) {
        const std::vector<bool> is_reduced = reduced_axes(shape, how);
        Dims order, laid_out, result_shape;
        for (const bool reduced : {false, true}) {
            for (size_t d = 0; d < shape.size(); ++d) {
                if (is_reduced[d] != reduced) continue;
                order.push_back(static_cast<int64_t>(d));
                laid_out.push_back(shape[d]);
            }
        }
        for (size_t d = 0; d < shape.size(); ++d) {
            if (!is_reduced[d] || how.keepdims) result_shape.push_back(is_reduced[d] ? 1 : shape[d]);
        }
        const int64_t count = element_count(shape), results = element_count(result_shape);
        if (count == 0 && results != 0 && identity_.empty())
            throw ValueError("zero-size array to reduction operation " + options_.name +
                             " which has no identity");
        check_outputs(arguments, result_shape);
        for (size_t k = 0; k < inputs_.size(); ++k) {
            if (arguments.inputs[k] && !inputs_[k].is_raw && !order.empty())
                arguments.inputs[k] =
                    transpose(broadcast_to(*arguments.inputs[k], shape), {order.data(), order.size()});
        }
        if (arguments.outputs.empty()) {
            for (const DType type : types.outputs)
                arguments.outputs.push_back(full(result_shape, Integer(0), type));
        }
        CudaReduction kernel = cuda_reduction(types);
        const TakenArguments taken(kernel.inputs, kernel.outputs, arguments, types, laid_out);
        if (results == 0) return taken.results();
        for (const Taken& one : taken.all()) kernel.arguments.push_back(one.how);
        CudaKernels::Launch launch{.name = options_.name, .reason = reason, .options = options_.options};
        launch.sizes = {count, results};
        launch.blocks = std::min(results, kMostBlocks);
        launch.threads = kThreads;
        launch.stream = how.stream;
        cuda_.launch(
            launch, types.key() + taken.key(), [&] { return text_of(kernel, kThreads); }, taken, device);
        taken.write_back();
        return taken.results();
    }

    c_source::ElementSource source_of(const std::string& part, const std::string& text,
                                      const KernelTypes& types) const {
        c_source::ElementSource source;
        source.preamble = {"the preamble of " + options_.name, options_.preamble};
        source.body = {part + " of " + options_.name, text};
        source.types = types.names();
        source.has_position = false;
        return source;
    }

    /// In C++, as the program writes it: a placeholder, a dtype, or a type of the language.
    ScalarType partial_type(const KernelTypes& types) const {
        if (options_.partial_type.empty()) return types.outputs[0].scalar_type();
        if (const auto found = types.placeholders.find(options_.partial_type);
            found != types.placeholders.end())
            return found->second.scalar_type();
        c_source::ElementSource source =
            source_of("the type of partial results", options_.partial_type, types);
        return c_source::read_type(source);
    }

    const Variant& variant_for(const KernelTypes& types, const std::string& numbers) {
        const std::string key = types.key() + "|" + numbers;
        {
            const std::lock_guard lock(mutex_);
            if (const auto found = variants_.find(key); found != variants_.end()) return *found->second;
        }
        auto made = std::make_unique<Variant>();
        const ScalarType partial = partial_type(types);
        c_source::ElementSource map = source_of("the map expression", map_, types);
        for (size_t k = 0; k < inputs_.size(); ++k)
            map.inputs.push_back({inputs_[k].name, types.inputs[k].scalar_type()});
        map.value = partial;
        const c_source::ElementCode mapped = c_source::lower_elements(options_.name + "_map", map);
        made->map = &define(options_.name + "_map", mapped.ir);

        c_source::ElementSource combine = source_of("the reduction expression", combine_, types);
        combine.inputs = {{"a", partial}, {"b", partial}};
        combine.value = partial;
        const std::string combined = c_source::lower_elements(options_.name, combine).ir;
        ScalarBytes start{};
        if (!identity_.empty()) start = identity_of(types, partial);
        made->reduction = &define_reduction(options_.name, combined, start.data(), !identity_.empty());

        c_source::ElementSource finish = source_of("the post-map expression", finish_, types);
        finish.inputs = {
            {"a", partial}, {"_in_ind.size()", ScalarType::kInt64}, {"_out_ind.size()", ScalarType::kInt64}};
        for (size_t k = 0; k < inputs_.size(); ++k) {
            if (numbers[k] == 'n') finish.inputs.push_back({inputs_[k].name, types.inputs[k].scalar_type()});
        }
        for (size_t k = 0; k < outputs_.size(); ++k)
            finish.outputs.push_back({outputs_[k].name, types.outputs[k].scalar_type()});
        made->finish_code = c_source::lower_elements(options_.name + "_finish", finish);
        made->finish = &define(options_.name + "_finish", made->finish_code.ir);
        made->inputs = types.inputs;
        made->text = mapped.ir + combined + made->finish_code.ir;
        const std::lock_guard lock(mutex_);
        return *variants_.emplace(key, std::move(made)).first->second;
    }

    ScalarBytes identity_of(const KernelTypes& types, ScalarType partial) const {
        c_source::ElementSource source = source_of("the identity", identity_, types);
        source.inputs = {{"_unread", ScalarType::kInt64}};
        source.value = partial;
        const OpInfo& op = define(options_.name + "_identity",
                                  c_source::lower_elements(options_.name + "_identity", source).ir);
        const DeviceScope on_cpu(cpu_device());
        const Argument zero = converted_number(Integer(0), ScalarType::kInt64);
        const array value = weft::call(op, std::span(&zero, 1))[0];
        ScalarBytes bytes{};
        copy_out(value, bytes.data());
        return bytes;
    }

    std::vector<array> run(const Variant& variant, const KernelArguments& arguments, const KernelTypes& types,
                           const Dims& shape, const Call& how) const {
        std::vector<Argument> inputs;
        std::vector<Argument> numbers;
        for (size_t k = 0; k < inputs_.size(); ++k) {
            if (arguments.inputs[k]) {
                inputs.emplace_back(*arguments.inputs[k]);
            } else {
                numbers.emplace_back(converted_number(arguments.numbers[k], types.inputs[k]));
                inputs.push_back(numbers.back());
            }
        }
        weft::CallOptions options;
        const array mapped = weft::call(*variant.map, inputs, options)[0];
        ReduceOptions reduction;
        reduction.axes = how.axes;
        reduction.keepdims = how.keepdims;
        const array reduced = reduce(*variant.reduction, mapped, reduction);
        check_outputs(arguments, reduced.shape());
        std::vector<Argument> last{reduced,
                                   converted_number(Integer(element_count(shape)), ScalarType::kInt64),
                                   converted_number(Integer(reduced.size()), ScalarType::kInt64)};
        last.insert(last.end(), numbers.begin(), numbers.end());
        for (size_t k = 0; k < outputs_.size(); ++k) {
            if (!variant.finish_code.reads_output[k]) continue;
            last.emplace_back(arguments.outputs.empty() ? converted_number(Integer(0), types.outputs[k])
                                                        : arguments.outputs[k]);
        }
        options.out = arguments.outputs;
        options.order = 'C';
        return weft::call(*variant.finish, last, options);
    }

    const std::vector<CKernelParameter> inputs_, outputs_;
    const std::string map_, combine_, finish_, identity_;
    const Options options_;
    mutable std::mutex mutex_;
    std::map<std::string, std::unique_ptr<const Variant>> variants_;
    CudaKernels cuda_;
    Refusals refusals_;
};

ReductionKernel::ReductionKernel(std::string_view inputs, std::string_view outputs, std::string_view map,
                                 std::string_view combine, std::string_view finish, std::string_view identity,
                                 const Options& options)
    : parts_(std::make_shared<Parts>(inputs, outputs, map, combine, finish, identity, options)) {}

std::vector<array> ReductionKernel::call(std::span<const Argument> arguments, const Call& how) const {
    return parts_->call(arguments, how);
}

const std::vector<CKernelParameter>& ReductionKernel::inputs() const { return parts_->inputs(); }
const std::vector<CKernelParameter>& ReductionKernel::outputs() const { return parts_->outputs(); }
const std::string& ReductionKernel::name() const { return parts_->name(); }
KernelCodes ReductionKernel::codes() const { return parts_->codes(); }

}  // namespace weft
