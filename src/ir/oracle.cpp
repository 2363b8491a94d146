#include "ir/oracle.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>

#include "ir/printer.h"
#include "ir/race_detector.h"
#include "ir/reduction_order.h"
#include "ops/engine_function.h"
#include "weft/errors.h"

namespace weft::ir {

namespace {

constexpr int kDeepest = 500;  // calls in calls

// Memory as the interpreted kernel sees it.
struct Memory {
    uintptr_t base = 0;
    std::vector<int64_t> strides;
    uintptr_t low = 0, high = 0;                 // both 0: not checked
    bool is_private = false;                     // a thread's own
    std::shared_ptr<OracleHeap::Block> block{};  // of the heap
};

struct Slot {
    alignas(16) std::array<uint8_t, 16> bytes{};
    std::shared_ptr<const Memory> memory{};  // of a buffer

    template <class T>
    T as() const {
        if constexpr (std::is_same_v<T, bool>) return bytes[0] != 0;
        T value;
        std::memcpy(&value, bytes.data(), sizeof(T));
        return value;
    }
    static Slot of(int64_t value) {
        Slot slot;
        std::memcpy(slot.bytes.data(), &value, sizeof(value));
        return slot;
    }
};
using Slots = std::vector<Slot>;

// A region that is being run, and where in it.
struct Frame {
    const Region* region = nullptr;
    size_t next = 0;
    const Instruction* owner =
        nullptr;       // the for, while or if; null: whoever started the run waits for the end
    size_t which = 0;  // the region's number in its owner
    int64_t counter = 0, upper = 0, step = 0;
};

// One flow of control. All that it needs to go on is here, so that a block's threads can stop at barriers.
struct Thread {
    const Function* function = nullptr;
    Slots values{};
    std::vector<Frame> frames{};
    AccessOrigin origin{};
    std::deque<std::vector<char>> storages{};  // what it allocated; deques keep addresses
    const Instruction* barrier = nullptr;      // where it waits
    Slots returned{};                          // once the function has ended

    Slot& operator[](ValueId value) { return values[value.index]; }
    int64_t integer(ValueId value) { return values[value.index].as<int64_t>(); }
};

int64_t itemsize(ScalarType type) { return DType::of(type).itemsize(); }

class Oracle {
public:
    Oracle(const Module& module, const OracleOptions& options)
        : module_(module), options_(options), heap_(options.heap != nullptr ? *options.heap : own_heap_) {}

    std::vector<Constant> run(const Function& kernel, std::span<const OracleArgument> arguments) {
        if (arguments.size() != kernel.parameters.size()) {
            throw ValueError("@" + kernel.name + " takes " + std::to_string(kernel.parameters.size()) +
                             " arguments, got " + std::to_string(arguments.size()));
        }
        Slots slots;
        for (size_t i = 0; i < arguments.size(); i++) {
            slots.push_back(argument(kernel, kernel.parameters[i], arguments[i]));
        }
        const Slots results = run_function(kernel, slots, {});
        std::vector<Constant> values;
        for (size_t i = 0; i < results.size(); i++) {
            const Type& type = kernel.result_types[i];
            if (!type.is_buffer) {
                values.push_back({type.scalar, results[i].bytes});
                continue;
            }
            const Memory& memory = *results[i].memory;
            values.push_back(Constant::of(ScalarType::kInt64, static_cast<int64_t>(memory.base)));
            for (size_t d = 0; d < memory.strides.size(); d++) {
                if (type.buffer.strides[d] == kDynamic)
                    values.push_back(Constant::of(ScalarType::kInt64, memory.strides[d]));
            }
        }
        return values;
    }

private:
    Slot argument(const Function& kernel, ValueId parameter, const OracleArgument& given) {
        const Type& type = kernel.type(parameter);
        std::string what = "argument %" + kernel.values[parameter.index].name + " of @" + kernel.name;
        Slot slot;
        if (const auto* scalar = std::get_if<Constant>(&given)) {
            if (type.is_buffer || scalar->type != type.scalar)
                throw ValueError(what + " must be " + print(type));
            slot.bytes = scalar->bytes;
            return slot;
        }
        const auto& buffer = std::get<OracleBuffer>(given);
        if (!type.is_buffer || buffer.strides.size() != type.buffer.strides.size()) {
            throw ValueError(what + " must be " + print(type));
        }
        for (size_t d = 0; d < buffer.strides.size(); d++) {
            if (type.buffer.strides[d] != kDynamic && type.buffer.strides[d] != buffer.strides[d]) {
                throw ValueError(what + " has stride " + std::to_string(buffer.strides[d]) +
                                 " in dimension " + std::to_string(d) + ", its type is " + print(type));
            }
        }
        slot.memory = std::make_shared<Memory>(Memory{reinterpret_cast<uintptr_t>(buffer.base),
                                                      buffer.strides, reinterpret_cast<uintptr_t>(buffer.low),
                                                      reinterpret_cast<uintptr_t>(buffer.high)});
        return slot;
    }

