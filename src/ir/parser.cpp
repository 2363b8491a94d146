#include "ir/parser.h"
#include "ir/intrinsic.h"

#include <charconv>
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/constant_text.h"
#include "ir/printer.h"
#include "weft/errors.h"

namespace weft::ir {

namespace {

constexpr int64_t kDeepest = 1 << 16;  // loops around an exit

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_word_start(c) || is_digit(c) || c == '.'; }

struct Position {
    int line = 1;
    int column = 1;
};

// Hands out the pieces of the text, one after another. Spaces, line ends and `//` comments only separate.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) { skip(); }

    [[noreturn]] void fail(const std::string& message, Position at) const {
        throw ValueError("kernel IR, line " + std::to_string(at.line) + ", column " +
                         std::to_string(at.column) + ": " + message);
    }
    [[noreturn]] void fail_expected(const std::string& what) const {
        fail("expected " + what + ", found " + found(), position_);
    }

    Position position() const { return position_; }
    int last_line() const { return last_line_; }  // where the piece before the current one ended
    bool at_end() const { return offset_ == text_.size(); }
    char peek() const { return at_end() ? '\0' : text_[offset_]; }

    bool peek_word(std::string_view word) const {
        return text_.substr(offset_).starts_with(word) &&
               (offset_ + word.size() == text_.size() || !is_name_part(text_[offset_ + word.size()]));
    }
    bool take_word(std::string_view word) { return peek_word(word) && (advance(word.size()), true); }
    void expect_word(std::string_view word) {
        if (!take_word(word)) fail_expected("'" + std::string(word) + "'");
    }
    bool take(char c) { return peek() == c && (advance(1), true); }
    void expect(char c) {
        if (!take(c)) fail_expected(std::string("'") + c + "'");
    }

    std::string word(const std::string& what) {
        if (!is_word_start(peek())) fail_expected(what);
        size_t length = 1;
        while (offset_ + length < text_.size() &&
               (is_word_start(text_[offset_ + length]) || is_digit(text_[offset_ + length]))) {
            length++;
        }
        return advance(length);
    }

    // The name after `mark`, which is % or @.
    std::string name(char mark, const std::string& what) {
        size_t length = 1;
        while (offset_ + length < text_.size() && is_name_part(text_[offset_ + length])) length++;
        if (peek() != mark || length == 1) fail_expected(what);
        return advance(length).substr(1);
    }

    int64_t integer(const std::string& what) {
        const char* begin = text_.data() + offset_;
        int64_t value = 0;
        auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range) fail(what + " does not fit 64 bits", position_);
        if (error != std::errc()) fail_expected(what);
        advance(static_cast<size_t>(stop - begin));
        return value;
    }

    // The text of a constant: (…) or all up to a space, a comma or the end of the line.
    std::string constant() {
        size_t length = 0;
        if (peek() == '(') {
            while (offset_ + length < text_.size() && text_[offset_ + length] != ')' &&
                   text_[offset_ + length] != '\n') {
                length++;
            }
            if (offset_ + length == text_.size() || text_[offset_ + length] != ')')
                fail_expected("'(real, imaginary)'");
            length++;
        } else {
            while (offset_ + length < text_.size() &&
                   (is_name_part(text_[offset_ + length]) || text_[offset_ + length] == '-' ||
                    text_[offset_ + length] == '+')) {
                length++;
            }
        }
        if (length == 0) fail_expected("a constant");
        return advance(length);
    }

private:
    std::string advance(size_t length) {
        std::string taken(text_.substr(offset_, length));
        offset_ += length;
        position_.column += static_cast<int>(length);
        last_line_ = position_.line;
        skip();
        return taken;
    }

    void skip() {
        while (!at_end()) {
            char c = text_[offset_];
            if (c == '\n') {
                position_.line++;
                position_.column = 1;
                offset_++;
            } else if (c == ' ' || c == '\t' || c == '\r') {
                position_.column++;
                offset_++;
            } else if (text_.substr(offset_).starts_with("//")) {
                while (!at_end() && text_[offset_] != '\n') offset_++;
            } else {
                return;
            }
        }
    }

    std::string found() const {
        if (at_end()) return "the end of the text";
        size_t length = 1;
        while (offset_ + length < text_.size() && is_name_part(text_[offset_ + length])) length++;
        return "'" + std::string(text_.substr(offset_, length)) + "'";
    }

    std::string_view text_;
    size_t offset_ = 0;
    Position position_;
    int last_line_ = 1;
};

