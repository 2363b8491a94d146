// Runs one group of a plan: chooses the kernel form and its arguments, reserves results, launches, commits.
// Each kind of group has a file: run_elementwise, run_update, run_scatter, run_reduction, run_scan,
// run_compress, and run_small for what is not worth a kernel.
#pragma once

#include <vector>

#include "planning/planner.h"

namespace weft {

// Afterwards the group's stored nodes are done. Throws before anything is changed.
void run_group(Group& group, bool fuse);

// By the CPU; and as kernels, on whichever device, where the group is one that kernels are made of.
void run_on_cpu(Group& group, bool fuse);
void run_kernels(Group& group, bool fuse);

// Buffers of each node's results, by position in the group.
using GroupBuffers = std::vector<std::vector<BufferPtr>>;

BufferPtr reserve(const Group& group, int64_t bytes);  // on the group's device
// For the results of the stored nodes (but not of a write, which decides for itself): the group's own
// buffers.
GroupBuffers& reserve_results(Group& group);
// The stored nodes get the group's buffers, are done and let go of their inputs.
void commit_all(Group& group);
// Whether nobody but this group's nodes refers to the buffer, so that it may be overwritten.
bool owns_last_references(const Group& group, const BufferPtr& buffer);

void run_elementwise(Group& group);
void run_update(Group& group, bool fuse);
void run_scatter(Group& group, bool fuse);  // an update at computed positions
void run_reduction(Group& group);
void run_scan(Group& group);
void run_compress(Group& group);

// Groups of few elements, and reductions of more dimensions than a grid has, run through ahead-of-time loops,
// node by node.
bool is_small_group(const Group& group);
void run_small(Group& group, bool fuse);

}  // namespace weft
