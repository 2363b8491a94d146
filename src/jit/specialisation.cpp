#include "jit/specialisation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "codegen/cpu/compiler.h"
#include "ir/printer.h"

namespace weft::jit {

namespace {

codegen::CompileOptions compile_options(bool fast_math) {
    codegen::CompileOptions options;
    options.fast_math = fast_math;
    return options;
}

}  // namespace

std::shared_ptr<const Specialisation> compile(const lang::FunctionSource& function,
                                              std::span<const lang::TypeRef> arguments,
                                              const Options& options) {
    const auto begin = std::chrono::steady_clock::now();
    lang::Lowered lowered = lang::lower(function, arguments, options.semantics);
    auto result = std::make_shared<Specialisation>();
    result->code_ =
        codegen::compile_function_for_cpu(lowered.module, lowered.entry, compile_options(options.fast_math));
    result->function = result->code_->function;
    result->name = lowered.entry;
    for (const ir::Function& each : lowered.module.functions) result->ir += ir::print(each);
    result->arguments.assign(arguments.begin(), arguments.end());
    result->result = lowered.result;
    size_t values = lang::part_count(lowered.result);
    for (const lang::Site& site : lowered.sites) values = std::max(values, static_cast<size_t>(site.payload));
    result->result_bytes = 16 * values;
    result->sites = std::move(lowered.sites);
    result->written = std::move(lowered.written);
    result->module_ = std::move(lowered.module);
    result->fast_math_ = options.fast_math;
    result->compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

Specialisation::Texts Specialisation::texts() const {
    codegen::CompiledTexts texts;
    codegen::CompileOptions options = compile_options(fast_math_);
    options.keep_texts = true;
    codegen::compile_function_for_cpu(module_, name, options, &texts);
    return {std::move(texts.ir_after_passes), std::move(texts.llvm_ir), std::move(texts.assembly)};
}

}  // namespace weft::jit