    Slots run_function(const Function& function, const Slots& arguments, const AccessOrigin& origin) {
        Thread thread{.function = &function, .values = Slots(function.values.size()), .origin = origin};
        if (depth_ == kDeepest) throw Raised(kTooDeep, {}, where(thread));
        ++depth_;
        for (size_t i = 0; i < arguments.size(); i++) thread[function.parameters[i]] = arguments[i];
        enter(thread, {.region = &function.body}, {});
        WEFT_CHECK(run(thread, 0), "a barrier where none may be");
        release(thread);
        --depth_;
        return std::move(thread.returned);
    }

    // --- control flow ---

    static void enter(Thread& thread, Frame frame, std::span<const Slot> arguments) {
        for (size_t i = 0; i < arguments.size(); i++) thread[frame.region->arguments[i]] = arguments[i];
        thread.frames.push_back(frame);
    }

    // Runs a region that contains no barrier from start to end; returns what it yields.
    Slots run_region(Thread& thread, const Region& region, std::span<const Slot> arguments) {
        size_t depth = thread.frames.size();
        enter(thread, {.region = &region}, arguments);
        WEFT_CHECK(run(thread, depth), "a barrier where none may be");
        return gather(thread, region.body.back().operands);
    }

    // Runs until the frames are `depth` deep (true) or a barrier is reached (false).
    bool run(Thread& thread, size_t depth) {
        while (thread.frames.size() > depth) {
            Frame& frame = thread.frames.back();
            const Instruction& instruction = frame.region->body[frame.next++];
            if (instruction.opcode == Opcode::kRaise) {
                raise(thread, instruction, 0);
            } else if (instruction.opcode == Opcode::kYield) {
                leave(thread);
            } else if (ends_body(instruction.opcode)) {
                exit(thread, instruction);
            } else if (instruction.opcode == Opcode::kBarrier) {
                thread.barrier = &instruction;
                return false;
            } else {
                execute(thread, instruction);
            }
        }
        return true;
    }

    static Slots gather(Thread& thread, std::span<const ValueId> values) {
        Slots result;
        for (ValueId value : values) result.push_back(thread[value]);
        return result;
    }

    static void assign(Thread& thread, std::span<const ValueId> values, const Slots& slots) {
        for (size_t i = 0; i < values.size(); i++) thread[values[i]] = slots[i];
    }

    // The last frame has come to its yield.
    void leave(Thread& thread) {
        Frame frame = thread.frames.back();
        thread.frames.pop_back();
        if (frame.owner == nullptr) return;
        const Instruction& owner = *frame.owner;
        Slots yielded = gather(thread, frame.region->body.back().operands);
        if (owner.opcode == Opcode::kIf) {
            assign(thread, owner.results, yielded);
        } else if (owner.opcode == Opcode::kFor || frame.which == 1) {
            next_iteration(thread, frame, std::move(yielded));
        } else {  // the condition of a while
            bool goes_on = yielded[0].as<bool>();
            yielded.erase(yielded.begin());
            if (goes_on) {
                enter(thread, {.region = &owner.regions[1], .owner = &owner, .which = 1}, yielded);
            } else {
                assign(thread, owner.results, yielded);
            }
        }
    }

