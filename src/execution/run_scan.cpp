#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/shape.h"
#include "core/threads/thread_pool.h"
#include "execution/kernels/launch_replay.h"
#include "execution/run_elementwise.h"
#include "library/loops/scan_order.h"
#include "lowering/lower_scan.h"

namespace weft {

namespace {

// Fewer columns than these are walked as rows, element by element.
constexpr int64_t kFewColumns = 32;
constexpr int64_t kTileGrain = 64;
constexpr int64_t kManyRows = 1024;  // of a GPU: blocks of threads that keep it busy

class ScanRun {
public:
    explicit ScanRun(Group& group) : group_(group), node_(group.root()), axis_(node_.scan().axis) {
        const DType compute = node_.compute_dtype();
        form_.op = node_.op;
        form_.compute = compute.scalar_type();
        form_.in_order = scans_in_order(*node_.op, compute.scalar_type(), node_.shape[axis_]);
    }

    void run() {
        GroupBuffers& buffers = reserve_results(group_);
        const Buffer& result = *buffers[group_.nodes.size() - 1][0];
        // The number of threads may have changed since the last run.
        const bool cut = cuts_rows();
        GroupRun run(group_, buffers, cut ? 1 : 0);
        run.cannot_repeat();
        if (cut) {
            run_chunks(result, run);
        } else {
            run_rows(result, run);
        }
        run.finish();
        commit_all(group_);
    }

private:
    bool cuts_rows() const {
        if (group_.device->is_cpu()) return scan_reads_twice(node_);
        // A block of threads takes a row; there should be enough of them.
        const int64_t length = node_.shape[axis_];
        const int64_t rows = element_count(node_.shape) / std::max<int64_t>(length, 1);
        return !form_.in_order && length >= 4 * kScanChunk && rows < kManyRows;
    }

    // A kernel over the other dimensions, merged, and a row; `extents` are these, at least two.
    KernelParts parts_for(ScanForm::Part part, const Buffer& result, Dims& extents) const {
        KernelParts parts;
        parts.form.shape = KernelShape::kScan;
        StepBuilder steps(parts, group_);
        parts.form.scan = form_;
        parts.form.scan->part = part;
        parts.form.scan->element = steps.operand_of(node_, 0, identity_map(node_.shape));
        ++parts.operations;
        parts.outputs.push_back(use_of(result, 0, node_.results[0].dtype, node_.results[0].strides));
        parts.outputs.back().streamed = group_.streamed.back();
        parts.form.outputs.push_back({parts.form.scan->element, {}});
        extents = row_last(node_.shape);
        std::vector<BufferUse*> uses;
        for (BufferUse& use : parts.inputs) uses.push_back(&use);
        for (BufferUse& use : parts.outputs) uses.push_back(&use);
        for (BufferUse* use : uses) use->strides = row_last(use->strides);
        const BufferUse layout_operand = parts.outputs[0];
        collapse(extents, uses, layout_operand, 1);
        parts.form.grid_rank = static_cast<int>(extents.size()) - 1;
        return parts;
    }

    Dims row_last(const Dims& dims) const {
        Dims result;
        for (size_t d = 0; d < dims.size(); ++d) {
            if (d != axis_) result.push_back(dims[d]);
        }
        result.push_back(dims[axis_]);
        return result;
    }

    void run_rows(const Buffer& result, GroupRun& run) const {
        Dims extents;
        KernelParts parts = parts_for(ScanForm::Part::kRows, result, extents);
        const size_t rank = extents.size();
        const Dims& strides = parts.outputs[0].strides;
        const int64_t columns = extents[rank - 2];
        const bool across = group_.device->is_cpu() && columns >= kFewColumns &&
                            std::abs(strides[rank - 2]) < std::abs(strides[rank - 1]);
        parts.form.scan->across = across;
        finish_forms(parts, true);
        if (!across) {
            run.launch(parts, extents);
            return;
        }
        // Narrow enough for every core to have a tile, if there are too few rows of tiles.
        const int64_t threads = num_threads();
        int64_t width = (columns + threads - 1) / threads;
        width = std::min((width + kTileGrain - 1) / kTileGrain * kTileGrain,
                         ScanLowering::max_columns(form_.compute));
        Dims grid(std::span(extents.begin(), rank - 2));
        grid.push_back((columns + width - 1) / width);
        grid.push_back(extents[rank - 1]);
        grid.push_back(columns);
        grid.push_back(width);
        run.launch(parts, grid, extents);
    }

