#include "planning/planner.h"

#include <algorithm>
#include <cstdlib>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "core/optimisation_switches.h"
#include "core/shape.h"
#include "core/threads/thread_pool.h"
#include "device/cpu/streamed_bytes.h"
#include "device/kernel.h"
#include "graph/index_map.h"
#include "library/loops/scan_order.h"
#include "lowering/collapsed_rows.h"
#include "planning/group_draft.h"
#include "planning/pieces.h"
#include "planning/plan_reductions.h"
#include "weft/errors.h"

namespace weft {

using namespace planning;

namespace {

constexpr double kMaxRepeatedCost = 24;  // of all nodes of a group together
constexpr int64_t kEnoughRows = 256;
constexpr double kMostCompressCost = 40;  // of a kernel that compresses, whose code is written out many times
// Work on the tiles of a product spares its result the way to memory and back, and the memory. It is seen in
// the time while not many products are added up for an element; beyond, types that the library may cut along
// k are left to it whole, and so are random numbers' groups. A small result stays in a cache by itself.
constexpr int64_t kMostTileSteps = 512;
constexpr int64_t kLeastTiledBytes = int64_t{1} << 20;
// All steps of some columns are packed for tiles: with more bytes the factors are read again and again, and
// more is taken than spared.
constexpr int64_t kTileColumns = 256, kMostPackedBytes = int64_t{8} << 20;
constexpr int64_t kStreamedRowBytes = 512;
constexpr int64_t kStreamedScanBytes = 2048;  // of a row, which begins and ends within lines
constexpr double kStreamedWork = 2;  // for each byte moved; with more, memory is not what a kernel waits for
// Groups that are looked at as neighbours, and steps of a search for a path: bounds for wide graphs.
constexpr size_t kNeighbours = 8;
constexpr int kMaxSearch = 256;
constexpr size_t kMostPieceReaders = 4;  // groups that read through one write

struct Reader {
    Node* node;
    size_t operand;
};

class Planner {
public:
    Planner(const NodeSet& nodes, std::span<const NodePtr> roots, bool fuse) : nodes_(nodes), fuse_(fuse) {
        for (Node* node : nodes) {
            for (size_t k = 0; k < node->inputs.size(); ++k) {
                const NodePtr& producer = node->inputs[k].source.node;
                if (producer) readers_[producer.get()].push_back({node, k});
            }
        }
        for (const NodePtr& root : roots) wanted_.insert(root.get());
        if (fuse_ && is_on(OptimisationSwitch::kReadsThroughWrites))
            read_through_ = bytes_read_through(nodes);
    }

    std::vector<Group> run() {
        for (size_t k = nodes_.size(); k-- > 0;) place(nodes_[k]);
        // What two groups read may have come into them after they were made.
        for (size_t k = 0; fuse_ && is_on(OptimisationSwitch::kHorizontalFusion) && k < drafts_.size(); ++k) {
            if (!drafts_[k].nodes.empty()) merge_with_neighbour(k);
        }
        return in_order();
    }

private:
    // ---- where a node goes ----

    void place(Node* node) {
        const std::vector<Reader>& readers = readers_[node];
        const bool held = wanted_.contains(node) ||
                          (nodes_.is_held(*node) && !(node->is_mask_of_one() && is_mask_only(readers)));
        std::vector<size_t> into;  // groups that read it
        for (const Reader& reader : readers) {
            for (const size_t group : groups_of_[reader.node]) {
                if (std::find(into.begin(), into.end(), group) == into.end()) into.push_back(group);
            }
        }
        const Decision decision = decide(*node, into, held);
        switch (decision.place) {
            case Place::kOwnGroup:
                if (fuse_ && is_on(OptimisationSwitch::kHorizontalFusion) && join_neighbour(node, into))
                    return;
                start(node, into, decision.boundary);
                return;
            case Place::kTiles:
                join(node, into[0], false);
                drafts_[into[0]].multiplies = true;
                return;
            case Place::kPieces:
                for (const size_t group : into) join_as_pieces(node, group);
                return;
            case Place::kEachReader:
                for (const size_t group : into) drafts_[group].repeated_cost += cost_of(*node);
                for (const size_t group : into) join(node, group, false);
                return;
            case Place::kOneReader: {
                std::vector<size_t> others = into;
                std::erase(others, decision.group);
                link(decision.group, others);  // first: in joining the group may become another's
                join(node, decision.group, held || !others.empty());
                return;
            }
        }
    }

