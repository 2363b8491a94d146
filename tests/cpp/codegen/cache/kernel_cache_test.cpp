// Kernels that come from disk: without compiling, the same bits, and whatever was done to the files the right
// result.
#include "codegen/service/kernel_cache.h"
#include "codegen/cpu/compiler.h"
#include "codegen/llvm/host_cpu.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "codegen/cache/disk_cache.h"
#include "codegen/cache/engine_identity.h"
#include "core/config.h"
#include "core/shape.h"
#include "execution/kernels/kernel_store.h"
#include "ops/op.h"
#include "support/cache_testing.h"
#include "weft/cache.h"
#include "weft/ops.h"

namespace weft {
namespace {

using testing_cache::entries_of;
using testing_cache::kernels_name;
using testing_cache::read_file;
using testing_cache::run_apart;
using testing_cache::TemporaryFolder;
using testing_cache::write_file;

constexpr int64_t kSize = 10000;

class KernelCacheTest : public ::testing::Test {
protected:
    void SetUp() override {
        config().cache = true;
        config().cache_size = int64_t{1} << 30;
        config().set_cache_dir(path());
        std::mt19937_64 engine(5);
        std::uniform_real_distribution<double> uniform(-2, 2);
        for (double& value : values_) value = uniform(engine);
        input_ = copy_in(values_.data(), ScalarType::kFloat64, {kSize}, {8});
        forget_kernels();
        before_ = cache_info();
    }
    void TearDown() override {
        config().cache = false;
        config().set_cache_dir({});
        config().cache_size = int64_t{1} << 30;
    }

    std::string path() const { return top_ / "weft"; }

    // One operation, so one kernel wherever the graph is cut; and whether it is right.
    void run() const {
        const array result = call_binary(op_info(OpId::kMultiply), input_, input_);
        std::vector<double> found(kSize);
        copy_out(result, found.data());
        for (size_t k = 0; k < found.size(); ++k) {
            ASSERT_EQ(found[k], values_[k] * values_[k]);
        }
    }

    // The same in a process that has no kernels yet.
    void run_anew() const {
        forget_kernels();
        run();
    }

    int64_t compiled() const { return cache_info().compiled - before_.compiled; }
    int64_t hits() const { return cache_info().hits - before_.hits; }
    int64_t dropped() const { return cache_info().dropped - before_.dropped; }

    std::string only_entry() const {
        const std::vector<std::string> entries = entries_of(path());
        EXPECT_EQ(entries.size(), 1U);
        return entries.empty() ? "" : entries.front();
    }

