#include "codegen/draw_words.h"

#include <llvm/IR/DerivedTypes.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/stream_steps.h"
#include "core/stream_words.h"

namespace weft::codegen {

namespace {

template <class Stream>
void draw_pcg(WordFunctions::Pcg words, uint64_t* out, int64_t count, int64_t first, const uint64_t* origin) {
    const scalar::Wide at =
        scalar::state_at<Stream>(static_cast<uint64_t>(first) - Stream::kFirstStep,
                                 scalar::wide(origin[1], origin[0]), scalar::wide(origin[3], origin[2]));
    std::array<uint64_t, 4> state = {static_cast<uint64_t>(at), static_cast<uint64_t>(at >> 64), origin[2],
                                     origin[3]};
    words(out, static_cast<size_t>(count), state.data());
}

void draw_pcg64(uint64_t* out, int64_t count, int64_t first, const uint64_t* origin) {
    draw_pcg<scalar::Pcg64>(word_functions().pcg64, out, count, first, origin);
}

void draw_pcg64_dxsm(uint64_t* out, int64_t count, int64_t first, const uint64_t* origin) {
    draw_pcg<scalar::Pcg64Dxsm>(word_functions().pcg64_dxsm, out, count, first, origin);
}

void draw_philox(uint64_t* out, int64_t count, int64_t first, const uint64_t* origin) {
    const WordFunctions::Blocks blocks = word_functions().philox;
    Philox::Block counter = {origin[0], origin[1], origin[2], origin[3]};
    const uint64_t* key = origin + counter.size();
    const auto block_words = static_cast<int64_t>(counter.size());
    Philox::add(counter.data(), static_cast<uint64_t>(first / block_words));
    const auto draw_part = [&](int64_t begin, int64_t words) {
        Philox::Block block{};
        blocks(block.data(), 1, counter.data(), key);
        Philox::add(counter.data(), 1);
        out = std::copy_n(block.data() + begin, words, out);
        count -= words;
    };
    if (const int64_t begin = first % block_words) draw_part(begin, std::min(count, block_words - begin));
    if (const int64_t whole = count / block_words) {
        blocks(out, static_cast<size_t>(whole), counter.data(), key);
        Philox::add(counter.data(), static_cast<uint64_t>(whole));
        out += whole * block_words;
        count -= whole * block_words;
    }
    if (count != 0) draw_part(0, count);
}

struct DrawFunction {
    Stream stream;
    const char* name;
    void (*function)(uint64_t* out, int64_t count, int64_t first, const uint64_t* origin);
};

constexpr DrawFunction kFunctions[] = {
    {Stream::kPcg64, "weft_draw_pcg64", draw_pcg64},
    {Stream::kPcg64Dxsm, "weft_draw_pcg64_dxsm", draw_pcg64_dxsm},
    {Stream::kPhilox, "weft_draw_philox", draw_philox},
};

}  // namespace

llvm::Function* declare_draw_words(llvm::Module& module, Stream stream) {
    const auto* const found =
        std::ranges::find_if(kFunctions, [&](const DrawFunction& each) { return each.stream == stream; });
    if (llvm::Function* declared = module.getFunction(found->name)) return declared;
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* pointer = llvm::PointerType::getUnqual(context);
    llvm::Type* integer = llvm::Type::getInt64Ty(context);
    auto* type =
        llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, integer, integer, pointer}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, found->name, module);
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setOnlyAccessesArgMemory();
    for (const unsigned k : {0U, 3U}) {
        function->addParamAttr(k, llvm::Attribute::NoCapture);
        function->addParamAttr(k, llvm::Attribute::NoAlias);
    }
    function->addParamAttr(0, llvm::Attribute::WriteOnly);
    function->addParamAttr(3, llvm::Attribute::ReadOnly);
    return function;
}

void* find_draw_words(std::string_view name) {
    const auto* const found =
        std::ranges::find_if(kFunctions, [&](const DrawFunction& each) { return each.name == name; });
    return found == std::end(kFunctions) ? nullptr : reinterpret_cast<void*>(found->function);
}

}  // namespace weft::codegen
