// Arrays of structures: their fields, and structures as what stands in their memory.
#include <algorithm>
#include <array>

#include "ir/thread_memory.h"
#include "lang/dates/dates.h"
#include "lang/lowering.h"
#include "lang/structures/alignment.h"
#include "lang/structures/texts.h"
#include "weft/errors.h"

namespace weft::lang {

using ir::ValueId;

namespace {

constexpr int64_t kMostAtOnce = 256;  // bytes that are copied without a loop

constexpr std::string_view kAttributes[] = {"shape",  "ndim",    "itemsize", "size", "T",
                                            "nbytes", "strides", "dtype",    "flat", "flags"};

struct Word {
    ScalarType type;
    int64_t bytes;
};
constexpr Word kWords[] = {
    {ScalarType::kUInt64, 8}, {ScalarType::kUInt32, 4}, {ScalarType::kUInt16, 2}, {ScalarType::kUInt8, 1}};

bool is_number(const LayoutField& field) {
    return field.shape.empty() && field.layout == nullptr && field.other.empty();
}

std::string unaligned(const Layout& layout, const LayoutField& field) {
    return "field '" + field.name + "' of " + describe(layout) +
           " begins at a byte where GPUs cannot read it";
}

// A place for a number that is read and written in pieces where it lies.
struct Pieces {
    Pieces(ir::Builder& builder, ScalarType type, int64_t piece)
        : word(std::ranges::find(kWords, piece, &Word::bytes)->type), count(DType(type).itemsize() / piece) {
        const auto local = [](ScalarType element, std::vector<int64_t> strides) {
            ir::BufferType result{.element = element, .space = ir::AddressSpace::kLocal};
            result.alias_scope = ir::kOwnMemoryScope;
            result.strides = std::move(strides);
            return result;
        };
        ir::BufferType all = local(word, {piece});
        all.sizes = {count};
        words = builder.allocate(all, "pieces");
        number = builder.view(words, local(type, {}), builder.index(0));
    }
    void copy(ir::Builder& builder, ValueId from, ValueId to) const {
        for (int64_t k = 0; k < count; ++k) {
            const std::array at = {builder.index(k)};
            builder.store(to, builder.load(from, at), at);
        }
    }

