#include "codegen/ptx/row_cache.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft::codegen {
namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Region;
using ir::ValueId;

constexpr int64_t kLanes = 32;
constexpr int64_t kMostBytes = 16;  // for each element: longer rows than a few thousand should fit

bool is_plain(const Region& region) {
    return std::all_of(region.body.begin(), region.body.end(), [](const Instruction& instruction) {
        switch (instruction.opcode) {
            case Opcode::kConstant:
            case Opcode::kApply:
            case Opcode::kCast:
            case Opcode::kLoad:
            case Opcode::kStore:
            case Opcode::kYield: return true;
            default: return false;
        }
    });
}

class Finder {
public:
    Finder(const ir::Function& kernel, const std::set<uint16_t>& unwritten)
        : kernel_(kernel), unwritten_(unwritten) {}

    RowCache find(const Region& grid) {
        find_walks(grid);
        if (walks_.size() < 2) return {};
        for (size_t walk = 0; walk < walks_.size(); ++walk) number(walk);
        for (size_t walk = 1; walk < walks_.size(); ++walk) find_wanted(walk);
        return lay_out();
    }

private:
    // What is computed for an element, in however many walks.
    struct Number {
        size_t first_walk;
        size_t last_read = 0;  // 0: kept by nobody
        ScalarType type;
        bool reads;  // depends on the element by a load
        int64_t offset = -1;
    };

    // Walks of one length; a block's loop over the row is one where no thread depends on another.
    void find_walks(const Region& grid) {
        for (const Instruction& instruction : grid.body) {
            const bool reduces = instruction.opcode == Opcode::kReduce && instruction.lanes == kLanes;
            const bool writes = instruction.opcode == Opcode::kParallel && instruction.operands.size() == 1;
            if ((!reduces && !writes) || !is_plain(instruction.regions[0])) continue;
            if (walks_.empty()) {
                if (!reduces) continue;
                row_cache_.size = instruction.operands[0];
                row_cache_.block = instruction.block;
            }
            if (instruction.operands[0] != row_cache_.size ||
                (reduces && instruction.block != row_cache_.block))
                continue;
            walks_.push_back(&instruction);
        }
    }

    // Gives the same number to what is computed alike.
    void number(size_t walk) {
        const Region& body = walks_[walk]->regions[0];
        names_[body.arguments[0].index] = "k";
        depends_.insert(body.arguments[0].index);
        for (const Instruction& instruction : body.body) {
            if (instruction.results.empty()) continue;
            const bool loads = instruction.opcode == Opcode::kLoad;
            std::string name;
            bool reads = false, same = true;
            switch (instruction.opcode) {
                case Opcode::kConstant:
                    name.assign(reinterpret_cast<const char*>(instruction.constant.bytes.data()),
                                instruction.constant.bytes.size());
                    break;
                case Opcode::kApply:
                    name = std::string(instruction.op->name) + std::to_string(instruction.loop);
                    break;
                case Opcode::kCast: name = "to"; break;
                default: name = "load"; break;
            }
            if (loads) {
                const ir::BufferType& type = kernel_.type(instruction.operands[0]).buffer;
                same = type.space == ir::AddressSpace::kGlobal && unwritten_.contains(type.alias_scope) &&
                       !instruction.predicated;
            }
            bool depends = false;
            for (const ValueId operand : instruction.operands) {
                name += "," + name_of(operand);
                depends |= depends_.contains(operand.index);
                if (const auto known = number_of_.find(operand.index); known != number_of_.end())
                    reads |= numbers_[known->second].reads;
            }
            reads |= loads && depends;
            if (instruction.results.size() > 1) reads = false;  // computed again
            if (!same) name += "!" + std::to_string(instruction.results[0].index);
            for (size_t k = 0; k < instruction.results.size(); ++k) {
                const ValueId result = instruction.results[k];
                const ScalarType type = kernel_.type(result).scalar;
                const std::string full =
                    "(" + name + ")" + std::to_string(k) + ":" + std::to_string(static_cast<int>(type));
                const auto [at, fresh] = by_name_.try_emplace(full, numbers_.size());
                if (fresh) numbers_.push_back({walk, 0, type, reads, -1});
                number_of_[result.index] = at->second;
                names_[result.index] = "#" + std::to_string(at->second);
                if (depends) depends_.insert(result.index);
            }
        }
    }
    std::string name_of(ValueId operand) const {
        const auto found = names_.find(operand.index);
        return found != names_.end() ? found->second : "%" + std::to_string(operand.index);
    }

