// Grids, counted positions and diagonals in C++. Values are tested beside NumPy in
// tests/python/numpy/test_creation.py and test_every_function.py.
#include "support/array_testing.h"

namespace weft {
namespace {

TEST(Grids, Coordinates) {
    const array x = {1, 2, 3}, y = {10, 20};
    const std::vector<array> both = meshgrid({x, y});
    expect_equal(both[0], {{1, 2, 3}, {1, 2, 3}});
    expect_equal(both[1], {{10, 10, 10}, {20, 20, 20}});
    const std::vector<array> turned = meshgrid({x, y}, {.indexing = GridIndexing::kIJ});
    expect_equal(turned[0], transpose(both[0]));
    EXPECT_EQ(meshgrid({x, y}, {.sparse = true})[0].shape(), (Dims{1, 3}));
    EXPECT_TRUE(shares_memory(meshgrid({x, y}, {.copy = false})[1], y));
    EXPECT_FALSE(shares_memory(both[1], y));
    EXPECT_TRUE(meshgrid({}).empty());
}

TEST(Grids, Positions) {
    expect_equal(indices({2, 2}), {{{0, 0}, {1, 1}}, {{0, 1}, {0, 1}}});
    EXPECT_EQ(indices({}).shape(), Dims{0});
    EXPECT_EQ(indices({2, 3}, float32).dtype(), float32);
    const std::vector<array> sparse = sparse_indices({2, 3});
    expect_equal(sparse[0], {{0}, {1}});
    expect_equal(sparse[1], {{0, 1, 2}});
    const std::vector<array> chosen = ix_(std::vector<array>{array{false, true}, array{0, 2}});
    expect_equal(chosen[0], {{1}});
    expect_equal(chosen[1], {{0, 2}});
    EXPECT_THROW(ix_(std::vector<array>{asarray(1)}), ValueError);
}

TEST(Grids, CountedPositions) {
    const std::vector<array> places = unravel_index(array{3, 5}, {2, 3});
    expect_equal(places[0], {1, 1});
    expect_equal(places[1], {0, 2});
    expect_equal(unravel_index(array{3, 5}, {2, 3}, 'F')[0], {1, 1});
    expect_equal(ravel_multi_index({places[0], places[1]}, {2, 3}), {3, 5});
    expect_equal(ravel_multi_index({array{1}, array{2}}, {2, 3}, TakeMode::kRaise, 'F'), array{5});
    expect_equal(ravel_multi_index({array{3}, array{-1}}, {2, 3}, TakeMode::kWrap), array{5});
    expect_equal(ravel_multi_index({array{3}, array{-1}}, {2, 3}, TakeMode::kClip), array{3});
    EXPECT_THROW(unravel_index(array{6}, {2, 3}), ValueError);
    EXPECT_THROW(unravel_index(array{1.0}, {2, 3}), TypeError);
    EXPECT_THROW(ravel_multi_index({array{2}, array{0}}, {2, 3}), ValueError);
    EXPECT_THROW(ravel_multi_index({array{0}}, {2, 3}), ValueError);
    EXPECT_THROW(ravel_multi_index({array{0.5}}, {2}), TypeError);
}

TEST(Grids, Diagonals) {
    expect_equal(diag(array{1, 2}), {{1, 0}, {0, 2}});
    expect_equal(diag(array{1}, -1), {{0, 0}, {1, 0}});
    expect_equal(diag(array{{1, 2}, {3, 4}}, 1), array{2});
    expect_equal(diagflat(array{{1}, {2}}), {{1, 0}, {0, 2}});
    EXPECT_THROW(diag(asarray(1)), ValueError);
    array a = zeros({5, 2}, int64);
    fill_diagonal(a, 7);
    expect_equal(a, {{7, 0}, {0, 7}, {0, 0}, {0, 0}, {0, 0}});
    fill_diagonal(a, array{1, 2, 3}, true);
    expect_equal(a, {{1, 0}, {0, 2}, {0, 0}, {3, 0}, {0, 1}});
    array cube = zeros({2, 2, 2});
    fill_diagonal(cube, 1);
    EXPECT_EQ(sum(cube).item<double>(), 2);
    EXPECT_EQ(cube(1, 1, 1).item<double>(), 1);
    EXPECT_THROW(fill_diagonal(array{1, 2}, 1), ValueError);
    EXPECT_THROW(fill_diagonal(zeros({2, 2, 3}), 1), ValueError);
    EXPECT_THROW(fill_diagonal(broadcast_to(asarray(1), {2, 2}), 1), ValueError);
    EXPECT_EQ(diag_indices(3, 2).size(), 2u);
    expect_equal(diag_indices(3)[1], {0, 1, 2});
}

TEST(Grids, Triangles) {
    expect_equal(tri(2, 3, 0, int64), {{1, 0, 0}, {1, 1, 0}});
    expect_equal(tri(2, 2, 1, bool_), {{true, true}, {true, true}});
    EXPECT_EQ(tri(3).dtype(), float64);
    const auto [rows, columns] = tril_indices(2);
    expect_equal(rows, {0, 1, 1});
    expect_equal(columns, {0, 0, 1});
    expect_equal(triu_indices(2, 0, 3).second, {0, 1, 2, 1, 2});
    expect_equal(triu_indices(2, 1).first, array{0});
}

TEST(Grids, Powers) {
    expect_equal(vander(array{1, 2, 3}), {{1, 1, 1}, {4, 2, 1}, {9, 3, 1}});
    expect_equal(vander(array{2.0}, 4, true), {{1.0, 2.0, 4.0, 8.0}});
    EXPECT_EQ(vander(array{1, 2}, 0).shape(), (Dims{2, 0}));
    EXPECT_EQ(vander(astype(array{1}, int8)).dtype(), int64);
    EXPECT_THROW(vander(asarray(1)), ValueError);
}

}  // namespace
}  // namespace weft
