#include <new>
#include <optional>

#include "core/allocation_failure.h"
#include "core/loading/loading.h"
#include "core/reserved_memory.h"

namespace weft {
namespace {

constinit std::optional<LastResort> loading;

// The lowest number runs first.
[[gnu::constructor(101)]] void begin() { begin_loading(); }

}  // namespace

void begin_loading() noexcept {
    if (prepare_reserve()) loading.emplace();
}

void end_loading() noexcept { loading.reset(); }

}  // namespace weft
