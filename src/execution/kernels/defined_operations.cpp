// weft/define.h: the loops of operations that the program defines, from the kernel IR of a frontend to
// machine code. Recording and planning treat them as they do those of the op table.
#include "weft/define.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "codegen/cache/digest.h"
#include "codegen/cpu/compiler.h"
#include "codegen/service/kernel_cache.h"
#include "core/threads/fork.h"
#include "ir/printer.h"
#include "lowering/element_function.h"
#include "lowering/lower.h"
#include "ops/defined.h"
#include "weft/errors.h"

namespace weft {

namespace {

// One loop, which operations share that have it.
struct Definition {
    std::string symbol;
    ElementFunction function;
    std::atomic<StridedLoop> loop = nullptr;
};

class Operation final : public DefinedOperation {
public:
    Operation(std::string_view name, std::string_view doc, std::vector<Definition*> definitions,
              Identity identity)
        : name_(name), doc_(doc), definitions_(std::move(definitions)), loops_(definitions_.size()) {
        const ElementFunction& first = definitions_[0]->function;
        info_.id = OpId::kDefined;
        info_.name = info_.numpy_name = name_;
        info_.nin = static_cast<uint8_t>(first.inputs.size());
        info_.nout = static_cast<uint8_t>(first.outputs.size());
        info_.kind = OpKind::kArithmetic;
        info_.identity = identity;
        info_.flags.is_ufunc = false;
        info_.cost = first.cost;
        info_.max_ulp = 0;
        for (size_t k = 0; k < definitions_.size(); ++k) {
            const ElementFunction& function = definitions_[k]->function;
            std::ranges::copy(function.inputs, loops_[k].types.begin());
            std::ranges::copy(function.outputs, loops_[k].types.begin() + info_.nin);
            loops_[k].loop = definitions_[k]->loop.load(std::memory_order_acquire);
            loops_[k].symbol = definitions_[k]->symbol.c_str();
        }
        info_.loops = loops_;
        info_.doc = doc_;
        info_.defined = this;
    }