    // `frame`, of a loop's body, has been left.
    static void next_iteration(Thread& thread, Frame frame, Slots carried) {
        const Instruction& loop = *frame.owner;
        if (loop.opcode == Opcode::kWhile) {
            enter(thread, {.region = &loop.regions[0], .owner = &loop, .which = 0}, carried);
            return;
        }
        if (__builtin_add_overflow(frame.counter, frame.step, &frame.counter)) frame.counter = frame.upper;
        continue_for(thread, frame, std::move(carried));
    }

    // A break, a continue or a return.
    static void exit(Thread& thread, const Instruction& instruction) {
        Slots values = gather(thread, instruction.operands);
        if (instruction.opcode == Opcode::kReturn) {
            thread.returned = std::move(values);
            thread.frames.clear();
            return;
        }
        Frame frame;
        for (int left = instruction.depth; left >= 0;) {
            frame = thread.frames.back();
            thread.frames.pop_back();
            WEFT_CHECK(frame.owner != nullptr, "an exit from no loop");
            if (is_loop(frame.owner->opcode)) --left;
        }
        if (instruction.opcode == Opcode::kBreak) {
            assign(thread, frame.owner->results, values);
        } else {
            next_iteration(thread, frame, std::move(values));
        }
    }

    static std::vector<Constant> payload(Thread& thread, const Instruction& instruction, size_t first) {
        std::vector<Constant> values;
        for (ValueId value : std::span(instruction.operands).subspan(first))
            values.push_back({thread.function->type(value).scalar, thread[value].bytes});
        return values;
    }

    [[noreturn]] void raise(Thread& thread, const Instruction& instruction, size_t first) {
        if (instruction.again)
            throw Raised(static_cast<uint32_t>(thread.integer(instruction.operands[0]) - 1), caught_,
                         where(thread));
        throw Raised(instruction.site, payload(thread, instruction, first), where(thread));
    }

    void tell(Thread& thread, const Instruction& instruction) {
        if (options_.told != nullptr)
            options_.told->push_back({instruction.site, payload(thread, instruction, 0)});
    }

    // Chunk after chunk, so the first error is that of the lowest chunk.
    void spread(Thread& thread, const Instruction& instruction) {
        const Function* callee = module_.find(instruction.callee);
        WEFT_CHECK(callee != nullptr, "no function @" + instruction.callee);
        const Slots operands = gather(thread, instruction.operands);
        const auto size = operands[0].as<int64_t>();
        const auto chunk = std::max<int64_t>(operands[1].as<int64_t>(), 1);
        int64_t number = 0;
        for (int64_t from = 0; from < size; ++number) {
            const int64_t to = from + std::min(chunk, size - from);
            Slots arguments{Slot::of(number), Slot::of(from), Slot::of(to)};
            arguments.insert(arguments.end(), operands.begin() + 2, operands.end());
            run_function(*callee, arguments, thread.origin);
            from = to;
        }
    }

    void engine(Thread& thread, const Instruction& instruction) {
        const EngineFunction* callee = find_engine_function(instruction.callee);
        WEFT_CHECK(callee != nullptr, "the engine has no function @" + instruction.callee);
        std::vector<int64_t> words;
        for (size_t i = 0; i < instruction.operands.size(); ++i) {
            const ValueId value = instruction.operands[i];
            const Type& type = thread.function->type(value);
            if (!type.is_buffer) {
                words.push_back(thread.integer(value));  // or a float's bits
                continue;
            }
            const Memory& memory = *thread[value].memory;
            if (memory.block != nullptr && memory.block->is_gone)
                throw RuntimeError("memory is used after it was released: " + where(thread));
            const size_t rank = memory.strides.size();
            words.push_back(static_cast<int64_t>(memory.base));
            words.push_back(EngineArguments::header(type.buffer.element, rank));
            for (size_t d = 0; d < rank; ++d) words.push_back(thread.integer(instruction.operands[++i]));
            words.insert(words.end(), memory.strides.begin(), memory.strides.end());
        }
        const int64_t answer = callee->call(words.data());
        if (answer == kEngineThrew) std::rethrow_exception(take_engine_failure());
        thread[instruction.results[0]] = Slot::of(answer);
    }