    void run_chunks(const Buffer& result, GroupRun& run) const {
        Dims extents;
        KernelParts first = parts_for(ScanForm::Part::kChunkTotals, result, extents);
        KernelParts second = parts_for(ScanForm::Part::kChunks, result, extents);
        const size_t rank = extents.size();
        const int64_t length = extents[rank - 1], chunks = (length + kScanChunk - 1) / kScanChunk;
        Dims grid(std::span(extents.begin(), rank - 1));
        grid.push_back(chunks);
        const DType compute = node_.compute_dtype();
        const BufferPtr between = reserve(group_, element_count(grid) * compute.itemsize());
        BufferUse use = use_of(*between, 0, compute, c_strides(grid, compute.itemsize()));
        const Dims all_chunks = grid;
        grid.push_back(length);

        first.outputs[0] = use;
        finish_forms(first, true);
        first.form.outputs[0].buffer = buffer_form(use, false, 1, false);
        first.form.chunked = true;
        ++first.form.grid_rank;
        run.launch(first, grid, extents);

        BufferPtr before;
        if (group_.device->is_cpu()) {
            combine_chunks(between->data(), element_count(extents) / length, chunks);
        } else {
            before = reserve(group_, element_count(all_chunks) * compute.itemsize());
            const BufferUse result_use = use_of(*before, 0, compute, use.strides);
            combine_chunks_there(use, result_use, all_chunks, run);
            use = result_use;
        }

        finish_forms(second, true);
        second.inputs.push_back(use);
        second.form.inputs.push_back({buffer_form(use, true, 0, false), false});
        second.form.chunked = true;
        ++second.form.grid_rank;
        run.launch(second, grid, extents);
    }

    // From what each chunk comes to, to what comes before it.
    void combine_chunks(char* totals, int64_t rows, int64_t chunks) const {
        const StridedLoop loop = node_.op->loops[static_cast<size_t>(node_.loop)].loop;
        const int64_t itemsize = node_.compute_dtype().itemsize();
        const ir::Constant identity = *scan_identity(*node_.op, form_.compute);
        const int64_t strides[3] = {0, 0, 0};
        for (int64_t row = 0; row < rows; ++row) {
            alignas(16) char before[16], total[16];
            std::memcpy(before, identity.bytes.data(), sizeof before);
            for (int64_t k = 0; k < chunks; ++k, totals += itemsize) {
                std::memcpy(total, totals, static_cast<size_t>(itemsize));
                std::memcpy(totals, before, static_cast<size_t>(itemsize));
                char* const data[3] = {before, total, before};
                loop(data, strides, 1);
            }
        }
    }

    // The same by a kernel, where the host does not look.
    void combine_chunks_there(const BufferUse& totals, const BufferUse& before, const Dims& all_chunks,
                              GroupRun& run) const {
        KernelParts parts;
        parts.form.shape = KernelShape::kScan;
        parts.form.scan = form_;
        parts.form.scan->part = ScanForm::Part::kBefore;
        parts.form.scan->element = {ValueForm::Kind::kInput, 0, 0};
        parts.form.grid_rank = static_cast<int>(all_chunks.size()) - 1;
        parts.inputs.push_back(totals);
        parts.outputs.push_back(before);
        parts.form.outputs.push_back({parts.form.scan->element, {}});
        finish_forms(parts, true);
        run.launch(parts, all_chunks);
    }

    Group& group_;
    const Node& node_;
    const size_t axis_;
    ScanForm form_;
};

}  // namespace

void run_scan(Group& group) { ScanRun(group).run(); }

}  // namespace weft
