// Arrays in files in C++. What NumPy reads and writes is tested in tests/python/numpy/test_files.py.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "support/array_testing.h"
#include "weft/files.h"

namespace weft {
namespace {

/// A folder that is gone afterwards.
class Files : public ::testing::Test {
protected:
    Files() {
        folder_ = std::filesystem::temp_directory_path() /
                  ("weft_files_" + std::to_string(reinterpret_cast<uintptr_t>(this)));
        std::filesystem::create_directory(folder_);
    }
    ~Files() override { std::filesystem::remove_all(folder_); }
    std::string path(const char* name) const { return (folder_ / name).string(); }

private:
    std::filesystem::path folder_;
};

TEST_F(Files, SavedAndLoaded) {
    const array m = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
    save(path("m"), m);
    expect_equal(load(path("m.npy")), m);
    save(path("t.npy"), transpose(m));
    expect_equal(load(path("t.npy")), transpose(m));
    EXPECT_TRUE(load(path("t.npy")).f_contiguous());
    for (const DTypeInfo& info : DType::all()) {
        const array typed = astype(arange(5), info.scalar_type);
        save(path("typed"), typed);
        EXPECT_EQ(load(path("typed.npy")).dtype(), typed.dtype()) << info.name;
        expect_equal(load(path("typed.npy")), typed);
    }
    save(path("none"), zeros({0, 3}));
    EXPECT_EQ(load(path("none.npy")).shape(), (Dims{0, 3}));
    save(path("one"), array(full(Shape{}, 2.5)));
    EXPECT_EQ(load(path("one.npy")).ndim(), 0);
    save(path("steps"), array(m(all, slice(0, 3, 2))));
    expect_equal(load(path("steps.npy")), {{1.0, 3.0}, {4.0, 6.0}});
    EXPECT_THROW(load(path("nothing")), std::system_error);
    EXPECT_THROW(save(path("no/folder"), m), std::system_error);
}

TEST_F(Files, Streams) {
    std::stringstream stream;
    save(stream, array{1, 2});
    save(stream, array{3.5});
    expect_equal(load(stream), {1, 2});
    expect_equal(load(stream), {3.5});
    EXPECT_THROW(load(stream), ValueError);
}

TEST_F(Files, HeadersAreNumpys) {
    const std::string header = npy_header(zeros({3, 4}, ScalarType::kFloat32));
    EXPECT_EQ(header.size() % 64, 0U);
    EXPECT_EQ(header.substr(10, 60), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } ");
    EXPECT_NE(npy_header(zeros(3)).find("'shape': (3,), }"), std::string::npos);
    EXPECT_NE(npy_header(zeros(Shape{})).find("'shape': (), }"), std::string::npos);
    const NpyHeader said = parse_npy_header("{\"shape\": (2L, 3), 'descr': '|b1', 'fortran_order': True}\n");
    EXPECT_EQ(said.shape, (Dims{2, 3}));
    EXPECT_TRUE(said.fortran_order);
    EXPECT_EQ(said.dtype(), DType(ScalarType::kBool));
}

TEST_F(Files, HeadersThatAreNone) {
    const auto with = [](const std::string& descr, const std::string& shape) {
        return parse_npy_header("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + "}");
    };
    EXPECT_EQ(with("'<f8'", "(2,)").dtype(), DType(ScalarType::kFloat64));
    for (const char* descr : {"'<U5'", "'>f8'", "'<M8[D]'", "'|O'", "[('a', '<i4')]", "'<f16'"})
        EXPECT_THROW(with(descr, "(2,)").dtype(), TypeError) << descr;
    for (const char* descr : {"'x5'", "''", "'<'", "5", "None", "[]"})
        EXPECT_THROW(with(descr, "(2,)").dtype(), ValueError) << descr;
    for (const char* shape : {"[2]", "(-1,)", "(2.0,)", "2", "(99999999999999999999,)", "('a',)"})
        EXPECT_THROW(with("'<f8'", shape), ValueError) << shape;
    for (const char* text :
         {"", "{", "[1, 2]", "{'descr': '<f8'}",
          "{'descr': '<f8', 'fortran_order': 1, "
          "'shape': (2,)}",
          "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} x", "__import__('os')", "{1: 2}"})
        EXPECT_THROW(parse_npy_header(text), ValueError) << text;
    EXPECT_THROW(parse_npy_header(std::string(100000, '(')), ValueError);
}

TEST_F(Files, DamagedFiles) {
    std::stringstream whole;
    save(whole, arange(1000));
    const std::string bytes = whole.str();
    for (const size_t length : {size_t{0}, size_t{3}, size_t{9}, size_t{60}, bytes.size() - 1}) {
        std::istringstream part(bytes.substr(0, length));
        EXPECT_THROW(load(part), ValueError) << length;
    }
    std::string huge = npy_header(zeros(3));
    huge.replace(huge.find("(3,)"), 20, "(4611686018427387903");  // more bytes than memory has
    huge.replace(huge.find("387903") + 6, 4, ",) }");
    std::istringstream stream(huge);
    EXPECT_THROW(load(stream), ValueError);
}

TEST_F(Files, RawBytes) {
    tofile(array{{1, 2}, {3, 4}}, path("raw"));
    expect_equal(fromfile(path("raw"), ScalarType::kInt64), {1, 2, 3, 4});
    expect_equal(fromfile(path("raw"), ScalarType::kInt64, 2, 8), {2, 3});
    expect_equal(fromfile(path("raw"), ScalarType::kInt64, 9, 24), {4});
    EXPECT_EQ(fromfile(path("raw"), ScalarType::kInt64, -1, 100).size(), 0);
}

}  // namespace
}  // namespace weft