    static void continue_for(Thread& thread, Frame frame, Slots carried) {
        if (frame.counter < frame.upper) {
            frame.next = 0;
            carried.insert(carried.begin(), Slot::of(frame.counter));
            enter(thread, frame, carried);
        } else {
            assign(thread, frame.owner->results, carried);
        }
    }

    void execute(Thread& thread, const Instruction& instruction) {
        const std::vector<ValueId>& operands = instruction.operands;
        switch (instruction.opcode) {
            case Opcode::kConstant: thread[instruction.results[0]].bytes = instruction.constant.bytes; break;
            case Opcode::kApply: apply(thread, instruction); break;
            case Opcode::kCast: {
                Slot from = thread[operands[0]];
                Slot to;
                const LoopInfo& loop = cast_loop(thread.function->type(operands[0]).scalar,
                                                 thread.function->type(instruction.results[0]).scalar);
                call_loop(loop, std::array{&from, &to});
                thread[instruction.results[0]] = to;
                break;
            }
            case Opcode::kLoad: {
                size_t after = instruction.predicated ? 2 : 0;
                Slot result;
                if (instruction.predicated && !thread[operands[operands.size() - 2]].as<bool>()) {
                    result = thread[operands.back()];
                } else {
                    char* from = address(thread, instruction, 1, after, AccessKind::kRead);
                    std::memcpy(result.bytes.data(), from, element_size(thread, instruction));
                }
                thread[instruction.results[0]] = result;
                break;
            }
            case Opcode::kStore: {
                size_t after = instruction.predicated ? 1 : 0;
                if (instruction.predicated && !thread[operands.back()].as<bool>()) break;
                char* to = address(thread, instruction, 2, after, AccessKind::kWrite);
                std::memcpy(to, thread[operands[1]].bytes.data(), element_size(thread, instruction));
                break;
            }
            case Opcode::kAtomic: {
                char* at = address(thread, instruction, 2, 0, AccessKind::kAtomic);
                size_t size = element_size(thread, instruction);
                Slot old, value = thread[operands[1]], result;
                std::memcpy(old.bytes.data(), at, size);
                call_loop(instruction.op->loops[static_cast<size_t>(instruction.loop)],
                          std::array{&old, &value, &result});
                std::memcpy(at, result.bytes.data(), size);
                thread[instruction.results[0]] = old;
                break;
            }
            case Opcode::kCompareExchange: {
                char* at = address(thread, instruction, 3, 0, AccessKind::kAtomic);
                size_t size = element_size(thread, instruction);
                Slot old;
                std::memcpy(old.bytes.data(), at, size);
                if (std::memcmp(at, thread[operands[1]].bytes.data(), size) == 0) {
                    std::memcpy(at, thread[operands[2]].bytes.data(), size);
                }
                thread[instruction.results[0]] = old;
                break;
            }
            case Opcode::kAllocate: allocate(thread, instruction); break;
            case Opcode::kFor: {
                Frame frame{.region = &instruction.regions[0], .owner = &instruction};
                frame.counter = thread.integer(operands[0]);
                frame.upper = thread.integer(operands[1]);
                frame.step = thread.integer(operands[2]);
                if (frame.step <= 0)
                    throw RuntimeError("the step of a for must be positive: " + where(thread));
                continue_for(thread, frame, gather(thread, std::span(operands).subspan(3)));
                break;
            }
            case Opcode::kWhile:
                enter(thread, {.region = &instruction.regions[0], .owner = &instruction},
                      gather(thread, operands));
                break;
            case Opcode::kIf: {
                size_t which = thread[operands[0]].as<bool>() ? 0 : 1;
                enter(thread, {.region = &instruction.regions[which], .owner = &instruction, .which = which},
                      {});
                break;
            }
            case Opcode::kParallel:
                if (instruction.level == ParallelLevel::kGrid) {
                    run_grid(thread, instruction);
                } else {
                    run_block(thread, instruction);
                }
                break;
            case Opcode::kReduce: assign(thread, instruction.results, reduce(thread, instruction)); break;
            case Opcode::kScan: scan(thread, instruction); break;
            case Opcode::kCall: {
                const Function* callee = module_.find(instruction.callee);
                WEFT_CHECK(callee != nullptr, "no function @" + instruction.callee);
                if (instruction.catches) {
                    call_catching(thread, instruction, *callee);
                    break;
                }
                assign(thread, instruction.results,
                       run_function(*callee, gather(thread, operands), thread.origin));
                break;
            }
            case Opcode::kSpread: spread(thread, instruction); break;
            case Opcode::kEngine: engine(thread, instruction); break;
            case Opcode::kExternal:
                throw RuntimeError("@" + instruction.callee + " is machine code, which nobody gave");
            case Opcode::kView: view(thread, instruction); break;
            case Opcode::kNull: {
                const size_t rank = thread.function->type(instruction.results[0]).buffer.strides.size();
                // No address is between these bounds.
                thread[instruction.results[0]].memory =
                    std::make_shared<Memory>(Memory{0, std::vector<int64_t>(rank), UINTPTR_MAX, UINTPTR_MAX});
                break;
            }
            case Opcode::kAddress:
                thread[instruction.results[0]] =
                    Slot::of(static_cast<int64_t>(thread[operands[0]].memory->base));
                break;
            case Opcode::kMemory: memory(thread, instruction); break;
            case Opcode::kHeap: heap(thread, instruction); break;
            case Opcode::kRetain:
            case Opcode::kRelease: count_users(thread, instruction); break;
            case Opcode::kCheck:
                if (!thread[operands[0]].as<bool>()) raise(thread, instruction, 1);
                break;
            case Opcode::kTell: tell(thread, instruction); break;
            case Opcode::kIntrinsic:
                throw NotImplementedError("the oracle does not run what threads of a warp do together");
            case Opcode::kBarrier:
            case Opcode::kYield:
            case Opcode::kBreak:
            case Opcode::kContinue:
            case Opcode::kReturn:
            case Opcode::kRaise: break;  // run() takes these
        }
    }

