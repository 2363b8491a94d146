// Which groups come of which graphs: what shares a kernel, what is stored, what is computed twice, and why a
// group ends where it does.
#include "planning/planner.h"

#include <algorithm>

#include "planning/group_draft.h"
#include "support/graph_testing.h"

namespace weft {
namespace {

using Planner = testing_graph::GraphTest;

TEST_F(Planner, ElementwiseWorkIsOneGroupThatStoresItsRoot) {
    const array a = in_memory({300, 400}), b = in_memory({300, 400});
    const std::vector<Group> groups = plan({2 * a + b * b});
    ASSERT_EQ(groups.size(), 1U);
    const Group& group = groups[0];
    EXPECT_EQ(group.shape, (Dims{300, 400}));
    EXPECT_EQ(testing_graph::name_of(group.root()), "add");
    EXPECT_EQ(std::count(group.stored.begin(), group.stored.end(), true), 1);
    EXPECT_TRUE(group.stored.back());
    EXPECT_EQ(group.boundary, Boundary::kWanted);
    EXPECT_FALSE(group.reduces || group.collapsed || group.multiplies);
}

TEST_F(Planner, WithoutFusionEachNodeIsAGroup) {
    const array a = in_memory({1000});
    const array result = sin(2 * a) + 1;
    EXPECT_EQ(planned({result}, false), "multiply*\nsin*\nadd*\n");
    for (const Group& group : plan({result}, false)) EXPECT_EQ(group.boundary, Boundary::kUnfused);
}

TEST_F(Planner, WhatTheProgramHoldsIsStoredBesideTheRoot) {
    const array a = in_memory({1000});
    const array held = a * 2;
    EXPECT_EQ(planned({held + 1}), "multiply* add*\n");
    EXPECT_EQ(planned({a * 2 + 1}), "multiply add*\n");
}

TEST_F(Planner, HeldValuesThatAreReadInPartHaveTheirOwnGroup) {
    const array a = in_memory({1000});
    const array held = a * 2;
    const array result = held(slice(1, none)) + 1;
    const std::vector<Group> groups = plan({result});
    EXPECT_EQ(planned({result}), "multiply*\nadd*\n");
    EXPECT_EQ(groups[0].boundary, Boundary::kHeld);
}

TEST_F(Planner, CheapValuesAreReadThroughTwoViews) {
    const array a = in_memory({100'000});
    array result;
    {
        const array doubled = a * 2;
        result = doubled(slice(1, none)) - doubled(slice(none, -1));
    }
    EXPECT_EQ(planned({result}), "multiply subtract*\n");
    leave_out("view_fusion");
    EXPECT_EQ(planned({result}), "multiply*\nsubtract*\n");
}

TEST_F(Planner, CostlyValuesAreNotComputedAgain) {
    const array a = in_memory({100'000});
    array result;
    {
        const array costly = tan(a);
        result = costly(slice(1, none)) - costly(slice(none, -1));
    }
    EXPECT_EQ(planned({result}), "tan*\nsubtract*\n");
    EXPECT_EQ(plan({result})[0].boundary, Boundary::kRepeated);
}

TEST_F(Planner, ReductionsEndTheWorkOverTheirRows) {
    const array a = in_memory({300, 400});
    const array result = sum(2 * a + 1, 1);
    const std::vector<Group> groups = plan({result});
    EXPECT_EQ(planned({result}), "multiply add sum*\n");
    EXPECT_TRUE(groups[0].reduces);
    EXPECT_EQ(groups[0].reduced, (std::vector<bool>{false, true}));
    EXPECT_EQ(groups[0].shape, (Dims{300, 400}));
}

TEST_F(Planner, WorkOnReducedValuesIsDoneAtTheirPoint) {
    const array a = in_memory({300, 400});
    const array result = sqrt(sum(a, 1)) * 2;
    EXPECT_EQ(planned({result}), "sum sqrt multiply*\n");
    EXPECT_EQ(plan({result})[0].shape, (Dims{300, 400}));
}

TEST_F(Planner, ShortRowsAreWalkedAgainByTheKernelThatReducedThem) {
    ReductionOptions keep;
    keep.keepdims = true;
    const array shorter = in_memory({300, 400}), longer = in_memory({300, 100'000});
    const array normal = shorter / sum(shorter, 1, keep), too_long = longer / sum(longer, 1, keep);
    EXPECT_EQ(planned({normal}), "sum divide*\n");
    EXPECT_EQ(planned({too_long}), "sum*\ndivide*\n");
    EXPECT_EQ(plan({too_long})[0].boundary, Boundary::kRowsAgain);
    // One kernel could walk these rows, but they would not stay in a cache.
    const array wide = in_memory({300, 20'000}, complex128);
    EXPECT_TRUE(walks_whole_rows(space_of(*collect({sum(wide, 1)})[0])));
    EXPECT_EQ(planned({wide / sum(wide, 1, keep)}), "sum*\ndivide*\n");
    leave_out("multi_phase");
    EXPECT_EQ(planned({normal}), "sum*\ndivide*\n");
}

TEST_F(Planner, ReductionsOfOneWalkShareAKernel) {
    const array a = in_memory({300, 400});
    EXPECT_EQ(planned({sum(a, 1) + max(a, 1)}), "sum max add*\n");
    EXPECT_EQ(planned({sum(a, 1), max(a, 1)}), "sum* max*\n");
}

TEST_F(Planner, ReductionsOfOtherAxesDoNot) {
    const array a = in_memory({300, 300});
    EXPECT_EQ(planned({sum(a, 0) + sum(a, 1)}), "sum*\nsum add*\n");
    EXPECT_EQ(planned({sum(a, 0), sum(a, 1)}), "sum*\nsum*\n");
}

TEST_F(Planner, ScansTakeWhatIsBeforeAndNotWhatFollows) {
    const array a = in_memory({300, 400});
    const array result = cumsum(a + 1, 1) * 2;
    EXPECT_EQ(planned({result}), "add scan*\nmultiply*\n");
    EXPECT_EQ(plan({result})[0].boundary, Boundary::kScan);
}

TEST_F(Planner, ProductsAreALibrarysWork) {
    const array a = in_memory({30, 30}), b = in_memory({30, 30});
    const array result = matmul(a + 1, b) * 2;
    EXPECT_EQ(planned({result}), "add*\nproduct*\nmultiply*\n");
    EXPECT_EQ(plan({result})[1].boundary, Boundary::kLibrary);
}

TEST_F(Planner, WorkAfterALargeProductIsDoneOnItsTiles) {
    const array a = in_memory({600, 40}), b = in_memory({40, 600});
    const array result = matmul(a, b) * 2 + 1;
    EXPECT_EQ(planned({result}), "product multiply add*\n");
    EXPECT_TRUE(plan({result})[0].multiplies);
    leave_out("product_tiles");
    EXPECT_EQ(planned({result}), "product*\nmultiply add*\n");
}

TEST_F(Planner, WritesEndTheirKernel) {
    const array a = in_memory({1000}), b = in_memory({1000});
    assign(a(slice(1, -1)), b(slice(none, -2)) * 2);
    const array result = a + 1;
    EXPECT_EQ(planned({result}), "multiply write*\nadd*\n");
    EXPECT_EQ(plan({result})[0].boundary, Boundary::kUpdate);
}

TEST_F(Planner, GathersReadMemory) {
    const array a = in_memory({1000}), where = astype(in_memory({50}), int64);
    eval({&where, 1});
    const array held = a * 2;
    const array result = take(held, where, {}, TakeMode::kWrap) + 1;
    EXPECT_EQ(planned({result}), "multiply*\nremainder gather add*\n");
    EXPECT_EQ(plan({result})[0].boundary, Boundary::kComputedPositions);
}

TEST_F(Planner, CheapWorkIsRepeatedForSeveralKernelsAndCostlyIsStored) {
    const array a = in_memory({300, 300});
    std::vector<array> results;
    {
        const array doubled = a * 2;
        results = {sum(doubled, 0), sum(doubled, 1)};
    }
    const std::vector<Group> groups = plan(results);
    EXPECT_EQ(planned(results), "multiply sum*\nmultiply sum*\n");
    for (const Group& group : groups) EXPECT_EQ(group.repeated, (std::vector<bool>{true, false}));
    leave_out("recomputation");
    EXPECT_EQ(planned(results), "multiply* sum*\nsum*\n");
    leave_out("");
    {
        const array costly = tan(a);
        results = {sum(costly, 0), sum(costly, 1)};
    }
    EXPECT_EQ(planned(results), "tan* sum*\nsum*\n");
}

TEST_F(Planner, IndependentWorkThatReadsTheSameIsOneKernel) {
    const array a = in_memory({1000}), b = in_memory({1000}), c = in_memory({1000});
    EXPECT_EQ(planned({a + b, a * b}), "add* multiply*\n");
    EXPECT_EQ(planned({a + 1, b * 2}), "add*\nmultiply*\n");
    leave_out("horizontal_fusion");
    EXPECT_EQ(planned({a + b, a * b}), "add*\nmultiply*\n");
}

TEST_F(Planner, NeighboursDoNotWaitForEachOther) {
    const array a = in_memory({300, 300});
    // The second needs what the first sums up, so they cannot run in one kernel.
    const array first = a + 1;
    const array second = a * sum(first);
    EXPECT_EQ(planned({first, second}), "add*\nsum*\nmultiply*\n");
}

TEST_F(Planner, GroupsAreNotLargerThanRegistersAllow) {
    const array a = in_memory({1000});
    array x = a;
    for (int k = 0; k < 150; ++k) x = x * 2;
    const std::vector<Group> groups = plan({x});
    ASSERT_EQ(groups.size(), 3U);
    size_t nodes = 0;
    for (const Group& group : groups) {
        EXPECT_LE(group.nodes.size(), planning::kMaxGroupNodes);
        nodes += group.nodes.size();
    }
    EXPECT_EQ(nodes, 150U);
    EXPECT_EQ(groups[0].boundary, Boundary::kLargeKernel);

    std::vector<array> many;
    for (int k = 0; k < 40; ++k) many.push_back(in_memory({1000}));
    array total = many[0] + many[1];
    for (size_t k = 2; k < many.size(); ++k) total = total + many[k];
    EXPECT_EQ(plan({total}).size(), 2U);
}

TEST_F(Planner, GroupsRunAfterThoseThatTheyRead) {
    const array a = in_memory({200, 200});
    array x = a;
    for (int k = 0; k < 4; ++k) x = sqrt(cumsum(x, k % 2) + sum(x, 0));
    std::vector<const Node*> computed;
    for (const Group& group : plan({x})) {
        for (const Node* node : group.nodes) {
            for (const Operand& input : node->inputs) {
                const Node* read = input.source.node.get();
                if (read == nullptr) continue;
                EXPECT_NE(std::find(computed.begin(), computed.end(), read), computed.end());
            }
            computed.push_back(node);
        }
    }
}

TEST_F(Planner, LargeResultsThatNobodyReadsSoonAreStreamed) {
    const int64_t stream = config().stream.exchange(100'000);
    const array a = in_memory({100'000}), small = in_memory({1000});
    EXPECT_EQ(plan({a + 1})[0].streamed, (std::vector<bool>{true}));
    EXPECT_EQ(plan({small + 1})[0].streamed, (std::vector<bool>{false}));
    // Read again by a later kernel.
    const array held = a + 1;
    const std::vector<Group> groups = plan({held, cumsum(held)});
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0].streamed, (std::vector<bool>{false}));
    // Its work, not memory, is what the kernel waits for.
    EXPECT_EQ(plan({tan(sin(cos(a)))})[0].streamed.back(), false);
    leave_out("nontemporal_stores");
    EXPECT_EQ(plan({a + 1})[0].streamed, (std::vector<bool>{false}));
    config().stream = stream;
}

TEST_F(Planner, PlanningChangesNoValue) {
    const array a = in_memory({300, 400});
    const array result = sum(a * 2, 1);
    plan({result});
    EXPECT_FALSE(evaluated(result));
    EXPECT_EQ(result(7).item<double>(), 800.0);
}

}  // namespace
}  // namespace weft