    // Such a mask stays pending: who looks at it, or compresses by it again, computes it once more.
    static bool is_mask_only(const std::vector<Reader>& readers) {
        return std::all_of(readers.begin(), readers.end(), [](const Reader& reader) {
            return reader.node->kind() == NodeKind::kCompress && reader.operand == 0;
        });
    }

    enum class Place {
        kOwnGroup,    // it ends a kernel of its own
        kTiles,       // the only reader works on the tiles of this product
        kPieces,      // all readers read through this write
        kEachReader,  // all readers compute it
        kOneReader,   // one reader computes it, and stores it if there are others
    };
    struct Decision {
        Place place = Place::kOwnGroup;
        Boundary boundary = Boundary::kNone;  // kOwnGroup
        size_t group = 0;                     // kOneReader
    };

    // Of a node that the groups `into` read.
    Decision decide(const Node& node, const std::vector<size_t>& into, bool held) {
        const auto own = [](Boundary boundary) { return Decision{Place::kOwnGroup, boundary}; };
        if (!fuse_) return own(Boundary::kUnfused);
        if (into.empty()) return own(Boundary::kWanted);
        if (node.kind() == NodeKind::kProduct && into.size() == 1 && !held && runs_on_tiles(node, into[0]))
            return {Place::kTiles};
        if (!held && is_read_through(node, into)) return {Place::kPieces};
        if (const Boundary always = boundary_of(node.kind()); always != Boundary::kNone) return own(always);
        if (into.size() == 1) {
            const Boundary boundary = refusal(node, into[0], held);
            if (boundary != Boundary::kNone) return own(boundary);
            return {Place::kOneReader, Boundary::kNone, into[0]};
        }
        if (!held && is_on(OptimisationSwitch::kRecomputation) && repeats_cheaply(node, into))
            return {Place::kEachReader};
        for (size_t k = into.size(); k-- > 0;) {
            std::vector<size_t> others = into;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
            if (reaches_any(others, into[k]) || refusal(node, into[k], true) != Boundary::kNone) continue;
            return {Place::kOneReader, Boundary::kNone, into[k]};
        }
        return own(Boundary::kSeveralReaders);
    }

    void start(Node* node, const std::vector<size_t>& into, Boundary boundary) {
        Draft draft;
        draft.nodes.push_back(node);
        draft.stored[node] = true;
        draft.shape = node->shape;
        draft.inputs = with_inputs_of({}, *node);
        draft.boundary = boundary;
        if (node->kind() == NodeKind::kReduce) {
            draft.reduced = node->reduced_axes();
            draft.walk = space_of(*node);
            draft.maps[node] = {kept_map(*node)};
        } else {
            draft.maps[node] = {identity_map(node->shape)};
        }
        groups_of_[node].push_back(drafts_.size());
        drafts_.push_back(std::move(draft));
        link(drafts_.size() - 1, into);
    }

    void join(Node* node, size_t group, bool stored) {
        Draft& draft = drafts_[group];
        std::vector<IndexMap> maps = maps_of(*node, group);
        bool widened = false;
        if (node->kind() == NodeKind::kReduce) {
            widened = !draft.walk;
            take_reduction(*node, draft, maps);
        } else {
            draft.repeated_cost += repeated_cost(*node, draft, maps);
            if (draft.walk) draft.collapse = joined_collapse(*node, draft, maps, stored).value();
            draft.maps[node] = std::move(maps);
        }
        draft.nodes.push_back(node);
        draft.stored[node] = stored;
        draft.inputs = with_inputs_of(std::move(draft.inputs), *node);
        groups_of_[node].push_back(group);
        if (widened && is_on(OptimisationSwitch::kHorizontalFusion)) merge_with_neighbour(group);
    }

    void link(size_t from, const std::vector<size_t>& to) {
        for (const size_t group : to) {
            if (group != from) drafts_[from].successors.push_back(group);
        }
    }

