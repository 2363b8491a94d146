// The vectorised interpreter: runs kernels at once, without compiling, through the op table's ahead-of-time
// loops over blocks of neighbouring elements that stay in the first-level cache. The bits are those of the
// compiled kernel: the loops are made of the same scalar functions, and reductions combine in the tree of the
// IR.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "device/kernel.h"
#include "ir/ir.h"

namespace weft::codegen {

class BlockKernel : public CpuKernel {
public:
    // From now on, and in the middle of a launch, the compiled kernel does what is left. Once.
    void replace(std::shared_ptr<const CpuKernel> compiled) const {
        successor_ = std::move(compiled);
        replaced_.store(successor_.get(), std::memory_order_release);
    }
    bool is_replaced() const { return replaced_.load(std::memory_order_relaxed) != nullptr; }

protected:
    mutable std::atomic<const CpuKernel*> replaced_{nullptr};

private:
    mutable std::shared_ptr<const CpuKernel> successor_;
};

// Null where it cannot run the kernel, or where compiling at once is the better way; `why` then says so.
std::shared_ptr<const BlockKernel> make_block_kernel(const ir::Module& module, const ir::Function& kernel,
                                                     std::string& why);

}  // namespace weft::codegen