    template <size_t count>
    static void call_loop(const LoopInfo& loop, const std::array<Slot*, count>& slots) {
        std::array<char*, count> data;
        for (size_t i = 0; i < count; i++) data[i] = reinterpret_cast<char*>(slots[i]->bytes.data());
        std::array<int64_t, count> strides{};
        loop.loop(data.data(), strides.data(), 1);
    }

    static void apply(Thread& thread, const Instruction& instruction) {
        std::array<Slot, kMaxOperands> slots;
        std::array<Slot*, kMaxOperands> pointers;
        size_t inputs = instruction.operands.size();
        for (size_t i = 0; i < slots.size(); i++) pointers[i] = &slots[i];
        for (size_t i = 0; i < inputs; i++) slots[i] = thread[instruction.operands[i]];
        call_loop(instruction.op->loops[static_cast<size_t>(instruction.loop)], pointers);
        for (size_t i = 0; i < instruction.results.size(); i++)
            thread[instruction.results[i]] = slots[inputs + i];
    }

    // --- memory ---

    static size_t element_size(Thread& thread, const Instruction& instruction) {
        return static_cast<size_t>(itemsize(thread.function->type(instruction.operands[0]).buffer.element));
    }

    static std::string where(Thread& thread) {
        std::string text = "in @" + thread.function->name;
        if (thread.origin.point >= 0)
            text += ", point " + std::to_string(thread.origin.point) + " of the grid";
        if (thread.origin.thread >= 0)
            text += ", thread " + std::to_string(thread.origin.thread) + " of the block";
        return text;
    }