    // Whether a kernel of `from` must run before `to` can, or may have to: a search that is cut short says
    // yes.
    bool reaches_any(const std::vector<size_t>& from, size_t to) const {
        std::vector<size_t> work = from;
        std::unordered_set<size_t> seen(from.begin(), from.end());
        int steps = 0;
        while (!work.empty()) {
            if (++steps > kMaxSearch) return true;
            const size_t group = work.back();
            work.pop_back();
            if (group == to) return true;
            for (const size_t next : drafts_[group].successors) {
                if (seen.insert(next).second) work.push_back(next);
            }
        }
        return false;
    }

    // ---- how groups read a node ----

    // The maps by which the group's space reads the node; empty when one of the views cannot be computed. A
    // write is read in its `frame`.
    std::vector<IndexMap> maps_of(const Node& node, size_t group, const Frame* frame = nullptr) {
        std::vector<IndexMap> maps;
        const Draft& draft = drafts_[group];
        for (const Reader& reader : readers_[&node]) {
            const auto own = draft.maps.find(reader.node);
            if (own == draft.maps.end()) continue;
            const Operand& operand = reader.node->inputs[reader.operand];
            const std::optional<StorageRead> storage = storage_read(reader, draft);
            if (!storage) return {};
            const Dims shape = frame != nullptr ? frame->shape : node.result_shape();
            const auto read = frame != nullptr
                                  ? map_into(*frame, *storage)
                                  : map_into(node.results[operand.source.result], shape, *storage);
            if (!read || (!is_on(OptimisationSwitch::kViewFusion) && !is_plain(*read, shape))) return {};
            for (const IndexMap& outer : maps_of_reader(reader, draft)) {
                IndexMap map = compose(*read, outer);
                if (std::find(maps.begin(), maps.end(), map) == maps.end()) maps.push_back(std::move(map));
            }
        }
        return maps;
    }

    // How the reader reads it, over its own shape; none where it reads memory.
    static std::optional<StorageRead> storage_read(const Reader& reader, const Draft& draft) {
        const Node& node = *reader.node;
        const Operand& operand = node.inputs[reader.operand];
        if (node.kind() == NodeKind::kProduct || node.kind() == NodeKind::kTransfer || is_gathered(reader))
            return std::nullopt;
        if (node.kind() == NodeKind::kUpdate && reader.operand == 0) {
            const auto frame = draft.frames.find(&node);
            if (frame == draft.frames.end()) return std::nullopt;
            return whole_of(frame->second);
        }
        return StorageRead{&node.shape, &operand.strides, operand.offset, operand.dtype};
    }

    // How the group's space maps to that shape.
    static std::vector<IndexMap> maps_of_reader(const Reader& reader, const Draft& draft) {
        // A reduction reads over the whole space; its own map says how its result is read.
        if (reader.node->kind() == NodeKind::kReduce) return {identity_map(draft.shape)};
        std::vector<IndexMap> maps = draft.maps.at(reader.node);
        const auto frame = draft.frames.find(reader.node);
        if (frame == draft.frames.end() || reader.operand == 0) return maps;
        const Window window = window_of(frame->second, *reader.node).value();
        for (IndexMap& map : maps) map = into_window(window, map);
        return maps;
    }

    static bool is_gathered(const Reader& reader) {
        return reader.node->kind() == NodeKind::kGather && reader.operand == 0;
    }

    bool gathers_from(const Node& node, const Draft& draft) {
        const std::vector<Reader>& readers = readers_[&node];
        return std::any_of(readers.begin(), readers.end(), [&](const Reader& reader) {
            return is_gathered(reader) && draft.maps.contains(reader.node);
        });
    }

    // ---- reading through writes ----

    struct Pieces {
        Frame frame;
        std::vector<IndexMap> maps;
        std::vector<std::vector<int64_t>> cuts;
    };

    bool is_read_through(const Node& node, const std::vector<size_t>& into) {
        if (!is_on(OptimisationSwitch::kReadsThroughWrites) || !can_be_read_through(node) ||
            into.size() > kMostPieceReaders || !is_worth_pieces(node, into))
            return false;
        return std::all_of(into.begin(), into.end(),
                           [&](size_t group) { return pieces_of(node, group).has_value(); });
    }

