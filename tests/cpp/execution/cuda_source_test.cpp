// What is known of CUDA C++ without a GPU: parameters of kernels, headers that a source reads, the compiler's
// messages.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "device/cuda/linker.h"
#include "execution/cuda_source/compile_log.h"
#include "execution/cuda_source/kernel_signatures.h"
#include "execution/cuda_source/source_includes.h"
#include "weft/errors.h"

namespace weft {
namespace {

using Kind = KernelParameter::Kind;

struct TypeCase {
    const char* text;
    Kind kind;
    const char* dtype;  // null: unknown
    int64_t bytes;
    bool is_const;
};

TEST(KernelSignatures, TypesAreReadAsTheyAreWritten) {
    const std::vector<TypeCase> cases{
        {"float", Kind::kFloating, "float32", 4, false},
        {"const double", Kind::kFloating, "float64", 8, false},
        {"unsigned", Kind::kInteger, "uint32", 4, false},
        {"long long unsigned int", Kind::kInteger, "uint64", 8, false},
        {"long", Kind::kInteger, "int64", 8, false},
        {"unsigned char", Kind::kInteger, "uint8", 1, false},
        {"char", Kind::kInteger, "int8", 1, false},
        {"bool", Kind::kInteger, "bool", 1, false},
        {"std::size_t", Kind::kInteger, "uint64", 8, false},
        {"const float* __restrict__", Kind::kPointer, "float32", 8, true},
        {"float const *", Kind::kPointer, "float32", 8, true},
        {"float* const", Kind::kPointer, "float32", 8, false},
        {"void*", Kind::kPointer, nullptr, 8, false},
        {"const float**", Kind::kPointer, nullptr, 8, false},
        {"thrust::complex<float>*", Kind::kPointer, "complex64", 8, false},
        {"complex<double>", Kind::kBytes, "complex128", 16, false},
        {"cuDoubleComplex", Kind::kBytes, "complex128", 16, false},
        {"__half const*", Kind::kPointer, "float16", 8, true},
        {"Real*", Kind::kPointer, nullptr, 8, false},
        {"Real", Kind::kUnknown, nullptr, 0, false},
        {"std::array<float, 3>", Kind::kUnknown, nullptr, 0, false},
    };
    for (const TypeCase& each : cases) {
        const KernelParameter found = parameter_of_type(each.text);
        EXPECT_EQ(found.kind, each.kind) << each.text;
        EXPECT_EQ(found.dtype.has_value() ? std::string(found.dtype->name()) : "",
                  each.dtype ? each.dtype : "")
            << each.text;
        EXPECT_EQ(found.bytes, each.bytes) << each.text;
        EXPECT_EQ(found.is_const, each.is_const) << each.text;
    }
}

TEST(KernelSignatures, PtxTellsSizesAndWhatIsFloating) {
    const auto found = signatures_in_ptx(R"(
.version 9.0
.visible .entry f(
	.param .u64 .ptr .align 1 f_param_0,
	.param .f32 f_param_1,
	.param .u32 f_param_2,
	.param .align 8 .b8 f_param_3[24],
	.param .u64 f_param_4
)
.maxntid 128
{
	ret;
}
.entry g
{
	ret;
})");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found.at("g").empty());
    const KernelSignature& f = found.at("f");
    ASSERT_EQ(f.size(), 5U);
    EXPECT_EQ(f[0].kind, Kind::kPointer);
    EXPECT_EQ(f[1].kind, Kind::kFloating);
    EXPECT_EQ(f[2].kind, Kind::kInteger);
    EXPECT_EQ(f[3].kind, Kind::kBytes);
    EXPECT_EQ(f[3].bytes, 24);
    EXPECT_EQ(f[4].kind, Kind::kUnknown);
    EXPECT_EQ(f[4].bytes, 8);
}

TEST(KernelSignatures, SymbolsTellTypesAndNames) {
    EXPECT_EQ(name_of_symbol("_Z3addIfEvPT_S0_"), "add<float>");
    EXPECT_EQ(name_of_symbol("_ZN5outer5innerEPKdi"), "outer::inner");
    EXPECT_EQ(name_of_symbol("scale"), "scale");
    const KernelSignature add = signature_of_symbol("_Z3addIfEvPT_S0_");
    ASSERT_EQ(add.size(), 2U);
    EXPECT_EQ(add[0].dtype, DType(ScalarType::kFloat32));
    EXPECT_EQ(add[1].kind, Kind::kFloating);
    const KernelSignature inner = signature_of_symbol("_ZN5outer5innerEPKdi");
    ASSERT_EQ(inner.size(), 2U);
    EXPECT_TRUE(inner[0].is_const);
    EXPECT_TRUE(signature_of_symbol("scale").empty());
    EXPECT_TRUE(signature_of_symbol("_Z4nonev").empty());
}

TEST(KernelSignatures, SourcesAreReadAroundCommentsAndAttributes) {
    const auto found = signatures_in_source(R"cuda(
// __global__ void commented(int x)
/* __global__ void also(int x) */
const char* text = "__global__ void quoted(int x)";
extern "C" __global__ void __launch_bounds__(128, 4) f(const float* __restrict__ x,
                                                       float y[], unsigned n, Real r = 3) {}
__global__ void none(void);
__global__ void twice(int x);
__global__ void twice(float x) {}
)cuda");
    ASSERT_TRUE(found.contains("f"));
    EXPECT_TRUE(found.contains("none"));
    EXPECT_EQ(found.size(), 2U);
    const KernelSignature& f = found.at("f");
    ASSERT_EQ(f.size(), 4U);
    EXPECT_TRUE(f[0].is_const);
    EXPECT_EQ(f[0].text, "const float* __restrict__ x");
    EXPECT_EQ(f[1].kind, Kind::kPointer);
    EXPECT_EQ(f[2].dtype, DType(ScalarType::kUInt32));
    EXPECT_EQ(f[3].kind, Kind::kUnknown);
}

TEST(KernelSignatures, WhatContradictsIsNotUsed) {
    KernelSignature known{{.kind = Kind::kFloating, .dtype = DType(ScalarType::kFloat32), .bytes = 4}};
    refine(known, {{.kind = Kind::kPointer, .bytes = 8, .text = "float* x"}});
    EXPECT_TRUE(known[0].text.empty());
    refine(known, {{.kind = Kind::kFloating, .bytes = 4, .text = "float x"}, {}});
    EXPECT_TRUE(known[0].text.empty());
    refine(known, {{.kind = Kind::kFloating, .bytes = 4, .text = "float x"}});
    EXPECT_EQ(known[0].text, "float x");
}

class Headers : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "weft-headers-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ + "/" + name, std::ios::binary) << text;
    }
    ReadHeaders read(const std::string& source) const {
        const std::vector<std::string> sources{source}, folders{folder_};
        return read_headers(sources, folders, {});
    }
    std::string folder_;
};

