#include "api/indexing/compress_on_gpu.h"

#include <cstdlib>
#include <string>

#include "api/recording/deferred_checks.h"
#include "api/recording/gpu_input.h"
#include "api/recording/record.h"
#include "core/optimisation_switches.h"
#include "execution/evaluate.h"
#include "execution/kernels/gpu_programs.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/indexing/cuda/kernel_arguments.h"
#include "weft/ops.h"

namespace weft {

namespace {

using namespace gpu;

// A mask whose true elements are counted.
class Compression {
public:
    explicit Compression(const array& mask)
        : device_(device_of(mask)), size_(mask.size()), mask_(dense_on_gpu(mask)) {
        const int64_t tiles = (size_ + kCompressTile - 1) / kCompressTile;
        begins_ = device_.allocate(static_cast<size_t>(tiles + 1) * sizeof(uint64_t));
        words_.mask = mask_.address();
        words_.count = static_cast<uint64_t>(size_);
        words_.begins = begins_->address();
        words_.tiles = static_cast<uint64_t>(tiles);
        ProgramRecord record(device_, "count_selected", size_, 0, size_);
        launch("count", {blocks_of(tiles), kCompressThreads, 1, kCompressMemoryBytes});
        launch("begin", {1, kBeginThreads, 1, kBeginMemoryBytes});
        record.finish();
        decide(mask_.buffer()->poison());
        device_.copy_out(reinterpret_cast<char*>(&total_), *begins_,
                         static_cast<size_t>(tiles) * sizeof(uint64_t), sizeof total_);
    }

    // What the entry writes of each selected element.
    array run(const std::string& entry, DType dtype, const ProgramInput* values) {
        const int64_t bytes = total_ * dtype.itemsize();
        BufferPtr chosen = device_.allocate(static_cast<size_t>(bytes));
        if (total_ != 0) {
            words_.values = values != nullptr ? values->address() : 0;
            words_.output = chosen->address();
            ProgramRecord record(device_, "compress_" + entry, size_ + (values != nullptr ? bytes : 0), bytes,
                                 total_);
            launch(entry, {blocks_of(static_cast<int64_t>(words_.tiles)), kCompressThreads, 1,
                           kCompressMemoryBytes});
            record.finish();
        }
        if (values != nullptr) chosen->set_poison(values->buffer()->poison());
        return array_of(std::move(chosen), dtype, Dims{total_}, Dims{dtype.itemsize()});
    }

private:
    void launch(const std::string& entry, const CudaLaunchShape& shape) {
        launch_program(device_, "compress", "weft_compress_" + entry, words_, shape);
    }

    DeviceBackend& device_;
    const int64_t size_;
    const ProgramInput mask_;
    BufferPtr begins_;
    CompressArguments words_{};
    int64_t total_ = 0;
};

// Whether neighbours in C order are neighbours in memory as far as any are.
bool walks_memory(const array& input) {
    int64_t outer = INT64_MAX;
    for (size_t d = 0; d < input.shape().size(); ++d) {
        const int64_t stride = std::abs(input.strides()[d]);
        if (input.shape()[d] == 1 || stride == 0) continue;
        if (stride > outer) return false;
        outer = stride;
    }
    return true;
}

// Itself, or a copy in C order that is in memory: a kernel of its own reads across memory better.
array walked(const array& input) {
    if (walks_memory(input)) return input;
    const array copied[1] = {copy(input, 'C')};
    eval(copied);
    return copied[0];
}

// By one kernel, with what computes the mask and the values in it.
array compress_in_one(const array& mask_given, const array* values_given, DType dtype) {
    const array mask = walked(mask_given);
    decide(current_version(*mask.storage()));
    Operands inputs;
    inputs.push_back(read_operand(mask, mask.shape()));
    if (inputs[0].source.node) inputs[0].source.node->compressions.fetch_add(1, std::memory_order_relaxed);
    if (values_given != nullptr) {
        const array values = walked(*values_given);
        inputs.push_back(read_operand(values, mask.shape()));
    }
    const NodePtr node = new_node();
    node->become(NodeKind::kCompress);
    node->device = &device_of(mask);
    node->shape = mask.shape();
    node->inputs = std::move(inputs);
    NodeResult result;  // its size is known when it is computed
    result.dtype = dtype;
    result.strides = Dims{dtype.itemsize()};
    node->results.push_back(std::move(result));
    recorded(node);
    evaluate({&node, 1});
    return array_of(node->results[0].buffer, dtype, Dims{node->compress().chosen}, Dims{dtype.itemsize()});
}

// What is in memory as the program reads it: that reads a mask of bytes twice and the rest where it is
// selected, in less time than one pass takes that reads all of it.
bool is_for_program(const array& input) {
    return input.c_contiguous() && current_version(*input.storage()).node == nullptr;
}

bool compresses_in_one(const array& mask, const array* values) {
    return is_on(OptimisationSwitch::kCompressInOne) &&
           !(is_for_program(mask) && (values == nullptr || is_for_program(*values)));
}

}  // namespace

array positions_on_gpu(const array& mask) {
    if (compresses_in_one(mask, nullptr)) return compress_in_one(mask, nullptr, ScalarType::kInt64);
    return Compression(mask).run("positions", ScalarType::kInt64, nullptr);
}

array compressed_on_gpu(const array& values, const array& mask) {
    if (compresses_in_one(mask, &values)) return compress_in_one(mask, &values, values.dtype());
    const array both[2] = {dense_on_gpu(values), dense_on_gpu(mask)};
    eval(both);
    const ProgramInput input(both[0]);
    return Compression(both[1]).run(std::to_string(values.itemsize()), values.dtype(), &input);
}

}  // namespace weft
