#include <cstddef>
#include <new>
#include <optional>

#include "core/loading/loading.h"
#include "core/memory/allocation_failure.h"
#include "core/memory/reserved_memory.h"
#include "core/threads/stack_room.h"
#include "core/threads/thread_start.h"

namespace weft {
namespace {

constinit std::optional<LastResort> loading;

// The lowest number runs first.
[[gnu::constructor(101)]] void begin() { begin_loading(); }

}  // namespace

void begin_loading() noexcept {
    if (prepare_reserve()) loading.emplace();
    (void)prepare_thread();
    constexpr size_t kStack = size_t{512} << 10;  // several times what kernels and planning take
    grow_main_stack(kStack);
}

void end_loading() noexcept { loading.reset(); }

}  // namespace weft