    bool is_worth_pieces(const Node& node, const std::vector<size_t>& into) {
        const std::vector<Reader>& readers = readers_[&node];
        const bool continues = std::any_of(readers.begin(), readers.end(), [&](const Reader& reader) {
            return reader.operand == 0 && std::any_of(into.begin(), into.end(), [&](size_t group) {
                       return drafts_[group].frames.contains(reader.node);
                   });
        });
        return continues || is_written_over(node, nodes_);
    }

    std::optional<Pieces> pieces_of(const Node& node, size_t group) {
        const Draft& draft = drafts_[group];
        if (!runs_by_boxes(draft) || draft.nodes.size() >= kMaxGroupNodes) return std::nullopt;
        std::vector<StorageRead> reads;
        for (const Reader& reader : readers_[&node]) {
            if (!draft.maps.contains(reader.node)) continue;
            const std::optional<StorageRead> read = storage_read(reader, draft);
            if (!read) return std::nullopt;
            reads.push_back(*read);
        }
        std::optional<Frame> frame = frame_of(node, reads);
        if (!frame) return std::nullopt;
        Pieces pieces{*frame, maps_of(node, group, &*frame), draft.cuts};
        if (pieces.maps.empty()) return std::nullopt;
        const Window window = window_of(*frame, node).value();
        pieces.cuts.resize(draft.shape.size());
        for (const IndexMap& map : pieces.maps) add_cuts(window, map, draft.shape, pieces.cuts);
        if (!is_worth_boxes(pieces.cuts, draft)) return std::nullopt;
        return pieces;
    }

    void join_as_pieces(Node* node, size_t group) {
        Pieces pieces = pieces_of(*node, group).value();
        Draft& draft = drafts_[group];
        draft.frames[node] = std::move(pieces.frame);
        draft.maps[node] = std::move(pieces.maps);
        draft.cuts = std::move(pieces.cuts);
        draft.nodes.push_back(node);
        draft.stored[node] = false;
        groups_of_[node].push_back(group);
    }

    // ---- whether it can join ----

    // Not held, and cheaper to compute in each of the groups than to store and read.
    bool repeats_cheaply(const Node& node, const std::vector<size_t>& into) {
        if (node.kind() == NodeKind::kReduce || cost_of(node) > kRepeatedCost || into.size() > 4)
            return false;
        const auto full = std::count_if(node.inputs.begin(), node.inputs.end(), [&](const Operand& input) {
            return is_full_size(input, node.shape);
        });
        if (full > 1) return false;
        for (const size_t group : into) {
            if (refusal(node, group, false) != Boundary::kNone) return false;
            if (drafts_[group].repeated_cost + cost_of(node) > kMaxRepeatedCost) return false;
        }
        return true;
    }

    // Why the node cannot be computed in the group; kNone when it can. `stored`: it is kept as well.
    Boundary refusal(const Node& node, size_t group, bool stored) {
        const Draft& draft = drafts_[group];
        const std::vector<IndexMap> maps = maps_of(node, group);
        if (maps.empty()) {
            return gathers_from(node, draft) ? Boundary::kComputedPositions : Boundary::kAnotherView;
        }
        if (is_full(draft, node)) return Boundary::kLargeKernel;
        if (node.kind() == NodeKind::kReduce) return reduction_refusal(node, draft, maps);
        const bool scans = draft.nodes.front()->kind() == NodeKind::kScan;
        if (draft.walk || scans) {
            const auto pieces = read_through_.find(&node);
            if (pieces != read_through_.end() && pieces->second >= node.results[0].bytes)
                return Boundary::kPieces;
        }
        if (draft.nodes.front()->kind() == NodeKind::kCompress) {
            if (node.kind() == NodeKind::kDraw) return Boundary::kDraws;
            double cost = cost_of(node);
            for (const Node* member : draft.nodes) cost += cost_of(*member);
            if (cost > kMostCompressCost) return Boundary::kCompresses;
        }
        // A CPU draws neighbours one from another, where a loop goes along them.
        if (node.kind() == NodeKind::kDraw && node.device->is_cpu() &&
            (!draft.frames.empty() || draft.walk || scans || draft.multiplies || maps.size() != 1 ||
             maps[0] != identity_map(draft.shape)))
            return Boundary::kDraws;
        if (scans && cost_of(node) > kRepeatedCost && scan_reads_twice(*draft.nodes.front()))
            return Boundary::kRepeated;
        if (stored) {
            if (scans) return Boundary::kHeld;
            if (maps.size() != 1 || !is_plain(maps[0], node.shape)) return Boundary::kHeld;
            const bool all_of_space = covers(maps[0], node.shape, draft);
            if (!all_of_space) return Boundary::kHeld;
        }
        const double again = repeated_cost(node, draft, maps);
        if (again > kRepeatedCost || draft.repeated_cost + again > kMaxRepeatedCost)
            return Boundary::kRepeated;
        if (draft.walk && !joined_collapse(node, draft, maps, stored)) return Boundary::kReductionOrder;
        return Boundary::kNone;
    }