    char* address(Thread& thread, const Instruction& instruction, size_t first, size_t after,
                  AccessKind kind) {
        const std::vector<ValueId>& operands = instruction.operands;
        const Memory& memory = *thread[operands[0]].memory;
        if (memory.block != nullptr && memory.block->is_gone)
            throw RuntimeError("memory is used after it was released: " + where(thread));
        uintptr_t at = memory.base;
        std::string indices;
        for (size_t d = 0; d + first + after < operands.size(); d++) {
            at += static_cast<uintptr_t>(thread.integer(operands[first + d])) *
                  static_cast<uintptr_t>(memory.strides[d]);
        }
        uintptr_t end = at + element_size(thread, instruction);
        bool checked = memory.low != 0 || memory.high != 0;
        bool outside = checked && (at < memory.low || end > memory.high || end < at);
        auto* pointer = reinterpret_cast<char*>(at);
        bool races = !outside && options_.detect_races && !memory.is_private &&
                     !races_.access(pointer, static_cast<int64_t>(end - at), kind, thread.origin);
        if (!outside && !races) return pointer;

        std::string text(opcode_name(instruction.opcode));
        text += " %" + thread.function->values[operands[0].index].name + "[";
        for (size_t d = 0; d + first + after < operands.size(); d++) {
            text += (d > 0 ? ", " : "") + std::to_string(thread.integer(operands[first + d]));
        }
        text += "] " + where(thread);
        if (outside) throw IndexError("kernel access out of bounds: " + text);
        throw RuntimeError("race between threads: " + text);
    }

    static void allocate(Thread& thread, const Instruction& instruction) {
        const BufferType& type = thread.function->type(instruction.results[0]).buffer;
        std::vector<int64_t> sizes = type.sizes, strides = type.strides;
        size_t dynamic = 0;
        for (int64_t& size : sizes) {
            if (size == kDynamic)
                size = std::max<int64_t>(thread.integer(instruction.operands[dynamic++]), 0);
        }
        for (size_t d = sizes.size(); d-- > 0;) {
            if (strides[d] == kDynamic) strides[d] = sizes[d + 1] * strides[d + 1];
        }
        int64_t bytes = itemsize(type.element);
        for (size_t d = 0; d < sizes.size(); d++) bytes += (sizes[d] - 1) * strides[d];
        if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) bytes = 0;
        // Memory is not initialised; a pattern makes reading it show.
        thread.storages.emplace_back(static_cast<size_t>(bytes), static_cast<char>(0xa5));
        auto base = reinterpret_cast<uintptr_t>(thread.storages.back().data());
        thread[instruction.results[0]].memory = std::make_shared<Memory>(
            Memory{base, std::move(strides), base, base + static_cast<uintptr_t>(bytes),
                   type.space == AddressSpace::kLocal});
    }

    // The strides of a result: those that its type tells, and operands from `first` on.
    static std::vector<int64_t> strides_of(Thread& thread, const Instruction& instruction, ValueId result,
                                           size_t first) {
        std::vector<int64_t> strides = thread.function->type(result).buffer.strides;
        for (int64_t& stride : strides) {
            if (stride == kDynamic) stride = thread.integer(instruction.operands[first++]);
        }
        return strides;
    }

    static void view(Thread& thread, const Instruction& instruction) {
        Memory memory = *thread[instruction.operands[0]].memory;
        memory.base += static_cast<uintptr_t>(thread.integer(instruction.operands[1]));
        const std::vector<int64_t>& strides = thread.function->type(instruction.results[0]).buffer.strides;
        const bool keeps = instruction.operands.size() == 2 &&
                           std::find(strides.begin(), strides.end(), kDynamic) != strides.end();
        if (!keeps) memory.strides = strides_of(thread, instruction, instruction.results[0], 2);
        thread[instruction.results[0]].memory = std::make_shared<Memory>(std::move(memory));
    }

