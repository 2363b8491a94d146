#include "lang/kernels/thread_place.h"

#include <algorithm>

namespace weft::lang {

namespace {

// What stands for the arguments where globals are told apart by their addresses.
constexpr std::array<char, kPlaceArguments> kArguments{};

const void* object_of(PlaceArgument argument) { return &kArguments[static_cast<size_t>(argument)]; }

}  // namespace

std::array<GlobalArgument, kPlaceArguments> place_arguments() {
    const std::vector<TypeRef> numbers(kPlaceNumbers, scalar_type(ScalarType::kInt64, true));
    const auto bytes = [](uint16_t scope) { return array_type(ScalarType::kUInt8, 1, true, false, scope); };
    return {{{object_of(PlaceArgument::kNumbers), tuple_type(numbers)},
             {object_of(PlaceArgument::kBlockMemory), bytes(kBlockMemoryScope)},
             {object_of(PlaceArgument::kOwnMemory), bytes(kOwnMemoryScope)}}};
}

bool is_place_argument(const GlobalArgument& global) {
    const auto* const object = static_cast<const char*>(global.object);
    return object >= kArguments.data() && object < kArguments.data() + kArguments.size();
}

int64_t KernelMemory::place_of(PlaceArgument memory, const FunctionSource* function, NodeId node,
                               int64_t bytes) {
    auto& [all, known] = memory_[index(memory)];
    const auto found = std::find_if(known.begin(), known.end(), [&](const Known& each) {
        return each.function == function && each.node == node && each.bytes == bytes;
    });
    if (found != known.end()) return found->place;
    const int64_t place = rounded_up(all);
    all = place + bytes;
    known.push_back({function, node, bytes, place});
    return place;
}

}  // namespace weft::lang