    TemporaryFolder top_;
    std::vector<double> values_ = std::vector<double>(kSize);
    array input_;
    CacheInfo before_;
};

TEST_F(KernelCacheTest, AKernelIsCompiledOnce) {
    run_anew();
    EXPECT_EQ(compiled(), 1);
    EXPECT_EQ(cache_info().written - before_.written, 1);
    EXPECT_EQ(cache_info().misses - before_.misses, 1);
    const std::string ir = kernel_history().back().ir;
    EXPECT_GT(kernel_history().back().compile_seconds, 0);
    for (int k = 0; k < 3; ++k) run_anew();
    EXPECT_EQ(compiled(), 1);
    EXPECT_EQ(hits(), 3);
    EXPECT_EQ(kernel_history().back().compile_seconds, 0);
    EXPECT_EQ(kernel_history().back().ir, ir);
    EXPECT_NE(ir.find("multiply"), std::string::npos);
    EXPECT_EQ(cache_info().entries, 1);
    EXPECT_EQ(cache_info().bytes, static_cast<int64_t>(read_file(only_entry()).size()));
    EXPECT_EQ(cache_clear(), 1);
    run_anew();
    EXPECT_EQ(compiled(), 2);
}

TEST_F(KernelCacheTest, DamageIsRebuilt) {
    run_anew();
    const std::string path = only_entry(), whole = read_file(path);
    int64_t damages = 0;
    // Every byte is damaged in the tests of the disk cache; here some of each part, through compilation.
    for (size_t position = 0; position < whole.size(); position += position < 64 ? 8 : 97) {
        std::string damaged = whole;
        damaged[position] = static_cast<char>(damaged[position] ^ 0x10);
        write_file(path, damaged);
        run_anew();
        ASSERT_EQ(dropped(), ++damages) << position;
        ASSERT_EQ(compiled(), damages + 1) << position;
        ASSERT_EQ(read_file(path), whole) << position;  // compiling anew gives the same bytes
    }
    for (const size_t length : {size_t{0}, size_t{7}, size_t{56}, whole.size() / 2, whole.size() - 1}) {
        write_file(path, whole.substr(0, length));
        run_anew();
        ASSERT_EQ(dropped(), ++damages);
        ASSERT_EQ(read_file(path), whole);
    }
    run_anew();
    EXPECT_EQ(dropped(), damages);
    EXPECT_EQ(compiled(), damages + 1);
}

// Entries whose digest is right, but that cannot be used: of a format that never was, without the function.
TEST_F(KernelCacheTest, WhatCannotBeLoadedIsRebuilt) {
    run_anew();
    const std::string path = only_entry(), whole = read_file(path);
    uint64_t key_size = 0;
    std::memcpy(&key_size, whole.data() + 16, sizeof key_size);
    const std::string key = whole.substr(56, key_size), kernel = whole.substr(56 + key_size);
    ASSERT_TRUE(codegen::find_in_cache(key).has_value());
    codegen::DiskCacheCounts counts;
    codegen::DiskCache disk(this->path(), 1 << 30, counts);
    std::string other_symbol = kernel;
    const size_t symbol = other_symbol.find("kernel");
    ASSERT_NE(symbol, std::string::npos);
    other_symbol[symbol] = 'K';
    std::string other_object = kernel;
    const size_t object = other_object.find(
        "\x7f"
        "ELF");
    ASSERT_NE(object, std::string::npos);
    other_object[object + 1] = 'X';
    std::string huge_text = kernel;
    std::memset(huge_text.data(), 0xff, 8);
    int64_t damages = 0;
    for (const std::string& payload :
         {std::string(), std::string("nonsense"), kernel + "x", kernel.substr(0, kernel.size() - 1),
          other_symbol, other_object, huge_text}) {
        disk.store(key, payload);
        run_anew();
        ASSERT_EQ(dropped(), ++damages);
        ASSERT_EQ(read_file(path), whole);
    }
}

TEST_F(KernelCacheTest, WhatDecidesTheCodeIsInTheKey) {
    run_anew();
    EXPECT_EQ(entries_of(path()).size(), 1U);
    const bool verify = config().verify;
    config().verify = !verify;
    run_anew();
    config().verify = verify;
    EXPECT_EQ(entries_of(path()).size(), 2U);
    const std::string cpu = config().cpu();
    config().set_cpu("x86-64-v2");
    run_anew();
    config().set_cpu(cpu);
    EXPECT_EQ(entries_of(path()).size(), 3U);
    EXPECT_EQ(compiled(), 3);
    run_anew();
    EXPECT_EQ(compiled(), 3);

    const codegen::CompileOptions host{.cpu = "host"};
    const std::string key = codegen::cache_key("form", host);
    EXPECT_EQ(codegen::engine_build_id().size(), 40U);
    EXPECT_NE(key.find("\nengine " + codegen::engine_build_id() + "\n"), std::string::npos);
    EXPECT_NE(key.find("\nllvm 19."), std::string::npos);
    EXPECT_NE(key.find("weft 0."), std::string::npos);
    EXPECT_NE(key.find("\ncpu " + codegen::host_cpu() + "\nfeatures " + codegen::host_features() + "\n"),
              std::string::npos);
    EXPECT_NE(key, codegen::cache_key("other form", host));
    codegen::CompileOptions scalar = host;
    scalar.vector_math = false;
    EXPECT_NE(key, codegen::cache_key("form", scalar));
}

TEST_F(KernelCacheTest, TurnedOffItIsNotThere) {
    run_anew();
    const struct {
        const char* reason;
        std::function<void()> turn_off;
    } ways[] = {
        {"WEFT_CACHE is 0", [] { config().cache = false; }},
        {"WEFT_CACHE_SIZE is 0", [] { config().cache_size = 0; }},
        {"WEFT_CACHE_DIR is empty", [] { config().set_cache_dir(""); }},
        {"WEFT_CACHE_DIR is not an absolute path: here", [] { config().set_cache_dir("here"); }},
    };
    int64_t compilations = 1;
    for (const auto& way : ways) {
        way.turn_off();
        EXPECT_FALSE(cache_info().enabled);
        EXPECT_EQ(cache_info().reason, way.reason);
        EXPECT_EQ(cache_info().entries, 0);
        EXPECT_EQ(cache_clear(), 0);
        run_anew();
        EXPECT_EQ(compiled(), ++compilations);
        config().cache = true;
        config().cache_size = 1 << 30;
        config().set_cache_dir(path());
        EXPECT_TRUE(cache_info().enabled);
        run_anew();
        EXPECT_EQ(compiled(), compilations);
    }
    EXPECT_FALSE(std::filesystem::exists("here"));
}

TEST_F(KernelCacheTest, ARefusedFolderCostsNothingButSpeed) {
    ASSERT_EQ(mkdir(path().c_str(), 0700), 0);
    ASSERT_EQ(chmod(path().c_str(), 0777), 0);
    run_anew();
    run_anew();
    EXPECT_EQ(compiled(), 2);
    EXPECT_FALSE(cache_info().enabled);
    EXPECT_NE(cache_info().reason.find("weft is writable by others (mode 0777)"), std::string::npos);
    EXPECT_TRUE(std::filesystem::is_empty(path()));
    ASSERT_EQ(chmod(path().c_str(), 0700), 0);
    EXPECT_TRUE(cache_info().enabled);  // put right, it is used from the next look on
    run_anew();
    run_anew();
    EXPECT_EQ(compiled(), 3);
}

TEST_F(KernelCacheTest, ChildrenUseIt) {
    run_anew();
    EXPECT_EQ(run_apart([&] {
                  run_anew();
                  return compiled() == 1 && hits() == 1 && !HasFailure() ? 0 : 1;
              }),
              0);
}

}  // namespace
}  // namespace weft