    // Of the heap where the address is there, else of an argument, whose bounds are not known.
    void memory(Thread& thread, const Instruction& instruction) {
        const auto at = static_cast<uintptr_t>(thread.integer(instruction.operands[0]));
        Memory memory{at, strides_of(thread, instruction, instruction.results[0], 1)};
        if (std::shared_ptr<OracleHeap::Block> block = heap_.block_at(at)) {
            memory.low = reinterpret_cast<uintptr_t>(block->bytes.data());
            memory.high = memory.low + block->bytes.size();
            memory.block = std::move(block);
        }
        thread[instruction.results[0]].memory = std::make_shared<Memory>(std::move(memory));
    }

    // What a callee has begun ends with its error: calls in it, and local memory.
    void call_catching(Thread& thread, const Instruction& instruction, const Function& callee) {
        const int depth = depth_;
        Slots results{Slot::of(0)};
        try {
            for (Slot& slot : run_function(callee, gather(thread, instruction.operands), thread.origin))
                results.push_back(std::move(slot));
        } catch (const Raised& raised) {
            depth_ = depth;
            caught_ = raised.payload;
            results.assign(instruction.results.size(), Slot{});
            results[0] = Slot::of(int64_t{raised.site} + 1);
        }
        assign(thread, instruction.results, results);
    }

    void heap(Thread& thread, const Instruction& instruction) {
        const int64_t grown = instruction.grows ? thread.integer(instruction.operands[1]) : 0;
        if (grown != 0 && !heap_.has_one_user(grown))
            throw RuntimeError("memory that grows has not one user: " + where(thread));
        const int64_t owner =
            heap_.allocate(thread.integer(instruction.operands[0]), instruction.owners, grown);
        if (owner == 0) throw Raised(instruction.site, {}, where(thread));
        const std::shared_ptr<OracleHeap::Block>& block = heap_.blocks.at(owner);
        const auto base = reinterpret_cast<uintptr_t>(block->bytes.data());
        const size_t first = instruction.grows ? 2 : 1;
        thread[instruction.results[1]].memory = std::make_shared<Memory>(
            Memory{base, strides_of(thread, instruction, instruction.results[1], first), base,
                   base + block->bytes.size(), false, block});
        thread[instruction.results[0]] = Slot::of(owner);
    }

    void count_users(Thread& thread, const Instruction& instruction) {
        const int64_t owner = thread.integer(instruction.operands[0]);
        const bool retains = instruction.opcode == Opcode::kRetain;
        if (!(retains ? heap_.retain(owner) : heap_.release(owner)))
            throw RuntimeError("there is no such owner: " + where(thread));
    }

    void release(Thread& thread) {
        for (const std::vector<char>& storage : thread.storages) {
            if (options_.detect_races) races_.forget(storage.data(), static_cast<int64_t>(storage.size()));
        }
        thread.storages.clear();
    }

    // --- parallel regions ---

