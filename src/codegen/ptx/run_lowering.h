// Runs of a thread on a GPU: neighbouring points whose elements are read and written at once, wherever they
// begin. See ptx_lowering.h; PtxThreadLowering decides which points a thread has.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "codegen/ptx/draw_lowering.h"
#include "codegen/ptx/packed_integers.h"

namespace weft::codegen {

class PtxRunLowering : public PtxDrawLowering {
public:
    using PtxDrawLowering::PtxDrawLowering;

protected:
    static constexpr int64_t kAccessBytes = 16;  // of the widest load

    // The values of each lane, which is one of a run's points.
    using Lanes = std::vector<std::vector<Scalar>>;

    // How the accesses of a run are made: one by one; one by one, `distance_` elements apart; at once where
    // all are aligned, or at once where only what is written is.
    enum class Reach : uint8_t { kEach, kSpread, kAligned, kShifted };

    // Finds the accesses that run along `along_`, and how many neighbours a thread takes: as many as fill the
    // widest access for the largest element, and more, up to four, where elements are small. What draws takes
    // more that are kDrawnApart from each other, one by one.
    void find_runs(const ir::Region& region);
    // Whether a run may be read from any address; if not, what is read a constant further is no run.
    bool reaches_any_address(const ir::Region& region);
    static bool is_chain(const ir::Instruction& instruction) {
        return instruction.opcode == ir::Opcode::kReduce && instruction.lanes == 1 && instruction.block == 0;
    }
    static bool has_chains(const ir::Region& region);

    // Whether every run begins where a vector may.
    llvm::Value* runs_are_aligned();

    // The runs of a row whose first point is `scalars_`': how many elements before it they begin, so that
    // what is written first is aligned; whether all that is written is then, and all that is read.
    struct RowStart {
        llvm::Value* shift = nullptr;
        llvm::Value* writes_aligned = nullptr;
        llvm::Value* reads_aligned = nullptr;
    };
    RowStart start_of_row(const ir::Region& region);

    bool accesses_run(const ir::Instruction& instruction) const {
        return run_accesses_.contains(&instruction);
    }
    void load_run(const ir::Instruction& instruction, Lanes& lanes, Reach reach);
    void store_run(const ir::Instruction& instruction, Lanes& lanes);

    void access_spread(const ir::Instruction& instruction, Lanes& lanes);

    // Small integers of a run are computed in pairs where that is possible, and views of one array are read
    // together, from `begin_small` on.
    void begin_small();
    void end_small() { packed_.end(); }
    bool compute_packed(const ir::Instruction& instruction, const Lanes& lanes);
    void unpack_operands(const ir::Instruction& instruction, Lanes& lanes);

    size_t along_ = 0;      // the grid's dimension whose neighbours threads take
    int64_t lanes_ = 1;     // points of a run
    int64_t distance_ = 1;  // how far apart they are

private:
    // How the parts of a run lie in memory: `count` accesses of `words` words, each word of one or more
    // parts.
    struct Layout {
        llvm::Type* word;
        int64_t word_bytes, words, accesses, parts_per_word;
    };
    Layout layout_of(ScalarType type);
    llvm::Type* access_type(const Layout& layout);
    llvm::Align access_alignment(const Layout& layout) const {
        return llvm::Align(static_cast<uint64_t>(layout.words * layout.word_bytes));
    }
    // Where an access runs: the index `along_` may have a constant added to it.
    struct Place {
        uint32_t buffer = 0;
        std::vector<ir::ValueId> indices;  // `along_` itself in place of the sum
        int64_t steps = 0;                 // the constant

        std::pair<uint32_t, std::vector<uint32_t>> row() const;
    };
    Place place_of(const ir::Instruction& instruction) const;
    void find_steps(const ir::Region& region);
    llvm::Value* address_of(const Place& place);
    llvm::Value* run_address(const ir::Instruction& instruction, Lanes& lanes);
    llvm::Value* access_pointer(llvm::Value* run, const Layout& layout, int64_t access);
    std::vector<llvm::Value*> read_words(llvm::Value* pointer, const Layout& layout, int64_t access,
                                         const ir::BufferType& type);
    std::vector<llvm::Value*> read_shifted(llvm::Value* pointer, const Layout& layout,
                                           const ir::BufferType& type, int64_t bytes);
    std::vector<llvm::Value*> move_words(std::span<llvm::Value* const> words, llvm::Value* bits);

    // Views of one array that are read together: what there is of a row from the first of them on.
    struct SharedRead {
        std::vector<llvm::Value*> words;
        std::map<int64_t, std::vector<llvm::Value*>> moved;  // by so many bytes
    };
    using Row = std::pair<uint32_t, std::vector<uint32_t>>;
    bool is_shared(const Place& place, const ir::BufferType& type) const;
    const std::vector<llvm::Value*>& read_shared(const Place& place, const Layout& layout,
                                                 const ir::BufferType& type, Lanes& lanes, int64_t further);
    llvm::Value* part_of_word(llvm::Value* word, const Layout& layout, int64_t part, ScalarType type);
    llvm::Value* put_part(llvm::Value* word, llvm::Value* part, const Layout& layout, int64_t number,
                          ScalarType type);

    bool can_reach_any_address(const ir::Region& region) const;
    static bool can_be_lanes(const ir::Region& region, std::set<uint32_t>& varying, bool chains);
    void find_accesses(const ir::Region& region, ir::ValueId along, const std::set<uint32_t>& varying);
    bool is_run(const ir::Instruction& instruction, ir::ValueId along,
                const std::set<uint32_t>& varying) const;
    llvm::Value* is_aligned(const BufferValue& buffer);
    int64_t access_bytes(ScalarType type) const {
        return std::min(lanes_ * DType(type).itemsize(), kAccessBytes);
    }

    int64_t largest_ = 0, smallest_ = kAccessBytes;  // elements of the accesses that run
    PackedRuns packed_{builder_, kernel_};
    ir::ValueId along_value_;
    std::map<uint32_t, int64_t> steps_;           // of values that are `along_` and a constant
    std::map<Row, std::set<int64_t>> row_reads_;  // which steps of a row are read
    std::map<Row, SharedRead> shared_reads_;
    std::set<uint32_t> run_buffers_;
    std::set<const ir::Instruction*> run_accesses_;
};

}  // namespace weft::codegen
