// Which gathers go before what they gather from.
#include "planning/gather_pushdown.h"

#include "support/graph_testing.h"

namespace weft {
namespace {

class GatherPushdown : public testing_graph::GraphTest {
protected:
    static array positions(int64_t count) {
        const array made = arange(0, count, 1);
        eval({&made, 1});
        return made;
    }

    // The pending nodes afterwards. `record` has ended by then, so that no temporary holds what is gathered
    // from.
    template <class Record>
    std::string pushed(const Record& record) {
        const array result = record();
        const std::string before = pending({result});
        const bool changed = push_gathers_down(collect({result}));
        const std::string after = pending({result});
        EXPECT_EQ(changed, before != after);
        return after;
    }
};

TEST_F(GatherPushdown, WhatIsGatheredIsComputedWhereItIsRead) {
    const array a = in_memory({10'000});
    EXPECT_EQ(pushed([&] { return take(sin(a) * 2, positions(50), 0, TakeMode::kRaise); }),
              "gather sin multiply");
}

TEST_F(GatherPushdown, ConstantsAndBroadcastsAreReadThroughStrides) {
    const array a = in_memory({500, 300}), row = in_memory({300});
    // Rows are gathered: the row that is the same for all of them is no gather's business.
    EXPECT_EQ(pushed([&] { return take(a + row, positions(20), 0, TakeMode::kRaise); }), "gather add");
}

TEST_F(GatherPushdown, MoreElementsThanThereAreAreComputedFirst) {
    const array a = in_memory({1000});
    const array often = astype(reshape(arange(0, 5000, 1), Shape{5000}) % 1000, int64);
    eval({&often, 1});
    EXPECT_EQ(pushed([&] { return take(sin(a), often, 0, TakeMode::kRaise); }), "sin gather");
}

TEST_F(GatherPushdown, ValuesOfTwoArraysAreGatheredOnlyWhereFarFewerAreRead) {
    const array a = in_memory({10'000}), b = in_memory({10'000});
    EXPECT_EQ(pushed([&] { return take(a + b, positions(5000), 0, TakeMode::kRaise); }), "add gather");
    EXPECT_EQ(pushed([&] { return take(a + b, positions(50), 0, TakeMode::kRaise); }), "gather gather add");
}

TEST_F(GatherPushdown, WhatSomebodyElseReadsStays) {
    const array a = in_memory({10'000});
    const array held = sin(a);
    EXPECT_EQ(pushed([&] { return take(held, positions(50), 0, TakeMode::kRaise); }), "sin gather");
}

TEST_F(GatherPushdown, TheStepCanBeLeftOut) {
    leave_out("gather_pushdown");
    const array a = in_memory({10'000});
    EXPECT_EQ(pushed([&] { return take(sin(a), positions(50), 0, TakeMode::kRaise); }), "sin gather");
}

}  // namespace
}  // namespace weft
