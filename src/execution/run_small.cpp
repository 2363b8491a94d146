#include "execution/run_group.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "core/shape.h"
#include "device/kernel.h"
#include "graph/operand.h"
#include "library/indexing/gather_loops.h"
#include "library/loops/scan_order.h"
#include "library/loops/strided_loops.h"

namespace weft {

namespace {

StridedData data_of(const Operand& operand,
                    const std::unordered_map<const Node*, std::vector<BufferPtr>>& computed) {
    if (operand.is_constant()) {
        return {const_cast<char*>(reinterpret_cast<const char*>(operand.constant.data())), &operand.strides,
                operand.dtype.scalar_type()};
    }
    const Buffer* buffer = operand.source.buffer
                               ? operand.source.buffer.get()
                               : computed.at(operand.source.node.get())[operand.source.result].get();
    return {buffer->data() + operand.offset, &operand.strides, operand.dtype.scalar_type()};
}

// An update at computed positions. Its value may read what is written.
void scatter_small(const Node& node, const Buffer& version,
                   const std::unordered_map<const Node*, std::vector<BufferPtr>>& computed) {
    const DType dtype = node.update().target.dtype;
    const Dims dense = c_strides(node.shape, dtype.itemsize());
    const BufferPtr aside =
        cpu_device().allocate(static_cast<size_t>(element_count(node.shape) * dtype.itemsize()));
    const StridedData value{aside->data(), &dense, dtype.scalar_type()};
    copy_eagerly(node.shape, data_of(node.inputs[1], computed), value);
    std::vector<IndexData> indices;
    for (size_t i = 0; i < node.gathered().size(); ++i)
        indices.push_back(
            {data_of(node.inputs[i + 2], computed), node.gathered()[i].extent, node.gathered()[i].stride});
    const auto wrong = scatter_eagerly(
        node.shape,
        {version.data() + node.update().target.offset, &node.update().target.strides, dtype.scalar_type()},
        indices, value);
    WEFT_CHECK(!wrong, "an index that was checked is out of bounds");
}

void draw_eagerly(const Node& node, char* out) {
    const LoopInfo& loop = node.op->loops[static_cast<size_t>(node.loop)];
    int64_t position = 0;
    std::memcpy(&position, node.inputs[0].constant.data(), sizeof position);
    std::array<char*, kMaxOperands> data{};
    data[0] = reinterpret_cast<char*>(&position);
    for (size_t k = 1; k < node.inputs.size(); ++k)
        data[k] = const_cast<char*>(reinterpret_cast<const char*>(node.inputs[k].constant.data()));
    const std::array<int64_t, kMaxOperands> strides{};
    char*& to = data[node.inputs.size()];
    to = out;
    for (int64_t i = element_count(node.shape); i > 0; --i, ++position) {
        loop.loop(data.data(), strides.data(), 1);
        to += node.results[0].dtype.itemsize();
    }
}

}  // namespace

bool is_small_group(const Group& group) {
    const Node& root = group.root();
    const bool conditional = root.kind() == NodeKind::kUpdate && !root.gathered().empty() &&
                             root.inputs.size() > root.gathered().size() + 2;
    const bool compresses = root.kind() == NodeKind::kCompress;
    return !conditional && !compresses && group.boxes.empty() &&
           std::all_of(group.nodes.begin(), group.nodes.end(), [](const Node* node) {
               return (node->kind() == NodeKind::kReduce && node->shape.size() + 1 > kMaxGridDimensions) ||
                      is_small(element_count(node->shape));
           });
}

void run_small(Group& group, bool fuse) {
    std::unordered_map<const Node*, std::vector<BufferPtr>> computed;
    GroupBuffers& buffers = group.buffers;
    buffers.assign(group.nodes.size(), {});
    group.released.reserve(group.nodes.size());  // once something is written in place, nothing may fail
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        Node& node = *group.nodes[k];
        std::vector<BufferPtr>& results = buffers[k];
        const int64_t count = element_count(node.shape);
        if (node.kind() == NodeKind::kUpdate) {
            const BufferPtr& old = node.inputs[0].source.buffer;
            const bool in_place = fuse && owns_last_references(group, old);
            BufferPtr version = in_place ? old : reserve(group, node.results[0].bytes);
            version->set_known_border(nullptr);
            results.reserve(1);
            if (!node.gathered().empty()) {
                if (!in_place)
                    std::memcpy(version->data(), old->data(), static_cast<size_t>(node.results[0].bytes));
                scatter_small(node, *version, computed);
                results.push_back(std::move(version));
                continue;
            }
            StridedData value = data_of(node.inputs[1], computed);
            // A value that reads the old version elsewhere is taken aside before the write.
            const Dims dense = c_strides(node.shape, node.inputs[1].dtype.itemsize());
            BufferPtr aside;
            if (in_place && node.inputs[1].source.buffer == old) {
                aside = reserve(group, count * node.inputs[1].dtype.itemsize());
                const StridedData copy{aside->data(), &dense, value.type};
                copy_eagerly(node.shape, value, copy);
                value = copy;
            }
            if (!in_place)
                std::memcpy(version->data(), old->data(), static_cast<size_t>(node.results[0].bytes));
            copy_eagerly(node.shape, value,
                         {version->data() + node.update().target.offset, &node.update().target.strides,
                          node.update().target.dtype.scalar_type()});
            results.push_back(std::move(version));
            continue;
        }
        for (const NodeResult& result : node.results) results.push_back(reserve(group, result.bytes));
        if (node.kind() == NodeKind::kArange) {
            arange_eagerly(node.results[0].dtype.scalar_type(), node.inputs[0].constant.data(),
                           node.inputs[1].constant.data(), node.shape[0], results[0]->data());
        } else if (node.kind() == NodeKind::kDraw) {
            draw_eagerly(node, results[0]->data());
        } else if (node.kind() == NodeKind::kReduce) {
            reduce_eagerly(
                *node.reduction(), node.compute_dtype().scalar_type(), node.shape, node.reduced_axes(),
                data_of(node.inputs[0], computed),
                {results[0]->data(), &node.results[0].strides, node.results[0].dtype.scalar_type()});
        } else if (node.kind() == NodeKind::kScan) {
            scan_eagerly(*node.op, node.op->loops[static_cast<size_t>(node.loop)], node.shape,
                         node.scan().axis, data_of(node.inputs[0], computed),
                         {results[0]->data(), &node.results[0].strides, node.results[0].dtype.scalar_type()});
        } else if (node.kind() == NodeKind::kGather && count != 0) {
            std::vector<IndexData> indices;
            for (size_t i = 0; i < node.gathered().size(); ++i)
                indices.push_back({data_of(node.inputs[i + 1], computed), node.gathered()[i].extent,
                                   node.gathered()[i].stride});
            const auto wrong = gather_eagerly(
                node.shape, data_of(node.inputs[0], computed), indices,
                {results[0]->data(), &node.results[0].strides, node.results[0].dtype.scalar_type()});
            WEFT_CHECK(!wrong, "an index that was checked is out of bounds");
        } else if (count != 0) {
            std::vector<StridedData> operands;
            for (const Operand& operand : node.inputs) operands.push_back(data_of(operand, computed));
            for (size_t r = 0; r < node.results.size(); ++r) {
                operands.push_back(
                    {results[r]->data(), &node.results[r].strides, node.results[r].dtype.scalar_type()});
            }
            if (node.op == nullptr) {
                copy_eagerly(node.shape, operands[0], operands[1]);
            } else {
                run_strided_loop(*node.op, node.op->loops[static_cast<size_t>(node.loop)], node.shape,
                                 operands);
            }
        }
        computed.emplace(&node, results);
    }
    computed.clear();
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        if (!group.stored[k]) buffers[k].clear();
    }
    commit_all(group);
}

}  // namespace weft
