// What poisons values until it is decided (deferred_checks.h): checks, of which those who know a kind derive.
#pragma once

#include <memory>
#include <vector>

#include "weft/array.h"

namespace weft {

// Thread safe.
class PoisonCheck {
public:
    PoisonCheck() = default;
    PoisonCheck(const PoisonCheck&) = delete;
    PoisonCheck& operator=(const PoisonCheck&) = delete;
    virtual ~PoisonCheck() = default;

    virtual bool is_decided() = 0;
    virtual bool has_failed() = 0;
    [[noreturn]] virtual void throw_error() = 0;
    // The values that it will look at, while it is open, so that those of many checks are computed together.
    virtual void add_values(std::vector<array>& values) { (void)values; }
    // Decides it, and throws nothing.
    virtual void inspect() = 0;
};

struct Poison {
    std::vector<std::shared_ptr<PoisonCheck>> checks;

    Poison();
    ~Poison();
    Poison(const Poison&) = delete;
    Poison& operator=(const Poison&) = delete;
};

}  // namespace weft