    // What an earlier walk has of what this one needs, as far up as possible.
    void find_wanted(size_t walk) {
        const Region& body = walks_[walk]->regions[0];
        for (const Instruction& instruction : body.body) {
            if (is_there(instruction, walk)) continue;
            for (const ValueId operand : instruction.operands) {
                const auto known = number_of_.find(operand.index);
                if (known == number_of_.end()) continue;
                Number& wanted = numbers_[known->second];
                if (wanted.reads && wanted.first_walk < walk) wanted.last_read = walk;
            }
        }
    }
    bool is_there(const Instruction& instruction, size_t walk) const {
        return !instruction.results.empty() &&
               std::all_of(instruction.results.begin(), instruction.results.end(), [&](ValueId result) {
                   const Number& number = numbers_[number_of_.at(result.index)];
                   return number.reads && number.first_walk < walk;
               });
    }

    // Arrays of the largest elements first, so that all are aligned. One that nobody reads any more is used
    // again: in a walk an element is read before it is written.
    RowCache lay_out() {
        std::vector<Number*> kept;
        for (Number& number : numbers_) {
            if (number.last_read == 0) continue;
            if (DType(number.type).is_complex()) return {};
            kept.push_back(&number);
        }
        std::stable_sort(kept.begin(), kept.end(), [](const Number* a, const Number* b) {
            const int64_t left = DType(a->type).itemsize(), right = DType(b->type).itemsize();
            return left != right ? left > right : a->first_walk < b->first_walk;
        });
        struct Array {
            int64_t itemsize, offset;
            size_t busy_until;
        };
        std::vector<Array> arrays;
        for (Number* number : kept) {
            const int64_t itemsize = DType(number->type).itemsize();
            auto found = std::find_if(arrays.begin(), arrays.end(), [&](const Array& array) {
                return array.itemsize == itemsize && array.busy_until <= number->first_walk;
            });
            if (found == arrays.end()) {
                found = arrays.insert(arrays.end(), {itemsize, row_cache_.bytes, 0});
                row_cache_.bytes += itemsize;
            }
            number->offset = found->offset;
            found->busy_until = number->last_read;
        }
        if (row_cache_.bytes == 0 || row_cache_.bytes > kMostBytes) return {};
        for (size_t walk = 0; walk < walks_.size(); ++walk) {
            for (const Instruction& instruction : walks_[walk]->regions[0].body) use(instruction, walk);
        }
        return std::move(row_cache_);
    }

    void use(const Instruction& instruction, size_t walk) {
        if (instruction.results.empty()) return;
        const Number& number = numbers_[number_of_.at(instruction.results[0].index)];
        if (is_there(instruction, walk)) {
            const bool read = number.last_read >= walk;
            row_cache_.values[&instruction] = {read ? RowCache::Use::kRead : RowCache::Use::kSkipped,
                                               number.offset};
        } else if (number.first_walk == walk && number.last_read > walk) {
            row_cache_.values[&instruction] = {RowCache::Use::kCached, number.offset};
        }
    }

    const ir::Function& kernel_;
    const std::set<uint16_t>& unwritten_;
    RowCache row_cache_;
    std::vector<const Instruction*> walks_;
    std::vector<Number> numbers_;
    std::unordered_map<std::string, size_t> by_name_;
    std::unordered_map<uint32_t, size_t> number_of_;   // by value
    std::unordered_map<uint32_t, std::string> names_;  // by value
    std::set<uint32_t> depends_;                       // values that differ between elements
};

}  // namespace

RowCache find_row_cache(const ir::Function& kernel, const Region& grid, const std::set<uint16_t>& unwritten) {
    return Finder(kernel, unwritten).find(grid);
}

}  // namespace weft::codegen