    // Whether the group is element-wise work over a matrix that is the product's result.
    bool runs_on_tiles(const Node& product, size_t group) {
        const Draft& draft = drafts_[group];
        if (!product.device->is_cpu() || !is_on(OptimisationSwitch::kProductTiles) || draft.walk ||
            draft.multiplies || !draft.frames.empty())
            return false;
        if (draft.nodes.front()->kind() != NodeKind::kElementwise || is_full(draft, product)) return false;
        const Dims shape = product.result_shape();
        const NodeResult& result = product.results[0];
        if (shape.size() != 2 || draft.shape != shape || result.bytes < kLeastTiledBytes) return false;
        if (result.strides != c_strides(shape, result.dtype.itemsize())) return false;
        const int64_t work = element_count(product.shape);
        const ScalarType type = result.dtype.scalar_type();
        const bool by_panels = type == ScalarType::kFloat32 || type == ScalarType::kFloat64;
        if (shape[0] == 1 || shape[1] == 1 || work == 0) return false;
        if (work > kMostTileSteps * element_count(shape)) {
            const int64_t columns = std::min(kTileColumns, std::min(shape[0], shape[1]));
            const int64_t packed = work / element_count(shape) * columns * result.dtype.itemsize();
            if (!by_panels || packed > std::min(kMostPackedBytes, result.bytes) || draws(draft)) return false;
        }
        // Rows are one operand's, columns the other's: else the library has a batch of products to do.
        const Dims &left = product.inputs[0].strides, &right = product.inputs[1].strides;
        for (size_t d = 0; d < 2; ++d) {
            if ((left[d] != 0) == (right[d] != 0)) return false;
        }
        if ((left[0] != 0) == (left[1] != 0)) return false;
        const std::vector<IndexMap> maps = maps_of(product, group);
        return maps.size() == 1 && maps[0] == identity_map(shape);
    }

    // Whether random numbers are drawn in the group, or for it: on tiles they would be an array of their own.
    static bool draws(const Draft& draft) {
        std::vector<const Node*> found(draft.nodes.begin(), draft.nodes.end());
        for (size_t k = 0; k < found.size() && k < kMaxSearch; ++k) {
            if (found[k]->kind() == NodeKind::kDraw) return true;
            for (const Operand& operand : found[k]->inputs) {
                const Node* const node = operand.source.node.get();
                if (node != nullptr && is_pointwise(node->kind())) found.push_back(node);
            }
        }
        return false;
    }

    // How the group's rows are collapsed with the node in it; nothing when they cannot be walked so.
    std::optional<size_t> joined_collapse(const Node& node, const Draft& draft,
                                          const std::vector<IndexMap>& maps, bool stored) {
        const std::optional<size_t> collapse =
            joined_collapses(draft.collapse, collapse_of_inputs(node, *draft.walk, draft.shape, maps));
        if (stored && !maps.empty() && !walks_results_as_one(node, *draft.walk, draft.shape, maps.front()))
            return std::nullopt;
        if (!collapse || *collapse == 0) return collapse;
        if (!is_on(OptimisationSwitch::kCollapsedReductions) || draft.walk->lanes == 1) return std::nullopt;
        // On the CPU each row is a loop; on GPUs positions are divided by the rows' length.
        if (node.device->is_cpu() &&
            inner_extent(*collapse, *draft.walk, draft.shape) < kShortestCollapsedRow)
            return std::nullopt;
        const auto along_row = [&](const std::vector<IndexMap>& own) {
            return std::any_of(own.begin(), own.end(),
                               [&](const IndexMap& map) { return moves_along_row(map, draft); });
        };
        if (stored && along_row(maps)) return std::nullopt;
        if (draft.collapse != 0) return collapse;
        for (const Node* member : draft.nodes) {
            const bool reduces = member->kind() == NodeKind::kReduce;
            if (reduces ? !can_be_collapsed(*member, draft)
                        : draft.stored.at(member) && along_row(draft.maps.at(member)))
                return std::nullopt;
        }
        return collapse;
    }

