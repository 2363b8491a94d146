// What the functions of a module share while they are lowered: which there are for which types of arguments,
// what their arrays may overlap, and what errors, indices and loops tell. lowering.h walks through each.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/ir.h"
#include "lang/containers/list_types.h"
#include "lang/errors/diagnostics.h"
#include "lang/exceptions/classes.h"
#include "lang/kernels/thread_place.h"
#include "lang/lower.h"

namespace weft::lang {

// A function for certain argument types, which others call.
struct Specialised {
    std::string name;
    TypeRef result = nullptr;
    bool catches = false;  // errors, itself or in what it calls
    bool meets = false;    // threads of a block wait for each other, in it or in what it calls
    enum class State : uint8_t { kNew, kTyping, kTyped, kLowering, kDone } state = State::kNew;
    std::set<uint16_t> written;
    std::set<uint32_t> written_lists{};
};

// Arrays that meet in one variable may be either, so their scopes are one. That is found while types are:
// then everything is lowered again.
struct ScopesMeet {
    uint16_t one, other;
};
class ScopeMap {
public:
    uint16_t canonical(uint16_t scope) const;
    TypeRef canonical(TypeRef type);
    void merge(uint16_t one, uint16_t other);
    ListTypes lists{};

private:
    std::map<uint16_t, uint16_t> merged_;
};

// A name of the program with what the text of kernel IR has no place for replaced: <lambda>, größe.
std::string name_in_ir(std::string name);

// What all functions of a module share.
class Compilation {
public:
    Compilation(const Options& options, ScopeMap& scopes, std::vector<GlobalArgument> globals)
        : options_(options), globals_(std::move(globals)), scopes_(scopes) {}

    // All functions of the module take them behind their arguments.
    const std::vector<GlobalArgument>& globals() const { return globals_; }

    ScopeMap& scopes() const { return scopes_; }

    const Options& options() const { return options_; }
    bool is_entry(const Specialised& function) const { return &function == entry_; }
    KernelMemory& kernel_memory() { return kernel_memory_; }
    // Its code, or its name and result while it is being lowered.
    const Specialised& specialise(const FunctionSource& function, std::span<const TypeRef> arguments,
                                  const Spot& caller = {});
    // The type of its result, as far as it is known: kNever while that hangs on the function itself.
    TypeRef result_of(const FunctionSource& function, std::span<const TypeRef> arguments,
                      const Spot& caller = {});
    bool is_provisional() const { return provisional_; }
    // Whether the result of a function hangs on one whose result is being found around it.
    bool hangs_on_outer(const Specialised& function) const {
        return lowest_asked_ < typing_.size() && typing_[lowest_asked_] != &function;
    }
    uint32_t add_site(Site site) {
        const uint32_t exception = catches_ ? exceptions_.of(site) : 0;
        sites_.push_back(std::move(site));
        return static_cast<uint32_t>(sites_.size() - 1) | exception << kErrorBits;
    }
    // Whether some function of the module catches errors. Then what raises gives back what it has.
    bool catches() const { return catches_; }
    void note_catch() { catches_ = true; }
    ExceptionClasses& exceptions() { return exceptions_; }
    void add_index(const IndexNote& note) { indices_.push_back(note); }
    void add_parallel(ParallelNote note) { parallel_.push_back(std::move(note)); }
    uint32_t add_loop(const LoopNote& note) {
        loops_.push_back(note);
        return static_cast<uint32_t>(loops_.size());
    }
    // The number of a line of the program in the module; 0: it is none.
    uint32_t line_of(const Spot& spot);
    // A function that is no specialisation: the iterations of a parallel loop.
    std::string name_beside(const std::string& name) {
        return name + ".chunk" + std::to_string(++functions_beside_);
    }
    // Whether so many nodes are still lowered in place of calls.
    bool may_inline(size_t nodes) {
        constexpr size_t kMost = 5000;
        if (inlined_ + nodes > kMost) return false;
        inlined_ += nodes;
        return true;
    }
    void add_function(ir::Function function);
    // Whether the function is compiled by itself, for all programs that call it with such arguments.
    bool is_shared(const Specialised& function, std::span<const TypeRef> arguments);
    // Whether what is lowered now may have another order of its sums, and whether a function that it calls
    // may.
    bool is_fast() const { return fast_; }
    bool is_fast(const FunctionSource& function) const;
    const ir::Module& module() const { return module_; }
    const ir::Function& function(const std::string& name) const { return *module_.find(name); }
    Lowered finish(const Specialised& entry, std::span<const TypeRef> arguments);

private:
    // With the function and node that call it, where it is the prelude's.
    using Key = std::tuple<const FunctionSource*, std::vector<TypeRef>, const FunctionSource*, NodeId, bool>;

    Options options_;
    std::vector<GlobalArgument> globals_;
    ScopeMap& scopes_;
    ir::Module module_;
    Specialised& entry(const FunctionSource& function, std::span<const TypeRef> arguments,
                       const Spot& caller);

    std::map<Key, Specialised> specialised_;
    std::map<const FunctionSource*, int> instances_;
    bool provisional_ = false;                // a type was asked for that is not yet known for good
    std::vector<const Specialised*> typing_;  // functions whose results are being found, the outermost first
    size_t lowest_asked_ = SIZE_MAX;          // of those, the outermost that was asked for its result
    std::vector<Site> sites_;
    std::vector<IndexNote> indices_;
    std::vector<ParallelNote> parallel_;
    std::vector<LoopNote> loops_;
    std::map<ir::SourceLine, uint32_t> lines_;
    bool fast_ = false;
    int functions_beside_ = 0;
    size_t inlined_ = 0;
    std::map<std::string, bool> shared_{};
    void share_outside_of_loops(const std::string& entry);
    const Specialised* entry_ = nullptr;
    const FunctionSource* launch_ = nullptr;  // the entry of a kernel
    KernelMemory kernel_memory_{};
    bool catches_ = false;
    ExceptionClasses exceptions_;
};

}  // namespace weft::lang
