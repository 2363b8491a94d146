#include "execution/run_product.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "core/log.h"
#include "core/shape.h"
#include "execution/kernels/kernel_store.h"
#include "execution/kernels/launch.h"
#include "execution/kernels/launch_replay.h"
#include "execution/product_on_gpu.h"
#include "execution/profile.h"
#include "execution/run_elementwise.h"
#include "execution/run_group.h"
#include "library/products/contraction.h"
#include "library/products/cuda/contraction.h"
#include "lowering/lower_product.h"
#include "weft/errors.h"

namespace weft {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

int64_t bytes_walked(const Dims& shape, const Dims& strides, int64_t itemsize) {
    int64_t elements = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (strides[d] != 0) elements *= shape[d];
    }
    return elements * itemsize;
}

std::string size_text(const ContractionReport& report) {
    std::string text = std::to_string(report.m) + "x" + std::to_string(report.k);
    text += "@" + std::to_string(report.k) + "x" + std::to_string(report.n);
    return report.batch == 1 ? text : std::to_string(report.batch) + "*" + text;
}

// Into `out`, a fresh buffer for the result, or nowhere when there is work on the tiles.
Contraction contraction_of(const Node& node, char* out) {
    const Operand &left = node.inputs[0], &right = node.inputs[1];
    const NodeResult& result = node.results[0];
    Contraction contraction{result.dtype.scalar_type(),
                            node.shape,
                            node.reduced_axes(),
                            reinterpret_cast<const char*>(left.source.buffer->address()) + left.offset,
                            reinterpret_cast<const char*>(right.source.buffer->address()) + right.offset,
                            out,
                            left.strides,
                            right.strides,
                            Dims(node.shape.size(), 0)};
    for (size_t d = 0, k = 0; d < node.shape.size(); ++d) {
        if (!node.reduced_axes()[d]) contraction.out_strides[d] = result.strides[k++];
    }
    return contraction;
}

ProductEpilogue epilogue_of(const Node& node) {
    ProductEpilogue epilogue;
    if (node.product().adds_bias) {
        const Operand& bias = node.inputs[2];
        epilogue.bias = reinterpret_cast<const char*>(bias.source.buffer->address()) + bias.offset;
    }
    epilogue.relu = node.product().takes_relu;
    return epilogue;
}

int64_t bytes_read(const Node& node, const ContractionReport& report) {
    const int64_t itemsize = node.results[0].dtype.itemsize();
    return bytes_walked(node.shape, node.inputs[0].strides, itemsize) +
           bytes_walked(node.shape, node.inputs[1].strides, itemsize) + report.packed_bytes;
}

void record_product(LaunchRecord record, const ContractionReport& report) {
    const std::string& name = record.kernel->name;
    if (debug_enabled(DebugLevel::kLaunches, name)) {
        char text[256];
        std::snprintf(text, sizeof text, "%-40s %12lld elements %9.3f ms, %lld tasks, %d packed",
                      name.c_str(), static_cast<long long>(record.elements), record.seconds * 1e3,
                      static_cast<long long>(report.tasks), report.packed_operands);
        log_line(text);
    }
    record_launch(std::move(record));
}

// By the device's library; not empty: why it cannot, with nothing done.
std::string run_alone(const Node& node, const Buffer& out) {
    const auto start = Clock::now();
    const Contraction contraction = contraction_of(node, reinterpret_cast<char*>(out.address()));
    DeviceBackend& device = out.device();
    ContractionReport report;
    std::shared_ptr<Stopwatch> stopwatch;
    if (device.is_cpu()) {
        WEFT_CHECK(!epilogue_of(node), "a product with an epilogue on the CPU");
        report = contract(contraction);
    } else {
        if (profiling()) stopwatch = device.start_stopwatch();
        const ProductEpilogue epilogue = epilogue_of(node);
        if (epilogue || !multiply_in_parts(contraction, device, report)) {
            const std::string why = contract_on_gpu(contraction, device, report, epilogue);
            if (!why.empty()) return why;
        }
        if (stopwatch != nullptr) stopwatch->stop();
        if (debug_enabled(DebugLevel::kLaunches)) device.synchronize();  // so that its time is its own
    }
    if (report.routine.empty()) return "";           // no elements
    auto kernel = std::make_shared<StoredKernel>();  // the library's, so that nothing is compiled
    kernel->name = report.routine + " " + size_text(report);
    LaunchRecord record;
    record.kernel = std::move(kernel);
    if (!device.is_cpu()) record.device = &device;
    record.stopwatch = std::move(stopwatch);
    record.operations = 1;
    record.elements = node.results[0].bytes / node.results[0].dtype.itemsize();
    record.bytes_read = bytes_read(node, report);
    record.bytes_written = node.results[0].bytes + report.packed_bytes;
    record.seconds = seconds_since(start);
    record_product(std::move(record), report);
    return "";
}