    // Later phases would collapse rows again.
    bool can_be_collapsed(const Node& reduction, const Draft& draft) {
        return !reads_in_row(reduction, draft) && keeps_collapsed_elements(draft, &reduction);
    }

    // ---- reductions ----

    Boundary reduction_refusal(const Node& node, const Draft& draft, const std::vector<IndexMap>& maps) {
        constexpr Boundary kWhole = Boundary::kReduction;
        if (draft.multiplies || !draft.frames.empty()) return kWhole;
        if (node.shape.size() + 1 > kMaxGridDimensions) return kWhole;
        const ReductionSpace walk = space_of(node);
        switch (entry(node, draft, maps)) {
            case Entry::kNone: return kWhole;
            case Entry::kUnder: return Boundary::kNone;
            case Entry::kBefore: {
                if (!allows_phases(node, walk)) return Boundary::kRowsAgain;
                for (const Node* member : draft.nodes) {
                    const std::vector<IndexMap>& maps_of_member = draft.maps.at(member);
                    if (collapse_of_inputs(*member, walk, draft.shape, maps_of_member) != 0) return kWhole;
                    if (draft.stored.at(member) &&
                        !walks_results_as_one(*member, walk, draft.shape, maps_of_member.front()))
                        return kWhole;
                }
                return Boundary::kNone;
            }
            case Entry::kBeside: {
                if (!draft.walk || !same_walk(*draft.walk, walk)) return kWhole;
                const bool read_in_row = reads_in_row(node, draft);
                if (draft.collapse != 0 && !can_be_collapsed(node, draft)) return kWhole;
                return !read_in_row || allows_phases(node, walk) ? Boundary::kNone : Boundary::kRowsAgain;
            }
        }
        return kWhole;
    }

    // Whether elements of the group's rows are computed from the node's result, itself or what points of the
    // grid compute from it.
    bool reads_in_row(const Node& node, const Draft& draft) {
        std::vector<const Node*> work = {&node};
        std::unordered_set<const Node*> seen;
        while (!work.empty()) {
            const Node* read = work.back();
            work.pop_back();
            for (const Reader& reader : readers_[read]) {
                const auto own = draft.maps.find(reader.node);
                if (own == draft.maps.end() || !seen.insert(reader.node).second) continue;
                if (reader.node->kind() == NodeKind::kReduce) return true;
                for (const IndexMap& map : own->second) {
                    if (moves_along_row(map, draft)) return true;
                }
                work.push_back(reader.node);
            }
        }
        return false;
    }

    void take_reduction(const Node& node, Draft& draft, const std::vector<IndexMap>& maps) {
        const Entry how = entry(node, draft, maps);
        if (how == Entry::kUnder) {
            // The group's dimensions become the kept axes of the reduction's space.
            const Dims axes = kept_axes(node.reduced_axes());
            Dims renamed(draft.shape.size(), -1);
            for (size_t j = 0; j < axes.size(); ++j) {
                if (maps[0].dimension[j] >= 0) renamed[static_cast<size_t>(maps[0].dimension[j])] = axes[j];
            }
            for (auto& [member, member_maps] : draft.maps) {
                for (IndexMap& map : member_maps) {
                    for (int64_t& d : map.dimension) {
                        if (d >= 0) d = renamed[static_cast<size_t>(d)];
                    }
                }
            }
            draft.shape = node.shape;
        }
        draft.reduced = node.reduced_axes();
        draft.walk = space_of(node);
        draft.maps[&node] = {kept_map(node)};
    }

    // ---- neighbours ----

