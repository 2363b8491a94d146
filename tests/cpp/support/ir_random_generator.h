// Makes random functions and kernels, instruction after instruction.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "support/ir_random.h"

namespace weft::ir {

inline constexpr uint16_t kHolders = 900;  // the scope of memory that has owners in it
inline constexpr int64_t kSize = 19;       // elements of every buffer: two AVX-512 vectors of f64 and a rest

inline constexpr ScalarType kTypes[] = {
    ScalarType::kBool,    ScalarType::kInt8,    ScalarType::kUInt8,     ScalarType::kInt32,
    ScalarType::kInt64,   ScalarType::kUInt64,  ScalarType::kFloat16,   ScalarType::kBFloat16,
    ScalarType::kFloat32, ScalarType::kFloat64, ScalarType::kComplex64, ScalarType::kComplex128};
inline constexpr ScalarType kBufferTypes[] = {ScalarType::kBool,    ScalarType::kInt32,
                                              ScalarType::kInt64,   ScalarType::kFloat32,
                                              ScalarType::kFloat64, ScalarType::kComplex128};

using Values = std::vector<ValueId>;

class RandomIr {
public:
    RandomIr(uint64_t seed, const RandomKernelOptions& options) : random_(seed), options_(options) {}
    Module run();
    Module run_function();
    static bool raises(const Region& region);

private:
    // --- both -----------------------------------------------------------------------------------------

    ValueId parameters(Builder& builder);
    uint64_t below(uint64_t n) { return random_() % n; }
    bool chance(uint64_t n) { return below(n) == 0; }
    template <class List>
    auto pick(const List& list) {
        return list[below(std::size(list))];
    }
    // Whatever is defined by `body` is out of sight afterwards.
    template <class Body>
    auto scoped(const Body& body) {
        Values outer = visible_, outer_uniform = uniform_;
        auto result = body();
        visible_ = outer;
        uniform_ = outer_uniform;
        return result;
    }
    Constant constant(ScalarType type);
    ValueId see(ValueId value);
    void see(const Values& values);
    ValueId value(ScalarType type);
    ValueId value(const Type& type);
    Values values(const std::vector<Type>& types);
    Type some_type();
    ValueId recent();
    ValueId index();
    void apply();
    void for_loop(int depth);
    std::vector<Type> types_of(const Values& values) const;
    void leave();
    Values body(const Values& arguments, size_t from, size_t to, int depth);
    void while_loop(int depth);
    void if_else(int depth);
    void reduce(int depth);
    void allocate();
    void load();
    void store();
    void statement(int depth);

    // --- functions (ir_random_functions.cpp) ----------------------------------------------------------

    Function callee(const std::string& name);
    void call_itself(const std::string& name);
    void view();
    void heap();
    void hold(ValueId owner, ValueId buffer);
    void call();
    void call_catching(const Function& function, const Values& arguments);
    bool callees_raise() const;
    Function chunk(const std::string& name);
    void spread();

    // --- kernels with blocks (ir_random_kernels.cpp) --------------------------------------------------
    //
    // Between two barriers a shared array is read by all, or each thread has its own element, or all change
    // it by one operation whose order does not matter. Loops and branches around barriers end as they began.

    struct Mode {
        enum Kind { kRead, kOwn, kAtomic } kind = kOwn;
        const OpInfo* op = nullptr;
    };
    using Modes = std::vector<Mode>;
    void block();
    Values block_body();
    void block_statement(int depth);
    void barrier();
    Values any_element();
    void access_shared();
    ValueId uniform();
    ValueId few(int64_t limit);
    void statements_with_barriers(int depth, const Modes& start);
    void see_uniform(ValueId value);
    void for_around_barriers(int depth);
    void while_around_barriers(int depth);
    void if_around_barriers(int depth);

    static constexpr MemoryOrder kOrders[] = {MemoryOrder::kRelaxed, MemoryOrder::kRelaxed,
                                              MemoryOrder::kRelaxed, MemoryOrder::kSequential};
    static constexpr MemoryScope kScopes[] = {MemoryScope::kBlock, MemoryScope::kDevice,
                                              MemoryScope::kSystem};
    std::mt19937_64 random_;
    RandomKernelOptions options_;
    Builder* b_ = nullptr;
    const std::vector<Function>* callees_ = nullptr;
    Values inputs_, outputs_, visible_;
    ValueId point_;
    int budget_ = 0;
    uint16_t next_scope_ = 100;
    bool may_write_ = true;
    // A loop that exits may leave.
    struct Loop {
        std::vector<Type> results, carried;
        ValueId left;  // how many iterations are left, of those that count them; the first that is carried
    };
    std::vector<Loop> loops_;
    std::vector<Type> returned_{Type::of(ScalarType::kFloat64), Type::of(ScalarType::kInt32)};
    bool has_buffers_ = false;  // as values that are carried and returned
    bool may_return_ = false;   // in a function that is called
    bool may_raise_ = false;
    bool may_tell_ = true;          // where the order of what is told is known
    std::vector<Function> chunks_;  // what spreads call
    bool in_block_ = false;
    Values block_sizes_, thread_, shared_;
    Modes modes_;     // of the shared arrays
    Values uniform_;  // i64, the same for all threads
};

}  // namespace weft::ir
