// The names of dtypes, and that equal ones are one.
#include "weft/dtype.h"

#include <gtest/gtest.h>

#include "core/scalar_traits.h"
#include "weft/errors.h"

namespace weft {
namespace {

TEST(DType, DescribesItself) {
    const DType f8;
    EXPECT_EQ(f8.name(), "float64");
    EXPECT_EQ(f8.str(), "<f8");
    EXPECT_EQ(f8.kind(), 'f');
    EXPECT_EQ(f8.character(), 'd');
    EXPECT_EQ(f8.itemsize(), 8);
    EXPECT_EQ(f8.alignment(), 8);
    const DType c64 = ScalarType::kComplex64;
    EXPECT_EQ(c64.itemsize(), 8);
    EXPECT_EQ(c64.alignment(), 4);
    EXPECT_EQ(c64.real(), DType(ScalarType::kFloat32));
    EXPECT_EQ(f8.real(), f8);
    EXPECT_EQ(DType::all().size(), static_cast<size_t>(kScalarTypeCount));
}

TEST(DType, IsFoundByEveryName) {
    for (const DTypeInfo& info : DType::all()) {
        const DType dtype(info.scalar_type);
        EXPECT_EQ(DType::parse(info.name), dtype);
        EXPECT_EQ(DType::parse(std::string(1, info.character)), dtype);
        if (info.scalar_type == ScalarType::kBFloat16) continue;  // V2, which is mere bytes
        EXPECT_EQ(DType::parse(info.str), dtype);
        EXPECT_EQ(DType::parse(info.str.substr(1)), dtype);
    }
    EXPECT_EQ(DType::parse("int"), DType(ScalarType::kInt64));
    EXPECT_EQ(DType::parse("float"), DType(ScalarType::kFloat64));
    EXPECT_EQ(DType::parse("bool_"), DType(ScalarType::kBool));
    EXPECT_EQ(DType::parse("=i4"), DType(ScalarType::kInt32));
    EXPECT_EQ(DType::parse("<d"), DType(ScalarType::kFloat64));
    EXPECT_EQ(DType::parse("q"), DType(ScalarType::kInt64));
    EXPECT_EQ(DType::parse("?"), DType(ScalarType::kBool));
}

TEST(DType, RefusesWhatItIsNot) {
    for (const char* text : {"", "float63", "f3", "<", "<f", "object", ">f8", "b2"}) {
        EXPECT_EQ(DType::find(text), text == std::string_view("<f") ? DType::find("f") : nullptr) << text;
    }
    try {
        DType::parse("float63");
        FAIL();
    } catch (const TypeError& error) {
        EXPECT_STREQ(error.what(), "data type 'float63' not understood");
    }
}

TEST(DType, BFloat16IsNoOtherTypeOfItsSize) {
    const DType dtype = DType::parse("bfloat16");
    EXPECT_EQ(dtype, DType(ScalarType::kBFloat16));
    EXPECT_EQ(dtype.character(), 'E');
    EXPECT_EQ(dtype.str(), "<V2");
    EXPECT_EQ(DType::find("V2"), nullptr);  // mere bytes
    EXPECT_EQ(DType::parse("f2"), DType(ScalarType::kFloat16));
    EXPECT_TRUE(dtype.is_half_float());
    EXPECT_EQ(dtype.accumulator(), DType(ScalarType::kFloat32));
    EXPECT_EQ(DType(ScalarType::kFloat64).accumulator(), DType(ScalarType::kFloat64));
    EXPECT_EQ(DType(ScalarType::kInt16).accumulator(), DType(ScalarType::kInt16));
}

TEST(DType, MatchesCppTypes) {
    EXPECT_EQ(scalar_type_of<double>, ScalarType::kFloat64);
    EXPECT_EQ(scalar_type_of<Half>, ScalarType::kFloat16);
    EXPECT_EQ(scalar_type_of<Complex<float>>, ScalarType::kComplex64);
    for (const DTypeInfo& info : DType::all()) {
        visit_scalar_type(info.scalar_type, [&](auto tag) {
            using T = typename decltype(tag)::Type;
            EXPECT_EQ(sizeof(T), static_cast<size_t>(info.itemsize));
            EXPECT_EQ(scalar_type_of<T>, info.scalar_type);
        });
    }
}

}  // namespace
}  // namespace weft