    bool join_neighbour(Node* node, const std::vector<size_t>& into) {
        if (node->kind() == NodeKind::kArange || node->kind() == NodeKind::kDraw ||
            (!is_pointwise(node->kind()) && node->kind() != NodeKind::kReduce))
            return false;
        const size_t first = drafts_.size() > kNeighbours ? drafts_.size() - kNeighbours : 0;
        for (size_t group = drafts_.size(); group-- > first;) {
            const Draft& draft = drafts_[group];
            if (!is_neighbour(*node, draft) || !shares_input(*node, draft)) continue;
            if (is_full(draft, *node)) continue;
            if (std::find(into.begin(), into.end(), group) != into.end() || reaches_any(into, group))
                continue;
            Draft& chosen = drafts_[group];
            chosen.maps[node] = {node->kind() == NodeKind::kReduce ? kept_map(*node)
                                                                   : identity_map(node->shape)};
            chosen.nodes.push_back(node);
            chosen.stored[node] = true;
            chosen.inputs = with_inputs_of(std::move(chosen.inputs), *node);
            groups_of_[node].push_back(group);
            link(group, into);
            return true;
        }
        return false;
    }

    // A group that has come to reduce may now be the twin of an earlier one (mean and deviation of columns).
    void merge_with_neighbour(size_t group) {
        const size_t last = std::min(drafts_.size(), group + kNeighbours + 1);
        const size_t first = group > kNeighbours ? group - kNeighbours : 0;
        for (size_t other = last; other-- > first;) {
            if (other == group || !are_twins(drafts_[group], drafts_[other])) continue;
            const std::vector<size_t> own = {group}, others = {other};
            if (reaches_any(own, other) || reaches_any(others, group)) continue;
            Draft& into = drafts_[other];
            Draft& from = drafts_[group];
            for (Node* node : from.nodes) {
                std::vector<size_t>& groups = groups_of_[node];
                std::erase(groups, group);
                if (std::find(groups.begin(), groups.end(), other) == groups.end()) {
                    groups.push_back(other);
                    into.nodes.push_back(node);
                }
                std::vector<IndexMap>& maps = into.maps[node];
                for (const IndexMap& map : from.maps.at(node)) std::erase(maps, map);
                // The first map of a stored node says where it is written.
                maps.insert(from.stored.at(node) ? maps.begin() : maps.end(), from.maps.at(node).begin(),
                            from.maps.at(node).end());
                into.stored[node] |= from.stored.at(node);
            }
            into.inputs = with_inputs_of(std::move(into.inputs), from);
            if (!into.frames.empty() || !from.frames.empty()) into.cuts = all_cuts(into, from);
            into.frames.insert(from.frames.begin(), from.frames.end());
            into.repeated_cost += from.repeated_cost;
            into.successors.insert(into.successors.end(), from.successors.begin(), from.successors.end());
            for (Draft& draft : drafts_) {
                std::replace(draft.successors.begin(), draft.successors.end(), group, other);
            }
            from = Draft{};
            return;
        }
    }

    // ---- the result ----

    std::vector<Group> in_order() {
        std::vector<int> waiting(drafts_.size());
        size_t alive = 0;
        for (const Draft& draft : drafts_) {
            alive += draft.nodes.empty() ? 0 : 1;
            for (const size_t next : draft.successors) ++waiting[next];
        }
        // Of those that can run, the one recorded first.
        const auto later = [&](size_t a, size_t b) {
            return drafts_[a].nodes.front()->sequence > drafts_[b].nodes.front()->sequence;
        };
        std::priority_queue<size_t, std::vector<size_t>, decltype(later)> ready(later);
        for (size_t k = 0; k < drafts_.size(); ++k) {
            if (waiting[k] == 0 && !drafts_[k].nodes.empty()) ready.push(k);
        }
        std::vector<Group> groups;
        while (!ready.empty()) {
            const size_t at = ready.top();
            ready.pop();
            for (const size_t next : drafts_[at].successors) {
                if (--waiting[next] == 0) ready.push(next);
            }
            groups.push_back(finish(drafts_[at]));
        }
        WEFT_CHECK(groups.size() == alive, "kernels of a plan wait for each other");
        return groups;
    }

