#include "lang/parallel/carried.h"

#include <algorithm>

#include "lang/parallel/elements.h"
#include "lang/parallel/updates.h"

namespace weft::lang {

namespace {

class ParallelAnalysis {
public:
    ParallelAnalysis(const FunctionSource& source, NodeId loop, const Flow& flow)
        : source_(source), loop_(loop), body_(source.tree[loop].children[2]), flow_(flow) {}

    ParallelLoop run() {
        ParallelLoop result;
        try {
            refuse_exits(body_, 0);
            find_carried(result);
            result.arrays = find_accumulated(source_, loop_, flow_.assigned);
        } catch (const Refusal& refusal) {
            result.refused = refusal.where;
            result.why = refusal.why;
            result.help = refusal.help;
        }
        return result;
    }

private:
    const Node& node(NodeId id) const { return source_.tree[id]; }

    void refuse_exits(NodeId id, int depth) const {
        const NodeKind kind = node(id).kind;
        if (kind == NodeKind::kReturn)
            throw Refusal{
                id, "'return' in a loop over prange",
                "Its iterations run at the same time; use range where one of them ends the function."};
        if (kind == NodeKind::kBreak && depth == 0)
            throw Refusal{id, "'break' in a loop over prange",
                          "Its iterations run at the same time; use range where one of them ends the loop."};
        const int inside = depth + (kind == NodeKind::kFor || kind == NodeKind::kWhile ? 1 : 0);
        for (NodeId child : node(id).children) refuse_exits(child, inside);
    }

    void find_carried(ParallelLoop& result) const {
        const BodyFlow body = flow_of_iteration(source_.tree, loop_);
        result.captured = body.read_first;
        std::vector<size_t> open;  // assigned by some iterations, and read behind the loop
        for (size_t v = 0; v < flow_.assigned.size(); ++v) {
            if (!flow_.assigned[v]) continue;
            if (!body.read_first[v]) {
                if (!flow_.live_after[v]) continue;
                if (body.always_assigned[v]) {
                    result.carried.push_back({v, CarriedKind::kLast, {}, 0, loop_});
                } else {
                    open.push_back(v);
                }
                continue;
            }
            result.captured[v] = false;
            Updates updates(source_, v);
            result.carried.push_back(updates.find(body_));
            for (const auto& [beside, where] : updates.beside())
                result.carried.push_back({beside, CarriedKind::kBeside, {}, v, where});
        }
        // What is beside a minimum and not read behind the loop is an iteration's own.
        std::erase_if(result.carried, [&](const CarriedVariable& each) {
            return each.kind == CarriedKind::kBeside && !flow_.live_after[each.variable];
        });
        for (size_t v : open) {
            const auto count =
                std::count_if(result.carried.begin(), result.carried.end(), [&](const CarriedVariable& each) {
                    return each.kind == CarriedKind::kBeside && each.variable == v;
                });
            if (count == 1 && count_assignments(source_.tree, body_, v) == 1) continue;
            throw Refusal{loop_,
                          "'" + source_.tree.variables()[v] +
                              "' is read behind a loop over prange that assigns it in some iterations only",
                          kReductionHelp};
        }
        // `always_assigned` may be beside a minimum, too: then it is the last iteration's.
        std::erase_if(result.carried, [&](const CarriedVariable& each) {
            return each.kind == CarriedKind::kBeside &&
                   std::find(open.begin(), open.end(), each.variable) == open.end();
        });
    }

    const FunctionSource& source_;
    NodeId loop_, body_;
    const Flow& flow_;
};

}  // namespace

ParallelLoop find_parallel_loop(const FunctionSource& source, NodeId loop, const Flow& flow) {
    return ParallelAnalysis(source, loop, flow).run();
}

}  // namespace weft::lang