    ScalarType word;
    int64_t count;
    ValueId words, number;
};

}  // namespace

// --- fields ---------------------------------------------------------------------------------------------

const LayoutField& FunctionLowering::field_named(TypeRef structures, const std::string& name,
                                                 NodeId where) const {
    if (structures->layout->text != 0)
        fail(where, "a text of an array is copied, compared and printed in compiled functions, and has no '" +
                        name + "' there");
    const LayoutField* found = structures->layout->find(name);
    if (found == nullptr) {
        const std::vector<std::string> names = structures->layout->names();
        std::string all;
        for (const std::string& each : names) all += (all.empty() ? "'" : ", '") + each + "'";
        fail(where, "Field '" + name + "' was not found in record with fields (" + all + ")",
             meant(name, names, ""));
    }
    if (!found->other.empty())
        fail(where,
             "field '" + name + "' has dtype " + found->other + ", which compiled functions do not read",
             "Copy whole structures, or use the field outside.");
    return *found;
}

const LayoutField& FunctionLowering::field_given(TypeRef structures, const Value& name, NodeId where) const {
    if (name.type->kind == TypeKind::kString) return field_named(structures, name.type->text, where);
    const auto number = literal_integer(name.type);
    if (structures->layout->text != 0)
        fail(where,
             "a text of an array is copied, compared and printed in compiled functions, and not indexed");
    if (!number)
        fail(where, "a field is named by one known text here, not by one of several", "Write its name.");
    const std::vector<LayoutField>& fields = structures->layout->fields;
    const auto count = static_cast<int64_t>(fields.size());
    const int64_t at = *number < 0 ? *number + count : *number;
    if (at < 0 || at >= count)
        fail(where, "Requested index " + std::to_string(*number) + " is out of range: the structure has " +
                        std::to_string(count) + " fields");
    return field_named(structures, fields[static_cast<size_t>(at)].name, where);
}

bool FunctionLowering::is_field(TypeRef structures, std::span<const IndexItem> items) {
    if (!is_structures(structures) || items.size() != 1) return false;
    TypeRef index = items[0].value.type;
    return is_text(index) || (structures->single && literal_integer(index));
}

// As an array, also where it is one number or structure.
Value FunctionLowering::field_view(const Value& base, const LayoutField& field, ValueId offset) {
    // A number is read in pieces.
    if (compilation_.options().for_gpu && !is_aligned(*base.type->layout, field) &&
        !(base.type->single && is_number(field)))
        throw NotImplementedError(unaligned(*base.type->layout, field));
    const size_t rank = base.type->rank + field.shape.size();
    const int64_t element = field.layout != nullptr ? field.layout->size : DType(field.scalar).itemsize();
    const bool contiguous =
        !field.shape.empty() || (base.type->contiguous && base.type->layout->size == element);
    std::vector<ValueId> shape, strides;
    for (size_t d = 0; d < base.type->rank; ++d) {
        shape.push_back(size_of(base, d));
        strides.push_back(stride_of(base, d));
    }
    strides.resize(rank);
    int64_t stride = element;
    for (size_t k = field.shape.size(); k-- > 0;) {
        strides[base.type->rank + k] = integer(stride).parts[0];
        stride *= field.shape[k];
    }
    for (const int64_t size : field.shape) shape.push_back(integer(size).parts[0]);
    const bool ordered = base.type->ordered;
    Type like = *with_rank(base.type, rank, contiguous, ordered);
    TypeRef type = field.layout != nullptr ? structures_type(field.layout, intern(like))
                                           : array_type(field.scalar, static_cast<int>(rank), contiguous,
                                                        like.readonly, like.scope, like.owned, ordered);
    return view_as(base, type, offset, shape, strides);
}

Value FunctionLowering::field_of(const Value& base, const LayoutField& field) {
    return field_at(base, field, integer(field.offset).parts[0]);
}

Value FunctionLowering::field_at(const Value& base, const LayoutField& field, ValueId offset) {
    const Value place = field_view(base, field, offset);
    if (!base.type->single || !field.shape.empty()) return place;
    const Layout& layout = *base.type->layout;
    if (!compilation_.options().for_gpu || is_aligned(layout, field)) return load({place, {}});
    Value result = scalar(place.type, ValueId{});
    result.type = scalar_type(field.scalar);
    if (dry_) return result;
    const Pieces pieces(*builder_, field.scalar, piece_of(layout, field));
    const Value words = words_of(base, pieces.word, field.offset, pieces.count);
    pieces.copy(*builder_, words.parts[0], pieces.words);
    result.parts[0] = builder_->load(pieces.number, {});
    return result;
}

// By one of several names too, where all are of fields of one type.
Value FunctionLowering::field_of(const Value& base, const Value& name, NodeId where) {
    if (name.type->kind != TypeKind::kChoice) return field_of(base, field_given(base.type, name, where));
    const LayoutField* first = nullptr;
    for (TypeRef text : texts_of(name.type)) {
        const LayoutField& field = field_named(base.type, text->text, where);
        if (first == nullptr) first = &field;
        if (field.scalar != first->scalar || field.layout != first->layout || field.shape != first->shape)
            fail(where, "fields of different types are taken by known names only", "Write the name.");
        if (compilation_.options().for_gpu && !is_aligned(*base.type->layout, field))
            throw NotImplementedError(unaligned(*base.type->layout, field));
    }
    const Value offset = of_texts(
        name, [&](const std::string& text) { return integer(base.type->layout->find(text)->offset); });
    return field_at(base, *first, offset.parts[0]);
}

Value FunctionLowering::structures_attribute(const Value& base, const std::string& name, NodeId id) {
    const bool is_known =
        std::find(std::begin(kAttributes), std::end(kAttributes), name) != std::end(kAttributes);
    if (is_known) return array_attribute(base, name, id);
    if (name == "real" || name == "imag")
        fail(id, "cannot access ." + name + " of array of Record: " + lang::describe(base.type),
             "Where it is a field, index by '" + name + "'.");
    return field_of(base, field_named(base.type, name, id));
}

// An element, where it is.
Value FunctionLowering::structure_at(const Element& element) {
    ValueId offset = integer(0).parts[0];
    for (size_t d = 0; d < element.array.type->rank; ++d)
        offset = apply(OpId::kAdd,
                       {offset, apply(OpId::kMultiply, {element.indices[d], stride_of(element.array, d)})});
    return view_as(element.array, single_type(element.array.type), offset, {}, {});
}

// The vector that is there.
Value FunctionLowering::instance_of(const Value& structure) {
    std::vector<Value> items;
    for (const LayoutField& field : structure.type->layout->fields)
        items.push_back(field_of(structure, field));
    Value result = tuple(std::move(items));
    result.type = record_type(structure.type->layout->record, result.type->parts);
    return result;
}

// --- what is stored -------------------------------------------------------------------------------------

void FunctionLowering::store_field(const Value& base, const LayoutField& field, const Value& value,
                                   NodeId where) {
    const Value place = field_view(base, field, integer(field.offset).parts[0]);
    if (place.type->rank > 0) return store_part(place, value, where);
    const Layout& layout = *base.type->layout;
    if (!compilation_.options().for_gpu || is_aligned(layout, field)) return store({place, {}}, value, where);
    const Value number = required(value, where);
    if (!lang::is_scalar(number.type) || (is_complex(number.type) && !DType(field.scalar).is_complex()))
        return store({place, {}}, number, where);  // which refuses it
    target_.written.insert(base.type->scope);
    if (dry_) return;
    const Pieces pieces(*builder_, field.scalar, piece_of(layout, field));
    builder_->store(pieces.number, cast(number, field.scalar), {});
    const Value words = words_of(base, pieces.word, field.offset, pieces.count);
    pieces.copy(*builder_, pieces.words, words.parts[0]);
}

void FunctionLowering::augment_field(const Value& base, const LayoutField& field, NodeId id,
                                     Environment& environment) {
    const Node& statement = node(id);
    const Value before = field_of(base, field);
    const Value right = lower(statement.children[1], environment);
    if (is_array(before.type)) return augment_array(before, statement.atoms[0], right, id);
    store_field(base, field, binary(statement.atoms[0], before, right, id), id);
}

// NumPy's assignment: a structure field by field in their order, a tuple likewise, a number to each field.
void FunctionLowering::store_structure(const Value& target, const Value& value, NodeId where) {
    expect_writeable(target.type, where);
    target_.written.insert(target.type->scope);
    if (ArrayTexts::is_text(target.type)) return ArrayTexts(*this, where).write(target, value);
    const DateType* const date = date_of(target.type);
    if (date != nullptr && Dates::is_date(value) && date_of(value.type) != date)
        return store_structure(target, Dates(*this, where).converted(value, *date), where);
    const std::vector<LayoutField>& fields = target.type->layout->fields;
    const auto field = [&](size_t i) -> const LayoutField& {
        return field_named(target.type, fields[i].name, where);
    };
    const bool is_one = is_structures(value.type) && value.type->rank == 0;
    if (const Record* const record = target.type->layout->record; record != nullptr && !is_one) {
        if (value.type->record != record)
            fail(where, lang::describe(value.type) + " cannot be stored in an array of " + record->name,
                 date != nullptr
                     ? "Write numpy." + std::string(date->is_span ? "timedelta64" : "datetime64") + "(...)."
                     : "Make one of it: cuda." + record->name + "(...).");
        for (size_t i = 0; i < fields.size(); ++i) store_field(target, field(i), tuple_item(value, i), where);
        return;
    }
    if (is_scalar(value.type)) {
        for (size_t i = 0; i < fields.size(); ++i) store_field(target, field(i), value, where);
        return;
    }
    // Who listens hears of fields.
    if (is_one && value.type->layout == target.type->layout && !compilation_.options().tells_accesses)
        return copy_bytes(target, value);
    if (!is_one && value.type->kind != TypeKind::kTuple)
        fail(where, lang::describe(value.type) + " cannot be stored in a " + lang::describe(target.type),
             "Store a structure, or a tuple with an item for each field.");
    const size_t count = is_one ? value.type->layout->fields.size() : value.type->parts.size();
    if (count != fields.size())
        fail(where, "a structure of " + std::to_string(fields.size()) + " fields cannot be stored from " +
                        std::to_string(count) + " values");
    const Value source = is_one ? structure_at({value, {}}) : value;
    for (size_t i = 0; i < count; ++i) {
        const Value item =
            is_one ? field_of(source, field_named(source.type, source.type->layout->fields[i].name, where))
                   : tuple_item(value, i);
        store_field(target, field(i), item, where);
    }
}

// So many words behind each other, from a byte on.
Value FunctionLowering::words_of(const Value& structure, ScalarType word, int64_t from, int64_t count) {
    const TypeRef type =
        array_type(word, 1, true, structure.type->readonly, structure.type->scope, structure.type->owned);
    const std::array shape = {integer(count).parts[0]};
    const std::array strides = {integer(DType(word).itemsize()).parts[0]};
    return view_as(structure, type, integer(from).parts[0], shape, strides);
}

void FunctionLowering::copy_bytes(const Value& target, const Value& source) {
    if (dry_) return;
    const Layout& layout = *target.type->layout;
    const int64_t size = layout.size;
    // GPUs read words at multiples of their size.
    const int64_t largest = compilation_.options().for_gpu ? alignment_of(layout) : 8;
    int64_t at = 0;
    if (size > kMostAtOnce) {
        const auto* const word = std::ranges::find(kWords, largest, &Word::bytes);
        const Value to = words_of(target, word->type, 0, size / largest);
        const Value from = words_of(source, word->type, 0, size / largest);
        for_each_element(to, [&](std::span<const ValueId> index) {
            builder_->store(to.parts[0], builder_->load(from.parts[0], index), index);
        });
        at = size / largest * largest;
    }
    struct Copied {
        ScalarType type;
        int64_t at;
        ValueId value;
    };
    std::vector<Copied> words;  // all are read before one is written
    const std::array first = {integer(0).parts[0]};
    for (const auto& [word, bytes] : kWords) {
        for (; bytes <= largest && size - at >= bytes; at += bytes)
            words.push_back({word, at, builder_->load(words_of(source, word, at, 1).parts[0], first)});
    }
    for (const Copied& word : words)
        builder_->store(words_of(target, word.type, word.at, 1).parts[0], word.value, first);
}

// All bytes are 0.
void FunctionLowering::clear_structures(const Value& structures) {
    for_each_element(structures, [&](std::span<const ValueId> indices) {
        if (dry_) return;
        const Value one = structure_at({structures, {indices.begin(), indices.end()}});
        const Value bytes = words_of(one, ScalarType::kUInt8, 0, one.type->layout->size);
        const ValueId nothing = builder_->constant({ScalarType::kUInt8, {}});
        for_each_element(
            bytes, [&](std::span<const ValueId> index) { builder_->store(bytes.parts[0], nothing, index); });
    });
}

}  // namespace weft::lang
