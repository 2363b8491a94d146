// CUDA-style kernels: what they ask of the thread that runs them (threadIdx, shared.array, syncthreads,
// atomic.add and so on, by the paths of weft.cuda), and the blocks that a launch runs.
#pragma once

#include "lang/kernels/thread_place.h"
#include "lang/kernels/thread_uses.h"
#include "lang/lowering.h"

namespace weft::lang {

class FunctionLowering::Kernels {
public:
    static constexpr std::string_view kPaths = "weft.cuda.";

    static constexpr int64_t kWarp = 32;

    // What cg.this_grid() gives.
    static constexpr std::string_view kGridGroup = "the grid's group";
    static bool is_grid_group(const Value& value) {
        return value.type->kind == TypeKind::kTogether && value.type->text == kGridGroup;
    }
    Value call_method_of_grid(std::string_view name, const Arguments& arguments);

    // Whether a function makes arrays of a block or a thread, whose sizes it may have been given.
    static bool makes_arrays(const FunctionSource& function);

    // `path`: behind kPaths.
    Kernels(FunctionLowering& lowering, std::string_view path, NodeId where)
        : f_(lowering), path_(path), where_(where) {}

    // What a name like threadIdx.x stands for; nothing where it is a function.
    std::optional<Value> value();
    Value call(const Arguments& arguments);
    // A function of other machine code (external_calls.cpp).
    Value call_external(const ExternalFunction& function, const Arguments& arguments);
    // Where accesses are told: one that is about to happen; `value` is what it writes.
    void tell_access(ThreadEvent event, const Element& element, std::optional<ir::ValueId> value = {});

private:
    using Index = std::vector<ir::ValueId>;

    Value place(PlaceArgument argument);
    ir::ValueId number(PlacePart part, size_t axis);
    Value integer_of(ir::ValueId value) const { return {scalar_type(ScalarType::kInt64, true), {value}, 0}; }
    ir::ValueId index(int64_t value) { return f_.integer(value).parts[0]; }
    ir::ValueId linear_thread();
    ir::ValueId lane();
    void note_meeting();
    void tell_event(ThreadEvent event, std::vector<ir::ValueId> payload = {});
    [[noreturn]] void refuse(const std::string& what, const std::string& help = {}) const;

    // --- indices of threads ---
    Value grid(const Arguments& arguments, bool of_all);

    // --- memory (memory.cpp) ---
    Value make_array(PlaceArgument memory, const Arguments& arguments);
    ScalarType element_of(const Value& dtype) const;

    // --- what threads do together (meetings.cpp) ---
    std::optional<Value> meet(const Arguments& arguments);
    Value intrinsic(ir::Intrinsic intrinsic, std::span<const ir::ValueId> operands, ScalarType result);
    Value shuffled(ir::Intrinsic which, std::span<const Value> given, ir::ValueId lane,
                   std::optional<ir::ValueId> by);
    ir::ValueId to_mask(const Value& mask);

    // --- what a thread computes by itself (intrinsics.cpp) ---
    std::optional<Value> compute(const Arguments& arguments);
    Value of_halves(std::string_view name, const Arguments& arguments);

    // --- what the race checker hears (accesses.cpp) ---
    bool tells() const;
    void tell_memory(ThreadEvent event, TypeRef array, ir::ValueId address, std::optional<ir::ValueId> value);

    // --- functions in CUDA C++ on a CPU (external_calls.cpp) ---
    Value put_in_place(const ExternalFunction& function, std::span<const Value> given,
                       const std::vector<ir::ValueId>& operands);
    Value results_of(const ExternalFunction& function, std::optional<ir::ValueId> status,
                     std::optional<ir::ValueId> result);

    // --- atomics (atomics.cpp) ---
    Value atomic(std::string_view name, const Arguments& arguments);
    Value exchange(const Element& element, const std::function<ir::ValueId(ir::ValueId)>& next);
    Value exchange_float(const Element& element, const std::function<ir::ValueId(ir::ValueId)>& next);

    // --- blocks (blocks.cpp) ---
    struct Given;
    Given given(const Arguments& arguments);
    Value count_blocks(const Arguments& arguments);
    Value run_block(const Arguments& arguments);
    struct Launch;
    size_t first_place() const;
    void run_on_gpu(const Launch& launch);
    void run_on_cpu(const Launch& launch);
    Value memory_at(PlaceArgument argument, ir::ValueId address, ir::ValueId bytes);
    void set_place(std::span<const ir::ValueId> numbers, std::span<const Value> memory);
    void run_threads(const FunctionSource& kernel, const std::vector<Value>& arguments,
                     const std::array<ir::ValueId, 3>& size, ir::ValueId own_bytes);
    void run_together(const FunctionSource& kernel, const std::vector<Value>& arguments,
                      const std::array<ir::ValueId, 3>& size, ir::ValueId own_bytes);
    void call_kernel(const FunctionSource& kernel, const std::vector<Value>& arguments);
    void set_thread(std::span<const ir::ValueId> thread);
    void set_memory(PlaceArgument argument, Value memory);
    void set_own_memory(ir::ValueId number, ir::ValueId bytes);

    // --- threads that are loops, all of a launch (tiles.cpp) ---
    struct Tiles;
    std::optional<ThreadUses> uses_of_tiles(const Specialised& code) const;
    Tiles cut(const ThreadUses& uses, const std::array<ir::ValueId, 3>& grid,
              const std::array<ir::ValueId, 3>& block);
    void run_tile(const Launch& launch, const Tiles& tiles);

    FunctionLowering& f_;
    std::string_view path_;
    NodeId where_;
};

}  // namespace weft::lang