    // Calls `visit` with each index of a box, the last dimension fastest.
    template <class Visit>
    static void for_each_index(const std::vector<int64_t>& sizes, const Visit& visit) {
        if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size <= 0; })) return;
        std::vector<int64_t> index(sizes.size());
        while (true) {
            visit(index);
            size_t d = sizes.size();
            while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
            if (d == 0) return;
        }
    }

    static std::vector<int64_t> sizes_of(Thread& thread, const Instruction& instruction) {
        std::vector<int64_t> sizes;
        for (ValueId size : instruction.operands) sizes.push_back(thread.integer(size));
        return sizes;
    }

    static Slots as_slots(const std::vector<int64_t>& index) {
        Slots slots;
        for (int64_t value : index) slots.push_back(Slot::of(value));
        return slots;
    }

    void run_grid(Thread& thread, const Instruction& instruction) {
        races_.forget_all();
        std::vector<int64_t> sizes = sizes_of(thread, instruction);
        // Ranges are cut unevenly, since a kernel may not depend on how.
        std::vector<int64_t> cuts;
        auto dimension = static_cast<size_t>(instruction.range_dimension);
        bool ranged = instruction.range_dimension >= 0;
        if (ranged) {
            int64_t size = std::max<int64_t>(sizes[dimension], 0);
            for (int64_t cut = 0; cut < size; cut += 1 + static_cast<int64_t>(cuts.size()) * 5)
                cuts.push_back(cut);
            sizes[dimension] = static_cast<int64_t>(cuts.size());
            cuts.push_back(size);
        }
        int64_t point = 0;
        for_each_index(sizes, [&](std::vector<int64_t> index) {
            if (ranged) {
                auto range = static_cast<size_t>(index[dimension]);
                index[dimension] = cuts[range];
                index.insert(index.begin() + instruction.range_dimension + 1, cuts[range + 1]);
            }
            // A thread of its own, so that what the point allocates goes with it.
            Thread own{.function = thread.function, .values = thread.values};
            own.origin.point = point++;
            run_region(own, instruction.regions[0], as_slots(index));
            release(own);
        });
        races_.forget_all();
    }

    void run_block(Thread& thread, const Instruction& instruction) {
        thread.origin.epoch++;
        std::deque<Thread> threads;
        for_each_index(sizes_of(thread, instruction), [&](const std::vector<int64_t>& index) {
            Thread& own = threads.emplace_back(Thread{.function = thread.function, .values = thread.values});
            own.origin = {thread.origin.point, static_cast<int64_t>(threads.size()) - 1, thread.origin.epoch};
            enter(own, {.region = &instruction.regions[0]}, as_slots(index));
        });
        bool ended = threads.empty();
        while (!ended) {
            size_t done = 0;
            for (Thread& own : threads) {
                own.barrier = nullptr;
                done += run(own, 0) ? 1 : 0;
            }
            ended = done == threads.size();
            thread.origin.epoch++;
            for (Thread& own : threads) {
                own.origin.epoch = thread.origin.epoch;
                if (own.barrier != threads[0].barrier) {
                    throw RuntimeError("not all threads of the block reach the same barrier: " + where(own));
                }
            }
        }
        for (Thread& own : threads) release(own);
    }

    // --- reductions ---

    Slots combine(Thread& thread, const Instruction& instruction, const Slots& left, const Slots& right) {
        Slots arguments = left;
        arguments.insert(arguments.end(), right.begin(), right.end());
        return run_region(thread, instruction.regions[1], arguments);
    }

    Slots element(Thread& thread, const Instruction& instruction, int64_t i) {
        return run_region(thread, instruction.regions[0], std::array{Slot::of(i)});
    }

    Slots reduce(Thread& thread, const Instruction& instruction) {
        return reduce_in_order(
            thread.integer(instruction.operands[0]), instruction.block, instruction.lanes,
            gather(thread, std::span(instruction.operands).subspan(1)),
            [&](int64_t i) { return element(thread, instruction, i); },
            [&](const Slots& left, const Slots& right) { return combine(thread, instruction, left, right); });
    }

    void scan(Thread& thread, const Instruction& instruction) {
        int64_t size = thread.integer(instruction.operands[0]);
        Slots prefix = gather(thread, std::span(instruction.operands).subspan(1));
        for (int64_t i = 0; i < size; i++) {
            prefix = combine(thread, instruction, prefix, element(thread, instruction, i));
            Slots arguments = prefix;
            arguments.insert(arguments.begin(), Slot::of(i));
            run_region(thread, instruction.regions[2], arguments);
        }
    }

    const Module& module_;
    OracleOptions options_;
    RaceDetector races_;
    OracleHeap own_heap_;
    OracleHeap& heap_;
    int depth_ = 0;                   // of calls
    std::vector<Constant> caught_{};  // what the last error that was caught told
};

}  // namespace

Raised::Raised(uint32_t site, std::vector<Constant> payload, const std::string& where)
    : RuntimeError("raise " + std::to_string(site) + " " + where), site(site), payload(std::move(payload)) {}

std::vector<Constant> run_oracle(const Module& module, const Function& function,
                                 std::span<const OracleArgument> arguments, const OracleOptions& options) {
    return Oracle(module, options).run(function, arguments);
}

}  // namespace weft::ir