    // A result that is larger than the caches, and that no kernel of the plan reads again, need not go
    // through them: the lines that it fills are not read from memory first. Versions of a storage are not
    // meant, since a loop's next iteration reads them, nor are short rows, nor kernels that memory does not
    // hold up.
    bool is_streamed(const Node& node, const Draft& draft) {
        if (!fuse_ || !is_on(OptimisationSwitch::kNontemporalStores)) return false;
        const bool scans = draft.nodes.back()->kind() == NodeKind::kScan;
        if (node.kind() != (scans ? NodeKind::kScan : NodeKind::kElementwise) || draft.walk ||
            draft.multiplies)
            return false;
        for (const Reader& reader : readers_[&node]) {
            for (const size_t group : groups_of_[reader.node]) {
                if (&drafts_[group] != &draft) return false;
            }
        }
        const auto has_rows = [&](const NodeResult& result) {
            for (size_t d = 0; d < node.shape.size(); ++d) {
                if (result.strides[d] != result.dtype.itemsize() || node.shape[d] == 1) continue;
                const int64_t bytes = node.shape[d] * result.dtype.itemsize();
                return scans ? d == node.scan().axis && bytes >= kStreamedScanBytes
                             : bytes >= kStreamedRowBytes;
            }
            return false;
        };
        const bool large = std::all_of(
            node.results.begin(), node.results.end(),
            [&](const NodeResult& result) { return result.bytes > streamed_bytes() && has_rows(result); });
        return large && work_of(draft) <= kStreamedWork * bytes_of(draft);
    }

    Group finish(Draft& draft) {
        Group group;
        std::sort(draft.nodes.begin(), draft.nodes.end(),
                  [](const Node* a, const Node* b) { return a->sequence < b->sequence; });
        for (Node* node : draft.nodes) {
            group.stored.push_back(draft.stored.at(node));
            group.repeated.push_back(groups_of_[node].size() > 1);
            group.maps.push_back(draft.maps.at(node)[0]);
            group.streamed.push_back(group.stored.back() && is_streamed(*node, draft));
            if (draft.frames.empty()) continue;
            const auto frame = draft.frames.find(node);
            group.frames.push_back(frame == draft.frames.end() ? Frame() : frame->second);
        }
        if (!draft.frames.empty()) group.boxes = boxes_between(draft.cuts, draft.shape);
        group.nodes = std::move(draft.nodes);
        group.device = group.nodes.back()->device;
        group.boundary = draft.boundary;
        group.shape = std::move(draft.shape);
        group.reduces = draft.walk.has_value();
        group.collapsed = draft.collapse != 0;
        group.multiplies = draft.multiplies;
        group.reduced = std::move(draft.reduced);
        return group;
    }

    const NodeSet& nodes_;
    bool fuse_;
    std::unordered_map<const Node*, std::vector<Reader>> readers_;
    std::unordered_set<const Node*> wanted_;
    std::unordered_map<const Node*, int64_t> read_through_;
    std::vector<Draft> drafts_;
    std::unordered_map<const Node*, std::vector<size_t>> groups_of_;
};

}  // namespace

ReductionSpace space_of(const Node& reduction) {
    return reduction_space(*reduction.reduction(), reduction.compute_dtype().scalar_type(), reduction.shape,
                           reduction.reduced_axes(), reduction.inputs[0].strides,
                           reduction.results[0].strides);
}

bool walks_whole_rows(const ReductionSpace& space) {
    const bool one_block = space.reduced_shape.back() <= space.block;
    const bool rows_suffice = space.lanes > 1 && element_count(space.kept_shape) >= kEnoughRows;
    return space.reduced_shape.size() == 1 && space.reduced_shape.back() <= space.chunk &&
           (one_block || rows_suffice);
}

bool scan_reads_twice(const Node& scan) {
    const int64_t length = scan.shape[scan.scan().axis];
    const int64_t rows = element_count(scan.shape) / std::max<int64_t>(length, 1);
    return !scans_in_order(*scan.op, scan.compute_dtype().scalar_type(), length) &&
           length >= 4 * kScanChunk && rows < 2 * num_threads() && num_threads() > 1;
}

std::vector<Group> make_plan(const NodeSet& nodes, std::span<const NodePtr> roots, bool fuse) {
    return Planner(nodes, roots, fuse).run();
}

}  // namespace weft