template <class Enum, class Name>
std::optional<Enum> find_named(std::string_view text, Enum last, Name name) {
    for (int i = 0; i <= static_cast<int>(last); i++) {
        if (name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

class FunctionParser {
public:
    explicit FunctionParser(Scanner& scanner) : scanner_(scanner) {}

    Function run() {
        if (scanner_.take_word("function")) {
            function_.is_kernel = false;
        } else if (!scanner_.take_word("kernel")) {
            scanner_.fail_expected("'kernel' or 'function'");
        }
        function_.name = scanner_.name('@', "a name such as @axpy");
        scanner_.expect('(');
        for (bool first = true; !scanner_.take(')'); first = false) {
            if (!first) scanner_.expect(',');
            NewName name = new_name();
            scanner_.expect(':');
            function_.parameters.push_back(define(name, type()));
        }
        if (scanner_.take(':')) function_.result_types = types();
        braces(function_.body, Opcode::kReturn);
        return std::move(function_);
    }

private:
    struct NewName {
        std::string text;
        Position position;
    };

    // --- names and types ---

    NewName new_name() {
        Position position = scanner_.position();
        return {scanner_.name('%', "a value such as %x"), position};
    }

    std::vector<NewName> new_names(char close) {
        std::vector<NewName> result;
        for (bool first = true; !scanner_.take(close); first = false) {
            if (!first) scanner_.expect(',');
            result.push_back(new_name());
        }
        return result;
    }

    ValueId define(const NewName& name, Type value_type) {
        bool numbered = name.text.find_first_not_of("0123456789") == std::string::npos;
        ValueId value = function_.add_value(std::move(value_type), numbered ? "" : name.text);
        if (!scope_.emplace(name.text, value).second) {
            scanner_.fail("%" + name.text + " is defined twice", name.position);
        }
        defined_.push_back(name.text);
        return value;
    }

    std::vector<ValueId> define_all(const std::vector<NewName>& names, const std::vector<Type>& types_wanted,
                                    const std::string& what) {
        if (names.size() != types_wanted.size()) {
            scanner_.fail(what + ": expected " + std::to_string(types_wanted.size()) + " names, found " +
                              std::to_string(names.size()),
                          names.empty() ? scanner_.position() : names[0].position);
        }
        std::vector<ValueId> values;
        for (size_t i = 0; i < names.size(); i++) values.push_back(define(names[i], types_wanted[i]));
        return values;
    }

    ValueId use() {
        Position position = scanner_.position();
        std::string name = scanner_.name('%', "a value such as %x");
        auto found = scope_.find(name);
        if (found == scope_.end()) scanner_.fail("%" + name + " is not defined here", position);
        return found->second;
    }

    ValueId use_scalar() {
        Position position = scanner_.position();
        ValueId value = use();
        if (function_.type(value).is_buffer) scanner_.fail("expected a scalar, found a buffer", position);
        return value;
    }

    ValueId use_buffer() {
        Position position = scanner_.position();
        ValueId value = use();
        if (!function_.type(value).is_buffer) scanner_.fail("expected a buffer, found a scalar", position);
        return value;
    }

    std::vector<ValueId> uses_until(char close) {
        std::vector<ValueId> result;
        for (bool first = true; !scanner_.take(close); first = false) {
            if (!first) scanner_.expect(',');
            result.push_back(use());
        }
        return result;
    }

    std::vector<ValueId> uses() {
        std::vector<ValueId> result;
        if (scanner_.peek() != '%') return result;
        do result.push_back(use());
        while (scanner_.take(','));
        return result;
    }

    ScalarType scalar_type() {
        Position position = scanner_.position();
        std::string text = scanner_.word("a type such as f64");
        auto found = find_named(text, static_cast<ScalarType>(kScalarTypeCount - 1), scalar_name);
        if (!found) scanner_.fail("unknown type " + text, position);
        return *found;
    }

    Type type() {
        Position position = scanner_.position();
        std::optional<AddressSpace> space;
        for (AddressSpace candidate : {AddressSpace::kGlobal, AddressSpace::kShared, AddressSpace::kLocal}) {
            if (scanner_.take_word(space_name(candidate))) space = candidate;
        }
        if (!space) return Type::of(scalar_type());

        BufferType buffer;
        buffer.space = *space;
        buffer.element = scalar_type();
        scanner_.expect('[');
        for (bool first = true; !scanner_.take(']'); first = false) {
            if (!first) scanner_.expect(',');
            buffer.strides.push_back(scanner_.take('?') ? kDynamic
                                                        : scanner_.integer("a stride in bytes or '?'"));
        }
        if (scanner_.take_word("size")) {
            scanner_.expect('[');
            for (bool first = true; !scanner_.take(']'); first = false) {
                if (!first) scanner_.expect(',');
                buffer.sizes.push_back(scanner_.take('?') ? kDynamic : scanner_.integer("a size or '?'"));
            }
        }
        if (scanner_.take_word("scope")) {
            int64_t scope = scanner_.integer("an alias scope");
            if (scope < 0 || scope > UINT16_MAX) scanner_.fail("alias scope out of range", position);
            buffer.alias_scope = static_cast<uint16_t>(scope);
        }
        buffer.readonly = scanner_.take_word("readonly");
        buffer.streamed = scanner_.take_word("streamed");
        buffer.prefetch = scanner_.take_word("prefetch");
        return Type::of(std::move(buffer));
    }

    std::vector<Type> types() {
        std::vector<Type> result;
        do result.push_back(type());
        while (scanner_.take(','));
        return result;
    }

    std::vector<Type> types_of(const std::vector<ValueId>& values, size_t from = 0) const {
        std::vector<Type> result;
        for (size_t i = from; i < values.size(); i++) result.push_back(function_.type(values[i]));
        return result;
    }

    // --- regions ---

    // `{ … }`; what is defined inside is forgotten at the end. A final `yield` (`return`) without values may
    // be left out.
    void braces(Region& region, Opcode end) {
        scanner_.expect('{');
        body(region, end);
    }

    void body(Region& region, Opcode end) {
        size_t outer = defined_.size() - region.arguments.size();
        bool ended = false;
        while (!scanner_.take('}')) {
            Position position = scanner_.position();
            if (ended) {
                const Opcode last = region.body.back().opcode;
                scanner_.fail("nothing may follow '" + std::string(opcode_name(last)) + "'", position);
            }
            region.body.push_back(instruction());
            Opcode opcode = region.body.back().opcode;
            ended = ends_body(opcode);
            if (ended && opcode != end && opcode != Opcode::kRaise && end == Opcode::kReturn) {
                scanner_.fail("this body ends with '" + std::string(opcode_name(end)) + "'", position);
            }
        }
        if (!ended) region.body.push_back({.opcode = end});
        while (defined_.size() > outer) {
            scope_.erase(defined_.back());
            defined_.pop_back();
        }
    }

    Region region(const std::vector<NewName>& names, const std::vector<Type>& argument_types,
                  const std::string& what) {
        Region result;
        scanner_.expect('{');
        result.arguments = define_all(names, argument_types, what);
        body(result, Opcode::kYield);
        return result;
    }

    struct Bindings {
        std::vector<NewName> names;
        std::vector<ValueId> values;
    };

    // (%a = %a0, %b = %b0)
    Bindings bindings() {
        Bindings result;
        scanner_.expect('(');
        for (bool first = true; !scanner_.take(')'); first = false) {
            if (!first) scanner_.expect(',');
            result.names.push_back(new_name());
            scanner_.expect('=');
            result.values.push_back(use());
        }
        return result;
    }

    std::vector<NewName> parenthesised_names() {
        scanner_.expect('(');
        return new_names(')');
    }

    // (%i, %begin to %end)
    std::vector<NewName> points(Instruction& parallel) {
        std::vector<NewName> names;
        scanner_.expect('(');
        for (bool first = true; !scanner_.take(')'); first = false) {
            Position position = scanner_.position();
            if (!first && scanner_.take_word("to")) {
                if (parallel.range_dimension >= 0)
                    scanner_.fail("only one dimension comes in ranges", position);
                parallel.range_dimension = static_cast<int>(names.size()) - 1;
            } else if (!first) {
                scanner_.expect(',');
            }
            names.push_back(new_name());
        }
        return names;
    }

    // --- instructions ---

    Instruction instruction() {
        std::vector<NewName> names;
        if (scanner_.peek() == '%') {
            do names.push_back(new_name());
            while (scanner_.take(','));
            scanner_.expect('=');
        }
        Position position = scanner_.position();
        std::string word = scanner_.word("an operation");
        result_types_.clear();
        Instruction result = right_side(word, position);
        if (names.size() != result_types_.size()) {
            scanner_.fail("'" + word + "' has " + std::to_string(result_types_.size()) + " results, " +
                              std::to_string(names.size()) + " are named",
                          names.empty() ? position : names[0].position);
        }
        result.results = define_all(names, std::vector<Type>(result_types_), word);
        return result;
    }

    static void extend(std::vector<ValueId>& values, const std::vector<ValueId>& more) {
        values.insert(values.end(), more.begin(), more.end());
    }

    // Leaves the types of the results in result_types_.
    Instruction right_side(const std::string& word, Position position) {
        const Type index = Type::of(ScalarType::kInt64);
        Instruction result;
        if (word == "const") {
            result.opcode = Opcode::kConstant;
            ScalarType type = scalar_type();
            Position at = scanner_.position();
            std::string text = scanner_.constant();
            std::optional<Constant> value = parse_constant(type, text);
            if (!value)
                scanner_.fail("'" + text + "' is no constant of type " + std::string(scalar_name(type)), at);
            result.constant = *value;
            result_types_ = {Type::of(type)};
        } else if (word == "cast") {
            result.opcode = Opcode::kCast;
            result.operands = {use_scalar()};
            scanner_.expect_word("to");
            result_types_ = {Type::of(scalar_type())};
        } else if (word == "load") {
            result.opcode = Opcode::kLoad;
            result.operands = element();
            if (predicate_follows()) {
                result.predicated = true;
                result.operands.push_back(use_scalar());
                scanner_.expect_word("else");
                result.operands.push_back(use_scalar());
            }
            result_types_ = {Type::of(function_.type(result.operands[0]).scalar)};
        } else if (word == "store") {
            result.opcode = Opcode::kStore;
            result.operands = element();
            scanner_.expect(',');
            result.operands.insert(result.operands.begin() + 1, use_scalar());
            if (predicate_follows()) {
                result.predicated = true;
                result.operands.push_back(use_scalar());
            }
        } else if (word == "atomic") {
            result.opcode = Opcode::kAtomic;
            Position at = scanner_.position();
            result.op = operation(scanner_.word("an operation"), at);
            result.operands = element();
            scanner_.expect(',');
            result.operands.insert(result.operands.begin() + 1, use_scalar());
            ScalarType type = function_.type(result.operands[0]).scalar;
            result.loop = loop_of(*result.op, {type, type}, at);
            ordering(result);
            result_types_ = {Type::of(type)};
        } else if (word == "compare_exchange") {
            result.opcode = Opcode::kCompareExchange;
            result.operands = element();
            for (int i = 1; i <= 2; i++) {
                scanner_.expect(',');
                result.operands.insert(result.operands.begin() + i, use_scalar());
            }
            ordering(result);
            result_types_ = {Type::of(function_.type(result.operands[0]).scalar)};
        } else if (word == "allocate") {
            result.opcode = Opcode::kAllocate;
            result_types_ = {type()};
            of(result.operands);
        } else if (word == "view") {
            result.opcode = Opcode::kView;
            result.operands = {use_buffer()};
            scanner_.expect_word("at");
            result.operands.push_back(use_scalar());
            scanner_.expect_word("as");
            result_types_ = {type()};
            of(result.operands);
        } else if (word == "null") {
            result.opcode = Opcode::kNull;
            result_types_ = {type()};
        } else if (word == "heap") {
            result.opcode = Opcode::kHeap;
            result.operands = {use_scalar()};
            if (scanner_.take_word("from")) {
                result.grows = true;
                result.operands.push_back(use_scalar());
            }
            if (scanner_.take_word("owners")) {
                result.owners.count = scanner_.integer("how many owners are beside each other");
                scanner_.expect_word("from");
                result.owners.from = scanner_.integer("the first owner's byte");
                scanner_.expect_word("by");
                result.owners.stride = scanner_.integer("the bytes from owners to the next ones");
            }
            scanner_.expect_word("as");
            result_types_ = {index, type()};
            of(result.operands);
            scanner_.expect_word("else");
            scanner_.expect_word("raise");
            result.site = site();
        } else if (word == "address") {
            result.opcode = Opcode::kAddress;
            result.operands = {use_buffer()};
            result_types_ = {index};
        } else if (word == "memory") {
            result.opcode = Opcode::kMemory;
            result.operands = {use_scalar()};
            scanner_.expect_word("as");
            result_types_ = {type()};
            of(result.operands);
        } else if (word == "retain" || word == "release") {
            result.opcode = word == "retain" ? Opcode::kRetain : Opcode::kRelease;
            result.operands = {use_scalar()};
        } else if (word == "barrier") {
            result.opcode = Opcode::kBarrier;
        } else if (word == "intrinsic") {
            parse_intrinsic(result);
        } else if (word == "for") {
            result.opcode = Opcode::kFor;
            std::vector<NewName> names{new_name()};
            scanner_.expect('=');
            result.operands.push_back(use_scalar());
            scanner_.expect_word("to");
            result.operands.push_back(use_scalar());
            scanner_.expect_word("step");
            result.operands.push_back(use_scalar());
            if (scanner_.take_word("lanes")) result.lanes = scanner_.integer("a number of lanes");
            if (scanner_.take_word("at")) result.site = site("a loop");
            Bindings carried;
            if (scanner_.take_word("with")) carried = bindings();
            extend(result.operands, carried.values);
            names.insert(names.end(), carried.names.begin(), carried.names.end());
            std::vector<Type> carried_types = types_of(carried.values);
            std::vector<Type> argument_types{index};
            argument_types.insert(argument_types.end(), carried_types.begin(), carried_types.end());
            result.regions.push_back(region(names, argument_types, word));
            result_types_ = carried_types;
        } else if (word == "while") {
            result.opcode = Opcode::kWhile;
            if (scanner_.take_word("at")) result.site = site("a loop");
            Bindings carried = bindings();
            result.operands = carried.values;
            result.regions.push_back(region(carried.names, types_of(carried.values), word));
            const std::vector<ValueId>& forwarded = result.regions[0].body.back().operands;
            if (forwarded.empty() || !yields(result.regions[0]))
                scanner_.fail("the condition of a 'while' must yield a bool", position);
            scanner_.expect_word("do");
            std::vector<NewName> names = parenthesised_names();
            std::vector<Type> forwarded_types = types_of(forwarded, 1);
            result.regions.push_back(region(names, forwarded_types, "do"));
            result_types_ = forwarded_types;
        } else if (word == "if") {
            result.opcode = Opcode::kIf;
            result.likely = scanner_.take_word("likely");
            result.operands = {use_scalar()};
            result.regions.push_back(region({}, {}, word));
            if (scanner_.take_word("else")) {
                result.regions.push_back(region({}, {}, word));
            } else {
                result.regions.emplace_back();
                result.regions[1].body.push_back({.opcode = Opcode::kYield});
            }
            const Region& yielding = result.regions[yields(result.regions[0]) ? 0 : 1];
            result_types_.clear();
            if (yields(yielding)) result_types_ = types_of(yielding.body.back().operands);
        } else if (word == "parallel") {
            result.opcode = Opcode::kParallel;
            if (scanner_.take_word("block")) {
                result.level = ParallelLevel::kBlock;
            } else if (!scanner_.take_word("grid")) {
                scanner_.fail_expected("'grid' or 'block'");
            }
            std::vector<NewName> names = points(result);
            scanner_.expect_word("in");
            scanner_.expect('(');
            result.operands = uses_until(')');
            size_t arguments = result.operands.size() + (result.range_dimension >= 0 ? 1 : 0);
            result.regions.push_back(region(names, std::vector<Type>(arguments, index), word));
            result_types_.clear();
        } else if (word == "reduce" || word == "scan") {
            result.opcode = word == "reduce" ? Opcode::kReduce : Opcode::kScan;
            NewName counter = new_name();
            scanner_.expect_word("in");
            result.operands = {use_scalar()};
            if (result.opcode == Opcode::kReduce) {
                scanner_.expect_word("lanes");
                result.lanes = scanner_.integer("the number of lanes");
                scanner_.expect_word("block");
                result.block = scanner_.integer("the elements of a block");
            }
            scanner_.expect_word("with");
            scanner_.expect('(');
            std::vector<ValueId> initials = uses_until(')');
            extend(result.operands, initials);
            std::vector<Type> element_types = types_of(initials);
            std::vector<Type> pairs = element_types;
            pairs.insert(pairs.end(), element_types.begin(), element_types.end());
            result.regions.push_back(region({counter}, {index}, word));
            scanner_.expect_word("combine");
            std::vector<NewName> names = parenthesised_names();
            result.regions.push_back(region(names, pairs, "combine"));
            result_types_ = element_types;
            if (result.opcode == Opcode::kScan) {
                scanner_.expect_word("consume");
                std::vector<NewName> consumed = parenthesised_names();
                std::vector<Type> consumed_types{index};
                consumed_types.insert(consumed_types.end(), element_types.begin(), element_types.end());
                result.regions.push_back(region(consumed, consumed_types, "consume"));
                result_types_.clear();
            }
        } else if (word == "call") {
            result.opcode = Opcode::kCall;
            result.catches = scanner_.take_word("catching");
            result.lazy = !result.catches && scanner_.take_word("lazy");
            result.callee = scanner_.name('@', "a function such as @f");
            scanner_.expect('(');
            result.operands = uses_until(')');
            if (scanner_.take(':')) result_types_ = types();
            if (result.catches) result_types_.insert(result_types_.begin(), index);
        } else if (word == "engine") {
            result.opcode = Opcode::kEngine;
            result.callee = scanner_.name('@', "a function of the engine");
            scanner_.expect('(');
            result.operands = uses_until(')');
            result_types_ = {index};
        } else if (word == "external") {
            result.opcode = Opcode::kExternal;
            result.tells_status = scanner_.take_word("status");
            result.callee = scanner_.name('@', "a function of other machine code");
            scanner_.expect('(');
            result.operands = uses_until(')');
            if (scanner_.take(':')) result_types_ = types();
        } else if (word == "spread") {
            result.opcode = Opcode::kSpread;
            result.together = scanner_.take_word("together");
            result.callee = scanner_.name('@', "a function such as @f");
            scanner_.expect('(');
            const std::vector<ValueId> arguments = uses_until(')');
            scanner_.expect_word("in");
            result.operands = {use_scalar()};
            scanner_.expect_word("by");
            result.operands.push_back(use_scalar());
            extend(result.operands, arguments);
        } else if (word == "yield" || word == "return") {
            result.opcode = word == "yield" ? Opcode::kYield : Opcode::kReturn;
            result.operands = uses();
        } else if (word == "raise" && scanner_.take_word("again")) {
            result.opcode = Opcode::kRaise;
            result.again = true;
            result.operands = {use_scalar()};
        } else if (word == "raise" || word == "check" || word == "tell") {
            result.opcode = word == "raise"   ? Opcode::kRaise
                            : word == "check" ? Opcode::kCheck
                                              : Opcode::kTell;
            if (word == "check") {
                result.operands = {use_scalar()};
                scanner_.expect_word("else");
                scanner_.expect_word("raise");
            }
            result.site = site();
            // A name on the next line is that of the next instruction's result.
            if (scanner_.last_line() == scanner_.position().line) extend(result.operands, uses());
        } else if (word == "break" || word == "continue") {
            result.opcode = word == "break" ? Opcode::kBreak : Opcode::kContinue;
            if (is_digit(scanner_.peek())) {
                Position at = scanner_.position();
                const int64_t depth = scanner_.integer("how many loops lie between");
                if (depth > kDeepest) scanner_.fail("so many loops cannot lie between", at);
                result.depth = static_cast<int>(depth);
            }
            result.operands = uses();
        } else {
            result.opcode = Opcode::kApply;
            result.op = operation(word, position);
            result.fast = scanner_.take_word("fast");
            std::vector<ScalarType> inputs;
            do {
                result.operands.push_back(use_scalar());
                inputs.push_back(function_.type(result.operands.back()).scalar);
            } while (scanner_.take(','));
            result.loop = loop_of(*result.op, inputs, position);
            const LoopInfo& loop = result.op->loops[static_cast<size_t>(result.loop)];
            for (ScalarType output : result.op->output_types(loop)) result_types_.push_back(Type::of(output));
        }
        return result;
    }

    // of (%s, %t), which may be left out
    void of(std::vector<ValueId>& operands) {
        if (!scanner_.take_word("of")) return;
        scanner_.expect('(');
        do operands.push_back(use_scalar());
        while (scanner_.take(','));
        scanner_.expect(')');
    }

    uint32_t site(const std::string& of = "an error") {
        Position at = scanner_.position();
        const int64_t number = scanner_.integer("the number of " + of);
        if (number < 0 || number > UINT32_MAX) scanner_.fail("the number of " + of + " is out of range", at);
        return static_cast<uint32_t>(number);
    }

    // %buffer[%i, %j] as (buffer, indices...)
    std::vector<ValueId> element() {
        std::vector<ValueId> result{use_buffer()};
        scanner_.expect('[');
        extend(result, uses_until(']'));
        return result;
    }

    // An `if` on the next line is an instruction of its own.
    bool predicate_follows() {
        return scanner_.last_line() == scanner_.position().line && scanner_.take_word("if");
    }

    void parse_intrinsic(Instruction& result) {
        result.opcode = Opcode::kIntrinsic;
        const Position position = scanner_.position();
        const auto found = find_named(scanner_.word("an intrinsic such as shuffle"), Intrinsic::kThreadMemory,
                                      [](Intrinsic each) { return intrinsic_info(each).text; });
        if (!found) scanner_.fail("there is no such intrinsic", position);
        result.intrinsic = *found;
        scanner_.expect('(');
        result.operands = uses_until(')');
        const IntrinsicInfo& info = intrinsic_info(*found);
        if (result.operands.size() != info.operands.size())
            scanner_.fail("the intrinsic has " + std::to_string(info.operands.size()) + " operands",
                          position);
        for (const char kind : info.results) {
            result_types_.push_back(kind == 'b'   ? Type::of(ScalarType::kBool)
                                    : kind == 'i' ? Type::of(ScalarType::kInt64)
                                                  : function_.type(result.operands[info.operands.find('v')]));
        }
    }

    void ordering(Instruction& result) {
        Position position = scanner_.position();
        auto order =
            find_named(scanner_.word("a memory order such as relaxed"), MemoryOrder::kSequential, order_name);
        if (!order)
            scanner_.fail("expected relaxed, acquire, release, acquire_release or sequential", position);
        position = scanner_.position();
        auto scope =
            find_named(scanner_.word("a memory scope such as device"), MemoryScope::kSystem, scope_name);
        if (!scope) scanner_.fail("expected block, device or system", position);
        result.order = *order;
        result.scope = *scope;
    }

    const OpInfo* operation(const std::string& name, Position position) {
        const OpInfo* op = find_op(name);
        if (op == nullptr) scanner_.fail("unknown operation " + name, position);
        return op;
    }

    int loop_of(const OpInfo& op, const std::vector<ScalarType>& inputs, Position position) {
        const LoopInfo* loop = find_loop(op, inputs);
        if (loop == nullptr) {
            std::string text;
            for (ScalarType input : inputs)
                text += (text.empty() ? "" : ", ") + std::string(scalar_name(input));
            scanner_.fail(std::string(op.name) + " has no loop for (" + text + ")", position);
        }
        return static_cast<int>(loop - op.loops.data());
    }

    Scanner& scanner_;
    Function function_;
    std::unordered_map<std::string, ValueId> scope_;  // the names that may be used here
    std::vector<std::string> defined_;                // the same, in the order of definition
    std::vector<Type> result_types_;
};

}  // namespace

Module parse(std::string_view text) {
    Scanner scanner(text);
    Module module;
    while (!scanner.at_end()) {
        Position position = scanner.position();
        Function function = FunctionParser(scanner).run();
        if (module.find(function.name) != nullptr) {
            scanner.fail("@" + function.name + " is defined twice", position);
        }
        module.functions.push_back(std::move(function));
    }
    return module;
}

}  // namespace weft::ir
