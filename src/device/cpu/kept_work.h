// Work that can be done again and is kept in the pool's memory: it gives way where memory runs out.
#pragma once

namespace weft {

// Who keeps such work names a function here, which gives up the least recently used of it and says whether
// there was any. It is asked where memory runs out, with none of the pool's locks held, and by
// empty_memory_pool().
bool drop_kept_work_by(bool (*drop)());

}  // namespace weft
