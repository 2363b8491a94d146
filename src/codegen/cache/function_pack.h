// Machine code that is shipped with weft: entries by their digests, in one file beside libweft.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cache/digest.h"

namespace weft::codegen {

inline constexpr const char* kFunctionPack = "libweft.functions";

class FunctionPack {
public:
    // That of this engine, which is empty where there is no file, or one that is not whole.
    static const FunctionPack& shipped();

    explicit FunctionPack(const std::string& path);
    FunctionPack(const FunctionPack&) = delete;
    FunctionPack& operator=(const FunctionPack&) = delete;
    ~FunctionPack();

    // Nothing where what the file has of it is damaged.
    std::optional<std::string_view> find(const Digest& key) const;
    size_t count() const { return count_; }

private:
    struct Row;
    const char* bytes_ = nullptr;
    size_t size_ = 0, count_ = 0;
    const Row* rows_ = nullptr;
};

// The file as bytes.
std::string function_pack(const std::map<Digest, std::string>& entries);

}  // namespace weft::codegen
