// What threads of a block or of a warp tell each other, between parts of loops over the threads
// (passes/threads/thread_fission.h): all put into an array what they tell, then look at what the others do.
#pragma once

#include "passes/threads/thread_parts.h"

namespace weft::passes {

// Ends the part; what the meeting gives is known behind it.
void write_meeting(ThreadParts& parts, const ir::Instruction& meeting);

// Of arrays of bools, among the threads that take part. Appended outside of the parts.
ir::ValueId holds_for_all(ThreadParts& parts, ir::ValueId bools);
ir::ValueId holds_for_any(ThreadParts& parts, ir::ValueId bools);
// The threads of a mask for which another holds, too.
ir::ValueId both_masks(ThreadParts& parts, ir::ValueId mask, ir::ValueId other);

}  // namespace weft::passes
