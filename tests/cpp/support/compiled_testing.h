// Runs compiled kernels with the arguments that the scalar oracle takes.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "device/device.h"
#include "ir/oracle.h"

namespace weft::ir {

// The words of a launch for the oracle's arguments.
inline std::vector<ArgumentWord> words_of(const Function& kernel, std::span<const OracleArgument> arguments) {
    std::vector<ArgumentWord> words;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (const auto* buffer = std::get_if<OracleBuffer>(&arguments[i])) {
            words.push_back(reinterpret_cast<ArgumentWord>(buffer->base));
            const auto& strides = kernel.type(kernel.parameters[i]).buffer.strides;
            for (size_t d = 0; d < strides.size(); ++d) {
                if (strides[d] == kDynamic) words.push_back(static_cast<ArgumentWord>(buffer->strides[d]));
            }
            continue;
        }
        const auto& constant = std::get<Constant>(arguments[i]);
        ArgumentWord parts[2];
        std::memcpy(parts, constant.bytes.data(), sizeof(parts));
        words.push_back(parts[0]);
        if (constant.type == ScalarType::kComplex128) words.push_back(parts[1]);
    }
    return words;
}

// Launches the module's last function, compiled for this machine; the sizes of its grid are parameters.
inline void run_compiled(const Module& module, std::span<const OracleArgument> arguments) {
    const Function& kernel = module.functions.back();
    std::vector<int64_t> grid;
    for (const Instruction& instruction : kernel.body.body) {
        if (instruction.opcode != Opcode::kParallel) continue;
        for (const ValueId size : instruction.operands) {
            for (size_t i = 0; i < arguments.size(); ++i) {
                if (kernel.parameters[i] == size)
                    grid.push_back(std::get<Constant>(arguments[i]).as<int64_t>());
            }
        }
        if (grid.size() != instruction.operands.size())
            throw std::invalid_argument("a grid whose sizes are no parameters");
    }
    const auto compiled = codegen::compile_for_cpu(module, kernel.name);
    cpu_device().launch(*compiled, words_of(kernel, arguments), grid, 10000);
}

template <class... Arguments>
void run_compiled(const Module& module, const Arguments&... arguments) {
    const std::vector<OracleArgument> list{OracleArgument(arguments)...};
    run_compiled(module, std::span<const OracleArgument>(list));
}

}  // namespace weft::ir