// The kernel of the other nodes runs on each tile of the product, by the task that has it in its cache.
void run_with_tiles(const Group& group, const Node& product, const GroupBuffers& buffers) {
    const NodeResult& result = product.results[0];
    const int64_t itemsize = result.dtype.itemsize();
    KernelParts parts;
    StepBuilder steps(parts, group);
    // Strides of no tile: they are an argument of the kernel.
    const Dims some_strides{result.strides[0] + itemsize, itemsize};
    const size_t tile_input = steps.add_input(product, {0, nullptr, result.dtype, some_strides, false});
    add_result_outputs(parts, steps, group, buffers);
    parts.form.shape = KernelShape::kElementwise;
    parts.form.grid_rank = 2;
    finish_forms(parts, false);
    GroupRun run(group, buffers);
    bool fresh = false;
    std::shared_ptr<const StoredKernel> kernel_of_tiles = run.kernel(parts.form, fresh);
    const TiledLaunch launch(parts, group.shape, tile_input, std::move(kernel_of_tiles), fresh);

    const TileWork work = [&](const ProductTile& tile) {
        GridBox box;
        box.lower = {tile.row, tile.column};
        box.upper = {tile.row + tile.rows, tile.column + tile.columns};
        const auto address = reinterpret_cast<int64_t>(tile.data);
        launch.run(box, address - tile.row * tile.row_stride - tile.column * itemsize, tile.row_stride);
    };
    Contraction contraction = contraction_of(product, nullptr);
    contraction.tile_work = &work;
    const auto start = Clock::now();
    const ContractionReport report = contract(contraction);
    LaunchRecord record = launch.record();
    auto kernel = std::make_shared<StoredKernel>(*record.kernel);
    kernel->name = report.routine + " " + size_text(report) + ", " + kernel->name;
    record.kernel = std::move(kernel);
    ++record.operations;
    record.bytes_read += bytes_read(product, report);
    record.bytes_written += report.packed_bytes;
    record.seconds = seconds_since(start);
    record_product(std::move(record), report);
}

// As a kernel; not empty: why it cannot.
std::string run_as_kernel(Group& group, GroupBuffers& buffers) {
    const Node& node = group.root();
    const Buffer& out = *buffers.back()[0];
    const std::optional<ProductAxes> axes = product_axes(contraction_of(node, nullptr));
    if (!axes) return "a product of several axes that do not go together";
    const auto& [batch, m, n, k] = *axes;
    KernelParts parts;
    parts.form.shape = KernelShape::kProduct;
    parts.form.grid_rank = 3;
    parts.operations = 1;
    const DType dtype = node.results[0].dtype;
    for (size_t i = 0; i < 2; ++i) {
        const Operand& operand = node.inputs[i];
        const bool left = i == 0;
        Dims strides = left ? Dims{batch.left, m.left, 0, k.left} : Dims{batch.right, 0, n.right, k.right};
        parts.inputs.push_back(use_of(*operand.source.buffer, operand.offset, dtype, std::move(strides)));
    }
    ValueForm value{ValueForm::Kind::kReduction, 0, 0};
    const auto then = [&](OpId op, ValueForm operand) {
        const ScalarType types[] = {dtype.scalar_type(), dtype.scalar_type()};
        const OpInfo& info = op_info(op);
        StepForm step;
        step.op = &info;
        step.loop = static_cast<int>(find_loop(info, types) - info.loops.data());
        step.operands = {value, operand};
        parts.form.steps.push_back(std::move(step));
        value = {ValueForm::Kind::kStep, static_cast<uint16_t>(parts.form.steps.size() - 1), 0};
        ++parts.operations;
    };
    if (node.product().adds_bias) {
        const Operand& bias = node.inputs[2];
        parts.inputs.push_back(
            use_of(*bias.source.buffer, bias.offset, dtype, Dims{0, 0, dtype.itemsize(), 0}));
        then(OpId::kAdd, {ValueForm::Kind::kInput, 2, 0});
    }
    if (node.product().takes_relu) {
        ir::Constant zero;
        zero.type = dtype.scalar_type();
        parts.form.constants.push_back(zero);
        then(OpId::kMaximum, {ValueForm::Kind::kConstant, 0, 0});
    }
    parts.outputs.push_back(use_of(out, 0, dtype, Dims{batch.out, m.out, n.out, 0}));
    parts.form.outputs.push_back({value, buffer_form(parts.outputs[0], false, 1, false)});
    for (const BufferUse& input : parts.inputs)
        parts.form.inputs.push_back({buffer_form(input, true, 0, false), false});
    const auto tiles = [](const ProductAxis& axis) {
        return (axis.extent + kProductTile - 1) / kProductTile;
    };
    GroupRun run(group, buffers);
    if (!run.replay()) {
        run.launch(parts, Dims{batch.extent, tiles(m), tiles(n), m.extent, n.extent, k.extent},
                   Dims{batch.extent, m.extent, n.extent, k.extent});
    }
    run.finish();
    return "";
}

}  // namespace

void run_product(Group& group) {
    GroupBuffers& buffers = reserve_results(group);
    if (group.multiplies) {
        const auto product = std::find_if(group.nodes.begin(), group.nodes.end(), [](const Node* node) {
            return node->kind() == NodeKind::kProduct;
        });
        run_with_tiles(group, **product, buffers);
    } else {
        const Node& node = group.root();
        const bool by_library =
            group.device->is_cpu() || has_cublas_type(node.results[0].dtype.scalar_type());
        std::string why = by_library ? run_alone(node, *buffers.back()[0]) : "no library";
        if (!why.empty() && !group.device->is_cpu()) why = run_as_kernel(group, buffers);
        if (!why.empty()) throw NotImplementedError(why);
    }
    commit_all(group);
}

}  // namespace weft