    const OpInfo& info() const { return info_; }
    std::string_view ir(size_t loop) const override { return definitions_[loop]->function.ir; }
    void prepare(size_t loop) const override;

private:
    std::string name_, doc_;
    std::vector<Definition*> definitions_;
    mutable std::vector<LoopInfo> loops_;
    OpInfo info_{};
};

struct NamedReduction {
    std::string name;
    DefinedReduction reduction;
};

// Global because nodes and kernels point at operations for as long as they live, and that definitions that
// are equal are one; guarded by its lock.
struct Definitions {
    std::mutex mutex;
    std::map<std::string, std::unique_ptr<Definition>> loops;            // by what they are made of
    std::map<std::string, std::unique_ptr<const Operation>> operations;  // by name, text and symbols
    std::map<std::string, std::unique_ptr<const NamedReduction>> reductions;
};

Definitions& definitions() {
    static auto* const instance = new Definitions;  // threads may still run kernels at exit
    return *instance;
}

[[maybe_unused]] const bool at_fork =
    on_fork(ForkRank::kKernelStore, {[] { definitions().mutex.lock(); }, [] { definitions().mutex.unlock(); },
                                     [] { definitions().mutex.unlock(); }});

// Under the lock.
Definition& definition_of(const DefinedLoop& loop) {
    std::string types;
    for (const ScalarType type : loop.outputs) types += static_cast<char>('A' + static_cast<int>(type));
    const std::string symbol = "defined_" + codegen::hexadecimal(codegen::digest_of({types, "\n", loop.ir}));
    std::unique_ptr<Definition>& known = definitions().loops[symbol];
    if (known == nullptr)
        known = std::unique_ptr<Definition>(new Definition{
            .symbol = symbol, .function = read_element_function(loop.ir, symbol, loop.outputs)});
    return *known;
}

// Of one dimension, over operands that lie side by side or have strides of the launch.
KernelForm form_of(const OpInfo& op, size_t loop, StrideClass stride) {
    KernelForm form;
    StepForm step;
    step.op = &op;
    step.loop = static_cast<int>(loop);
    const LoopInfo& types = op.loops[loop];
    for (uint16_t k = 0; k < op.nin; ++k) {
        InputForm input;
        input.buffer.element = types.types[k];
        input.buffer.strides = {stride};
        form.inputs.push_back(input);
        step.operands.push_back({ValueForm::Kind::kInput, k, 0});
    }
    form.steps.push_back(step);
    for (uint16_t k = 0; k < op.nout; ++k) {
        OutputForm output;
        output.value = {ValueForm::Kind::kStep, 0, k};
        output.buffer.element = types.types[op.nin + k];
        output.buffer.readonly = false;
        output.buffer.strides = {stride};
        form.outputs.push_back(output);
    }
    return form;
}

StridedLoop make_loop(const OpInfo& op, size_t loop) {
    const ir::Module contiguous = lower(form_of(op, loop, StrideClass::kItem));
    const ir::Module strided = lower(form_of(op, loop, StrideClass::kDynamic));
    std::vector<int64_t> itemsizes;
    for (size_t k = 0; k < size_t{op.nin} + op.nout; ++k)
        itemsizes.push_back(DType(op.loops[loop].types[k]).itemsize());
    const codegen::CompileOptions options;
    const std::string ir = ir::print(contiguous) + ir::print(strided);
    const std::string key =
        codegen::keeps_kernels() ? codegen::cache_key("strided loop\n" + ir, options) : std::string();
    if (!key.empty()) {
        if (const StridedLoop kept = codegen::find_strided_loop_in_cache(key)) return kept;
    }
    const codegen::KernelObject object =
        codegen::compile_strided_loop_for_cpu(contiguous, strided, itemsizes, options);
    if (!key.empty()) codegen::keep_in_cache(key, object, {});
    return codegen::load_strided_loop_for_cpu(object);
}

Identity identity_of(std::optional<int64_t> identity) {
    if (!identity) return Identity::kNone;
    if (*identity == 0) return Identity::kZero;
    if (*identity == 1) return Identity::kOne;
    if (*identity == -1) return Identity::kMinusOne;
    throw ValueError("the identity of an operation is 0, 1 or -1, not " + std::to_string(*identity));
}

void Operation::prepare(size_t loop) const {
    Definition& definition = *definitions_[loop];
    StridedLoop made = definition.loop.load(std::memory_order_acquire);
    if (made == nullptr) {
        // Without a lock, which a child of a fork would find taken: threads may make it twice.
        StridedLoop mine = make_loop(info_, loop);
        made = nullptr;
        if (definition.loop.compare_exchange_strong(made, mine, std::memory_order_acq_rel)) made = mine;
    }
    std::atomic_ref(loops_[loop].loop).store(made, std::memory_order_relaxed);
}

}  // namespace

const OpInfo& define_operation(std::string_view name, std::span<const DefinedLoop> loops,
                               std::optional<int64_t> identity, std::string_view doc) {
    if (loops.empty()) throw ValueError("an operation has a loop at least");
    const std::lock_guard lock(definitions().mutex);
    std::vector<Definition*> found;
    std::string key = std::string(name) + "\n" + (identity ? std::to_string(*identity) : "none") + "\n" +
                      std::string(doc) + "\n";
    for (const DefinedLoop& loop : loops) {
        Definition& definition = definition_of(loop);
        const ElementFunction &function = definition.function,
                              &first = (found.empty() ? definition : *found[0]).function;
        if (function.inputs.size() != first.inputs.size() || function.outputs.size() != first.outputs.size())
            throw ValueError("the loops of " + std::string(name) + "() differ in their numbers of operands");
        if (function.inputs.empty() || function.outputs.empty() ||
            function.inputs.size() + function.outputs.size() > static_cast<size_t>(kMaxOperands))
            throw ValueError(std::string(name) + "() has " + std::to_string(function.inputs.size()) +
                             " inputs and " + std::to_string(function.outputs.size()) +
                             " results: an operation has one of each at least, and " +
                             std::to_string(kMaxOperands) + " together at most");
        found.push_back(&definition);
        key += definition.symbol;
    }
    std::unique_ptr<const Operation>& operation = definitions().operations[key];
    if (operation == nullptr)
        operation = std::make_unique<const Operation>(name, doc, std::move(found), identity_of(identity));
    return operation->info();
}

const ReductionInfo& define_reduction(std::string_view name, std::string_view ir, const void* start,
                                      bool allows_empty) {
    const DefinedLoop loop{.ir = std::string(ir)};
    const OpInfo& by = define_operation(name, std::span(&loop, 1));
    const std::array<ScalarType, kMaxOperands>& types = by.loops[0].types;
    if (by.nin != 2 || by.nout != 1 || types[0] != types[1] || types[0] != types[2])
        throw ValueError(
            std::string(name) +
            "() is no function of two scalars of one type that gives a third, as a reduction's is");
    Constant from;
    from.type = types[0];
    std::memcpy(from.bytes.data(), start, static_cast<size_t>(DType(from.type).itemsize()));
    std::string key = std::string(name) + "\n" + by.loops[0].symbol + (allows_empty ? "e" : "n");
    key.append(reinterpret_cast<const char*>(from.bytes.data()), from.bytes.size());
    const std::lock_guard lock(definitions().mutex);
    std::unique_ptr<const NamedReduction>& known = definitions().reductions[key];
    if (known == nullptr) {
        auto made = std::make_unique<NamedReduction>();
        made->name = name;
        DefinedReduction& reduction = made->reduction;
        reduction.id = DefinedReduction::kId;
        reduction.name = reduction.numpy_name = made->name;
        reduction.combine = OpId::kDefined;
        reduction.kind = ReductionKind::kSame;
        reduction.gives_index = reduction.deviations = false;
        reduction.by = &by;
        reduction.start = from;
        reduction.allows_empty = allows_empty;
        known = std::move(made);
    }
    return known->reduction;
}

}  // namespace weft
