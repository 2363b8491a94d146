// Loops and tries while they are lowered: what belongs to lowering.h, which includes this.
#pragma once

#include "lang/lowering.h"

namespace weft::lang {

// What a `for` goes over.
struct FunctionLowering::Sequence {
    std::function<ir::ValueId()> count;
    std::function<Value(ir::ValueId)> element;  // of that number, from 0
    std::function<ir::ValueId()> last{};        // number of a range, modulo 2**64
    // Of a range with a known step above 0: its loop's counter is the element itself.
    std::vector<ir::ValueId> bounds{};
    std::vector<ir::ValueId> within{};  // what they are within, for tests before all of it
    TypeRef counter = nullptr;
    // Of other ranges: the least element, and what all are below.
    std::function<std::pair<ir::ValueId, ir::ValueId>(ir::ValueId count)> extent{};
    // What is known of the elements of a range.
    Fact of_element{};
    bool direct = false;
    bool independent = false;  // its iterations do not depend on each other
    bool is_empty = false;     // as the type tells
    // Of lists, which may change meanwhile: whether there is such an element. Then `count` is beyond all.
    std::function<ir::ValueId(ir::ValueId)> goes_on{};
    std::function<ir::ValueId()> length{};
    bool consumes = false;  // to ask whether there is an element takes it from a generator
};

// A loop that is being lowered, and the variables that go from one iteration to the next.
struct FunctionLowering::Loop {
    std::vector<size_t> carried;
    std::vector<TypeRef> types;   // of them; while types are being found they grow
    std::vector<NodeId> origins;  // of them before the loop
    bool grown = false;
    const Flow* flow = nullptr;
    bool breaks = false;   // some break leaves it
    int level = 0;         // how many loops of the IR are open in its body
    size_t finals = 0;     // how many tries with finally are around it
    bool flagged = false;  // after the variables it carries whether no break left it
    std::vector<std::pair<size_t, ir::ValueId>> starts;  // integers at the beginning of an iteration
    std::vector<Outcome> outcomes;                       // what is known behind the loop
    size_t place_of(size_t variable) const {
        return static_cast<size_t>(std::find(carried.begin(), carried.end(), variable) - carried.begin());
    }
};

struct FunctionLowering::Try {
    NodeId id = 0;
    const Flow* flow = nullptr;
    std::vector<std::string> keys{};  // classes that it catches
    bool catches_all = false;
    bool goes_on = false;           // what it has caught may be raised again
    std::vector<size_t> failing{};  // variables that are read where an error is caught
    std::vector<TypeRef> failing_types{}, fine_types{};
    bool raises = false;
    int level = 0;
    size_t first_temporary = 0;
};

}  // namespace weft::lang
