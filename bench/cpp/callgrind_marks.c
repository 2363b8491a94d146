// For bench/instructions.py: tells callgrind where a statement begins and ends.
#include <valgrind/callgrind.h>

void begin_count(void) { CALLGRIND_ZERO_STATS; }
void end_count(const char* name) { CALLGRIND_DUMP_STATS_AT(name); }