TEST_F(Headers, ThatAHeaderIncludesCountToo) {
    write("outer.h", "#  include \"inner.h\"\n");
    write("inner.h", "int x;\n");
    const std::string source = "#include <outer.h>\n";
    const ReadHeaders before = read(source);
    EXPECT_TRUE(before.complete);
    EXPECT_EQ(read(source).digest, before.digest);
    write("inner.h", "int y;\n");
    EXPECT_NE(read(source).digest, before.digest);
}

TEST_F(Headers, ThatAppearCountToo) {
    const std::string source = "#if __has_include(\"more.h\")\n#endif\n";
    const ReadHeaders before = read(source);
    write("more.h", "");
    EXPECT_NE(read(source).digest, before.digest);
}

TEST_F(Headers, WhoseNamesAreMacrosAreNotKnown) {
    EXPECT_FALSE(read("#define H <x.h>\n#include H\n").complete);
    EXPECT_TRUE(read("// #include H\n").complete);
}

TEST_F(Headers, ThatIncludeEachOtherEnd) {
    write("a.h", "#include \"b.h\"\n");
    write("b.h", "#include \"a.h\"\n");
    EXPECT_TRUE(read("#include \"a.h\"\n").complete);
}

TEST(IncludeFolders, AreThoseOfTheOptions) {
    const std::vector<std::string> options{"-I/a", "-DX", "-I", "/b", "--include-path=/c", "-isystem", "/d"};
    EXPECT_EQ(include_folders_in(options), (std::vector<std::string>{"/a", "/b", "/c", "/d"}));
}

TEST(CompileLog, HasTheFirstErrorsWithTheirLines) {
    const std::string log = R"(k.cu(2): warning #177-D: variable "y" was declared but never referenced
    int y = 3;
        ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

k.cu(3): error: identifier "z" is undefined
    x[0] = z + 1;
           ^

1 error detected in the compilation of "k.cu".
)";
    EXPECT_EQ(first_errors(log),
              "k.cu(3): error: identifier \"z\" is undefined\n    x[0] = z + 1;\n           ^");
    EXPECT_EQ(first_errors("nvrtc: error: unrecognized option --x found\n"),
              "nvrtc: error: unrecognized option --x found");
    EXPECT_EQ(first_errors("something else\n"), "something else");
    EXPECT_EQ(first_errors(""), "");
    std::string many;
    for (int k = 0; k < 7; ++k) many += "k.cu(" + std::to_string(k) + "): error: no\n\n";
    EXPECT_EQ(first_errors(many),
              "k.cu(0): error: no\nk.cu(1): error: no\nk.cu(2): error: no\nand 4 more errors");
}

TEST(CodeForGpus, IsKnownByItsFirstBytes) {
    using cuda::LinkInput;
    std::string elf("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0\276\0", 20);
    EXPECT_EQ(cuda::kind_of_code(elf, "x"), LinkInput::kCubin);
    elf[18] = 62;
    EXPECT_EQ(cuda::kind_of_code(elf, "x"), LinkInput::kObject);
    EXPECT_EQ(cuda::kind_of_code("//\n.version 9.0\n.target sm_90\n", "x"), LinkInput::kPtx);
    EXPECT_EQ(cuda::kind_of_code("!<arch>\n...", "x"), LinkInput::kLibrary);
    EXPECT_EQ(cuda::kind_of_code("\x50\xed\x55\xba...", "x"), LinkInput::kFatbin);
    EXPECT_EQ(cuda::kind_of_code("\xed\x43\x4e\x7f...", "x"), LinkInput::kLtoIr);
    EXPECT_THROW(cuda::kind_of_code("", "x"), ValueError);
    EXPECT_THROW(cuda::kind_of_code("text", "x"), ValueError);
}

}  // namespace
}  // namespace weft
