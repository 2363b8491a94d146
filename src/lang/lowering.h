// The walk behind lower.h, a method a node.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "lang/compilation.h"
#include "lang/containers/list_layout.h"
#include "lang/errors/diagnostics.h"
#include "lang/facts/facts.h"
#include "lang/facts/hoist.h"
#include "lang/lower.h"
#include "lang/parallel/carried.h"
#include "lang/structures/layout.h"
#include "lang/tree/liveness.h"
#include "lang/value.h"

namespace weft::lang {

class FunctionLowering : private Facts {
public:
    FunctionLowering(Compilation& compilation, const FunctionSource& source,
                     std::span<const TypeRef> arguments, Specialised& target, const Spot& caller);
    void find_result();  // types alone
    ir::Function run();

private:
    struct Arguments {
        std::vector<Value> positional;
        std::vector<std::pair<std::string, Value>> keywords;
        NodeId where = 0;
        bool defers = false;  // the result may be an array that is not computed yet
    };

    // --- statements (statements.cpp) ------------------------------------------------------------------

    // Whether what follows is reached.
    bool lower_block(NodeId id, Environment& environment);
    bool lower_statement(NodeId id, Environment& environment);
    bool lower_decided(NodeId id, Environment& environment);
    // `counts`: the value counts as a user of its memory, which the target takes over.
    void assign(NodeId target, Value value, Environment& environment, NodeId statement, bool counts = false);
    void refuse_global(NodeId array) const;
    void augment(NodeId id, Environment& environment);
    bool lower_if(NodeId id, Environment& environment);
    // Two ways, of which one is taken; `assigned` and `live` say what they may change and what is read after
    // them.
    bool lower_branches(NodeId id, ir::ValueId condition, const VariableSet& assigned,
                        const VariableSet& live, Environment& environment,
                        const std::function<bool(Environment&)>& yes,
                        const std::function<bool(Environment&)>& no);
    bool lower_return(NodeId id, Environment& environment);
    bool lower_raise(NodeId id, Environment& environment);
    void lower_assert(NodeId id, Environment& environment);
    Site site_of_exception(NodeId expression, Environment& environment, std::vector<ir::ValueId>& payload);
    void tell_arguments(Site& site, std::span<const Value> values, std::vector<ir::ValueId>& payload,
                        NodeId where);

    // --- loops (loops.cpp) ----------------------------------------------------------------------------

    struct Sequence;             // what a `for` goes over (walk_parts.h)
    struct Loop;                 // that is being lowered
    void begin_loop(NodeId id);  // the next loop of the IR is this one
    Sequence sequence_of(NodeId id, Environment& environment);
    Sequence sequence_of(const Value& value, NodeId where);
    Sequence range_sequence(const Value& range, NodeId where);
    ir::ValueId above(ir::ValueId value);  // value + 1
    Sequence indices_sequence(NodeId id, bool with_elements, const Arguments& given);
    Sequence enumerated_sequence(const Sequence& inner, const Value& start);
    Sequence zip_sequence(std::vector<Sequence> sequences);
    Sequence reversed_sequence(const Sequence& sequence, ir::ValueId count);
    Sequence mapped_sequence(NodeId id, Environment& environment);
    Loop open_loop(NodeId id, Environment& environment);
    void find_types(NodeId id, Loop& loop, const Environment& environment,
                    const std::function<bool(Environment&)>& iteration);
    void meet(Loop& loop, const Environment& environment, NodeId where);
    Environment start_iteration(const Loop& loop, const Environment& environment,
                                std::span<const ir::ValueId> carried) const;
    std::vector<ir::ValueId> carried_parts(const Loop& loop, const Environment& environment, bool finished,
                                           NodeId where);
    bool has_loop(NodeId id) const;
    std::vector<ir::ValueId> end_iteration(Loop& loop, const Environment& environment, bool finished,
                                           NodeId where);
    bool close_loop(NodeId id, const Loop& loop, Environment& environment,
                    std::span<const ir::ValueId> results, bool ends);
    bool lower_for(NodeId id, Environment& environment);
    bool lower_for_over(NodeId id, const Sequence& sequence, Environment& environment);
    bool lower_iteration(NodeId id, const Sequence& sequence, Environment& environment, ir::ValueId counter);
    std::vector<ir::ValueId> run_iterations(NodeId id, const Sequence& sequence, Loop& loop,
                                            const Environment& environment);
    void leave_unless(ir::ValueId holds, Loop& loop, const Environment& inner, NodeId where);
    bool goes_up(NodeId loop, size_t variable) const;
    bool lower_while(NodeId id, Environment& environment);
    bool lower_break(NodeId id, Environment& environment);
    bool lower_continue(NodeId id, Environment& environment);

    // --- loops over prange (parallel/) -------------------------------------------------------------

    struct Outline;
    struct Partial;
    struct Deferred;
    struct Nest;
    class Beside;
    bool is_parallel(NodeId sequence) const;
    bool is_over_prange(NodeId sequence) const;
    void refuse_inner_functions(NodeId id, const ParallelLoop& plan, const Environment& environment) const;
    bool lower_parallel_for(NodeId id, Environment& environment);
    void lower_chunk(NodeId id, const ParallelLoop& plan, const Value& range, const Fact& of_element,
                     ir::ValueId from, ir::ValueId to, Environment& environment);
    bool defer(ir::ValueId holds, const Site& site, NodeId where);
    void raise_deferred();
    bool is_short(NodeId body) const;
    bool may_step_together(NodeId body) const;
    bool has_lanes(NodeId body, const ParallelLoop& plan, const Loop& loop) const;
    void run_lanes(NodeId id, const ParallelLoop& plan, const Sequence& sequence, Loop& loop,
                   Environment& environment);
    Value borrowed(const Value& value);
    Value passed(Outline& outline, const Value& value, const std::string& name);
    void pass_facts(const Outline& outline, const Beside& around);
    // (parallel/nests.cpp)
    std::optional<Nest> nest_of(NodeId id, const ParallelLoop& plan, const Value& range,
                                Environment& environment);
    bool is_steady(NodeId id, NodeId loop, const Environment& environment) const;
    void cut_rows(Nest& nest, ir::ValueId rows, int64_t chunks, int64_t least);
    bool lower_part_of_row(NodeId id, Environment& environment);
    ir::ValueId rounded_up(ir::ValueId value, ir::ValueId by);  // their quotient
    std::vector<Partial> allocate_partials(const ParallelLoop& plan, const Loop& loop, ir::ValueId chunks,
                                           NodeId where);
    void combine_partials(std::span<const Partial> partials, ir::ValueId count, ir::ValueId chunks,
                          const Loop& loop, std::vector<Value>& results, NodeId where);
    ir::ValueId size_product(const Value& array, size_t from);
    ir::ValueId least_with_copies(const ParallelLoop& plan, const Environment& environment, NodeId body);
    std::vector<Value> allocate_copies(const ParallelLoop& plan, const Environment& environment,
                                       ir::ValueId chunks, NodeId where);
    Value copy_of_chunk(const CarriedVariable& carried, const Value& array, const Value& copies,
                        ir::ValueId number);
    void combine_copies(const CarriedVariable& carried, const Value& array, const Value& copies);
    void refuse_rounding(NodeId target, const Value& value) const;
    Value identity(const CarriedVariable& carried, TypeRef type);
    Value combined(const CarriedVariable& carried, const Value& before, const Value& chunk);

    // --- expressions (expressions.cpp) ----------------------------------------------------------------

    Value lower(NodeId id, Environment& environment);
    Value lower_deferred(NodeId id, Environment& environment);
    std::vector<Value> lower_operands(std::span<const NodeId> operands, Environment& environment);
    bool writes_nothing(NodeId id) const;
    Value lower_name(NodeId id, Environment& environment);
    Value lower_number(NodeId id);
    Value lower_format(NodeId id, Environment& environment);
    Value joined_text(const Value& left, const Value& right);
    ir::ValueId number_in(const Value& text, TypeRef choice);
    // By what is so of each text that it may be.
    Value of_texts(const Value& text, const std::function<Value(const std::string&)>& each);
    Value compare_texts(const std::string& name, const Value& left, const Value& right);
    Value lower_global(NodeId id);
    Value constant_of(TypeRef type);  // whose literals tell the value
    Value lower_attribute(NodeId id, Environment& environment);
    Value attribute_of(const Value& base, const std::string& name, NodeId id);
    Value lies_in_order(const Value& array, bool fortran);
    Value array_attribute(const Value& array, const std::string& name, NodeId id);
    bool has_attribute(const Value& base, const std::string& name) const;
    Value lower_choice(NodeId id, ir::ValueId condition, Environment& environment,
                       const std::function<Value(Environment&)>& yes,
                       const std::function<Value(Environment&)>& no);
    Value lower_and_or(NodeId id, size_t from, Environment& environment);
    Value lower_condition(NodeId id, Environment& environment);
    Value lower_condition(NodeId id, size_t from, Environment& environment);  // of and, or
    Value lower_if_expression(NodeId id, Environment& environment);
    Value lower_compare(NodeId id, Environment& environment);
    Value compare_rest(NodeId id, size_t at, const Value& left, Environment& environment);
    std::vector<NodeId> items_of(NodeId id) const;

    // --- operators (operators.cpp) --------------------------------------------------------------------

    Value binary(const std::string& name, const Value& left, const Value& right, NodeId where);
    Value unary(const std::string& name, const Value& operand, NodeId where);
    Value compare(const std::string& name, const Value& left, const Value& right, NodeId where);
    std::optional<Value> equal_optional(const std::string& name, const Value& first, const Value& second,
                                        NodeId where);
    Value equal_types_only(const std::string& name, const Value& left, const Value& right, NodeId where);
    Value compare_records(const std::string& name, const Value& left, const Value& right, NodeId where);
    Value compare_order(const std::string& name, const Value& left, const Value& right, NodeId where);
    Value arithmetic(OpId op, const Value& left, const Value& right, NodeId where);
    Value by_loop(const OpInfo& op, std::span<const Value> operands, NodeId where);
    Value divide(const std::string& name, const Value& left, const Value& right, NodeId where);
    Value power(const Value& base, const Value& exponent, NodeId where);
    Value shift(const std::string& name, const Value& left, const Value& right, NodeId where);
    // The type that integers are computed in; nothing where a float is.
    static TypeRef integer_type(TypeRef left, TypeRef right);
    ir::ValueId truth(const Value& value, NodeId where);
    Value required(const Value& value, NodeId where);
    Value negation(ir::ValueId condition);
    std::optional<Value> identity_of(const Value& left, const Value& right, NodeId where);
    void widen_floats(Value& left, Value& right);
    [[noreturn]] void refuse_operands(const std::string& sign, TypeRef left, TypeRef right, NodeId where);

    // --- exceptions (exceptions/) ---------------------------------------------------------------------

    struct Try;  // (walk_parts.h)
    struct Final {
        NodeId block;
        size_t tries;  // around it
    };
    struct Handling {
        ir::ValueId error;
        int catches;
    };
    // While a loop's body is built.
    class Nested {
    public:
        explicit Nested(FunctionLowering& lowering) : lowering_(lowering) { ++lowering_.open_loops_; }
        ~Nested() { --lowering_.open_loops_; }
        Nested(const Nested&) = delete;
        Nested& operator=(const Nested&) = delete;

    private:
        FunctionLowering& lowering_;
    };
    // Where the walk is: the variables that an error would leave.
    class Now {
    public:
        Now(FunctionLowering& lowering, Environment& environment)
            : lowering_(lowering), before_(std::exchange(lowering.now_, &environment)) {}
        ~Now() { lowering_.now_ = before_; }
        Now(const Now&) = delete;
        Now& operator=(const Now&) = delete;

    private:
        FunctionLowering& lowering_;
        Environment* before_;
    };
    // While one lives, what is built is of the node's line.
    class Line {
    public:
        Line(FunctionLowering& lowering, NodeId id) {
            if (lowering.dry_ || !lowering.compilation_.options().tells_lines) return;
            builder_ = lowering.builder_;
            before_ = builder_->set_line(lowering.compilation_.line_of(lowering.spot(id)));
        }
        ~Line() {
            if (builder_ != nullptr) builder_->set_line(before_);
        }
        Line(const Line&) = delete;
        Line& operator=(const Line&) = delete;

    private:
        ir::Builder* builder_ = nullptr;
        uint32_t before_ = 0;
    };
    Try* try_of(uint32_t exception);
    void leave_to(Try& target, ir::ValueId error, const Environment& environment);
    // While types are found: what follows may raise.
    void note_raise(const Environment& environment);
    void raise_number(ir::ValueId error, const Environment& environment);
    void release_all(const Environment& environment);
    bool has_owners(const Environment& environment) const;
    void raise_site(Site site, std::vector<ir::ValueId> payload, NodeId where);
    std::vector<ir::ValueId> call_and_catch(const std::string& callee, std::span<const ir::Type> types,
                                            std::span<const ir::ValueId> arguments, bool lazy = false);
    bool lower_try(NodeId id, Environment& environment);
    bool lower_except(NodeId id, Environment& environment);
    bool lower_handlers(NodeId id, size_t number, const std::vector<std::vector<std::string>>& classes,
                        ir::ValueId error, Environment& environment);
    std::vector<std::string> caught_classes(NodeId id);
    bool protect(NodeId key, Try& whole, Environment& environment,
                 const std::function<bool(Environment&)>& body, const std::function<bool(Environment&)>& fine,
                 const std::function<bool(Environment&, ir::ValueId)>& failed);
    bool lower_finals(size_t from, Environment& environment);
    void expect_no_catch(int before, NodeId where);
    bool raise_again(NodeId id, const Environment& environment);

    // --- lists (containers/) --------------------------------------------------------------------------

    Value make_list(NodeId where, int which = 0, size_t room = 0);
    void widen(const Value& list, TypeRef type, NodeId where);
    ir::ValueId list_word(const Value& list, ListWord word);
    void set_list_word(const Value& list, ListWord word, ir::ValueId value);
    ir::ValueId length_of(const Value& list);
    ir::ValueId item_buffer(ir::ValueId address, const ItemPart& part, int64_t stride);
    Value load_item(const Value& list, ir::ValueId index, bool moves = false, bool borrows = false);
    void store_item(const Value& list, ir::ValueId index, const Value& value, bool replaces, NodeId where);
    void append_item(const Value& list, const Value& value, NodeId where);
    void grow_list(const Value& list, ir::ValueId room, NodeId where);
    void reserve(const Value& list, ir::ValueId count, ir::ValueId times, NodeId where);
    Value pop_last(const Value& list, NodeId where);
    Value lower_list(NodeId id, Environment& environment);
    Value list_at(NodeId id, const Value& list, Environment& environment, bool borrows);
    void assign_list_item(NodeId target, const Value& list, const Value& value, Environment& environment);
    std::vector<Value> list_range(const Value& slice, const Value& list, NodeId where);
    Value list_slice(const Value& slice, const Value& list, NodeId where);
    Value as_list(const Value& value, NodeId where);
    void extend_list(const Value& list, const Value& more, NodeId where);
    Value call_lists(const std::string& name, std::vector<Value> arguments, NodeId where);
    Value list_method(const Value& list, const std::string& name, const Arguments& arguments);
    Value call_sorted(const Arguments& arguments, std::optional<Value> in_place);
    std::optional<Value> list_operator(const std::string& name, const Value& left, const Value& right,
                                       NodeId where);
    std::optional<Value> compare_lists(const std::string& name, const Value& left, const Value& right,
                                       NodeId where);
    Sequence list_sequence(const Value& list, NodeId where);
    Sequence sized_sequence(const Value& list, const std::string& container, NodeId where);
    Value array_of(const Value& value, std::optional<ScalarType> dtype, NodeId where);
    Value call_array(const Arguments& arguments, bool as_it_is);
    void refuse_list(TypeRef type, const std::string& name, NodeId where) const;
    void delete_targets(NodeId id, Environment& environment);
    void unpack_list(NodeId target, const Value& list, Environment& environment, NodeId statement);
    void augment_list_item(NodeId id, const Value& list, Environment& environment);

    // Comprehensions, and what goes over values without a variable (containers/comprehensions.cpp).
    void for_each(const Sequence& sequence, const std::function<void(const Value&)>& body);
    Value lower_comprehension(NodeId id, Environment& environment);
    void lower_clause(NodeId id, size_t clause, Environment& environment,
                      const std::function<void(Environment&)>& item);
    bool is_lazy(NodeId id) const;
    Value collect(NodeId id, Environment& environment);
    std::string known_path(NodeId callee) const;
    Value call_value(const Value& callee, const Arguments& arguments, const Environment& environment);

    // --- generators (generators/) ---------------------------------------------------------------------

    void widen_frame(const Value& list, TypeRef type, NodeId where);
    void store_frame(const Value& list, const Value& frame, NodeId where);
    Value take_from_frame(const Value& list, size_t item);
    Value make_generator(const FunctionSource& function, const std::vector<Value>& arguments, NodeId where);
    void lower_generator(Environment& environment);
    void restore(NodeId id, Environment& environment);
    void suspend(NodeId id, Environment& environment);
    ir::ValueId advance(const Value& generator, NodeId where);
    Value yielded(const Value& generator);
    Sequence generator_sequence(const Value& generator, NodeId where);
    Value iterable(NodeId id, Environment& environment);
    Value together(const std::string& how, std::vector<Value> items);
    Sequence flat_sequence(const Value& array);
    Sequence together_sequence(const Value& items, NodeId where);
    Value lower_advance(NodeId id, Environment& environment);
    Value lower_current(NodeId id, Environment& environment);

    // --- indexing (indexing.cpp) ----------------------------------------------------------------------

    struct Element {
        Value array;
        std::vector<ir::ValueId> indices;
    };
    struct IndexItem {
        NodeId node = 0;
        Value value{};
    };
    NodeId element_at_ = 0;  // of the last element_of, statement or item of a loop
    Value lower_item(NodeId item, Environment& environment);
    Value lower_slice(NodeId id, Environment& environment);
    void expect_bound(const Value& bound, NodeId where) const;
    Value make_slice(const std::string& name, const Arguments& arguments);
    bool is_array_type(const Value& base, std::span<const NodeId> items) const;
    static bool is_whole(const Value& slice);  // it has no step but 1
    Value member_of(NodeId id, const Record& record, Environment& environment);
    Element flat_element(const Value& array, ir::ValueId k);
    Element element_of_flat(NodeId id, const Value& flat, Environment& environment);
    std::vector<IndexItem> index_items(NodeId id, Environment& environment);
    static bool has_never(std::span<const IndexItem> items);
    Value lower_index(NodeId id, Environment& environment);
    Value lower_borrowed(NodeId id, Environment& environment);
    std::optional<Element> element_of(NodeId id, const Value& base, std::span<const IndexItem> items);
    static bool has_array(std::span<const IndexItem> items);
    struct Selection;  // by arrays (arrays/selection.cpp)
    Selection selection(NodeId id, const Value& base, std::span<const IndexItem> items);
    Element chosen_element(const Selection& selection, std::span<const ir::ValueId> indices, NodeId where);
    Value selected(NodeId id, const Value& base, std::span<const IndexItem> items);
    void store_selected(NodeId id, const Value& base, std::span<const IndexItem> items, const Value& value);
    // What `each` gives of the elements that are there, in their order.
    void check_mask(const Value& base, size_t axis, const IndexItem& mask);
    static bool is_mask(const Value& base, std::span<const IndexItem> items);
    void update_selected(NodeId id, const Value& base, std::span<const IndexItem> items,
                         const std::optional<Value>& value,
                         const std::function<Value(std::span<const Value>)>& each);
    ir::ValueId checked_index(const Value& index, ir::ValueId size, int axis, NodeId where);
    ir::ValueId written_index(const Value& index, ir::ValueId size, int axis, NodeId where);
    // In place of an array's axis.
    static constexpr int kOfTuple = -1, kOfList = -2, kOfListTarget = -3;
    Value load(const Element& element);
    void store(const Element& element, const Value& value, NodeId where);

    Value shape_of(const Value& array) const;
    Value tuple_item(const Value& tuple, size_t index) const;
    Value number_of(NodeId item, Environment& environment);
    Value tuple_slice(NodeId where, const Value& slice, const Value& tuple);
    Value any_item_of(const Value& tuple, ir::ValueId at, size_t from, TypeRef type, NodeId where);
    Value any_item(const Value& tuple, ir::ValueId at, NodeId where);

    // --- arrays (arrays.cpp) --------------------------------------------------------------------------

    ir::ValueId size_of(const Value& array, size_t d) const;
    ir::ValueId stride_of(const Value& array, size_t d);  // in bytes
    ir::ValueId owner_of(const Value& array) const;
    // An array over the same memory; the strides of dimensions of a contiguous array end before the last.
    Value view(const Value& array, ir::ValueId byte_offset, std::span<const ir::ValueId> shape,
               std::span<const ir::ValueId> strides, bool contiguous, bool ordered = false);
    Value view_as(const Value& array, TypeRef type, ir::ValueId byte_offset,
                  std::span<const ir::ValueId> shape, std::span<const ir::ValueId> strides);
    Value transposed(const Value& array);
    Value part_of_complex(const Value& array, bool imaginary);
    // `lies`: element by element, as the code before it tells.
    Value reshaped(const Value& array, std::vector<Value> sizes, NodeId where, bool lies = false);
    Value reshaped_as_fortran(const Value& array, std::vector<Value> sizes, NodeId where);
    char order_given(const Value& given, char otherwise, const std::string& name, NodeId where) const;
    Value order_argument(const std::string& name, const Arguments& arguments, size_t place);
    Value copied_in(const Value& array, char order, NodeId where);
    Value reshaped_in_any_order(const Value& array, const std::vector<Value>& sizes, NodeId where);
    Value viewed(const Value& array, ScalarType element, NodeId where);
    Value without_leading(const Value& array, size_t rank, NodeId where);
    Value copied(const Value& array, std::span<const ir::ValueId> shape, NodeId where);
    Value item_of(const Value& array, ir::ValueId index);  // an element, or what has one dimension less
    Value sliced(NodeId id, const Value& base, std::span<const IndexItem> items);
    struct Range {
        ir::ValueId start, count, step;  // step invalid: 1
    };
    Range any_slice_range(const Value& slice, ir::ValueId size, NodeId where);
    Range slice_range(const Value& slice, ir::ValueId size, NodeId where);
    // New memory; of the `scope` of an array that it stands for, or of all that is allocated.
    Value allocate(ScalarType element, std::span<const ir::ValueId> sizes, NodeId where,
                   std::optional<uint16_t> scope = std::nullopt);
    Value allocate(TypeRef of_elements, std::span<const ir::ValueId> sizes, NodeId where,
                   std::optional<uint16_t> scope = std::nullopt);
    void fill(const Value& array, const Value& value, NodeId where);
    void copy_into(const Value& target, const Value& source, NodeId where);
    void for_each_element(const Value& array, const std::function<void(std::span<const ir::ValueId>)>& body);
    void for_each_place(std::span<const ir::ValueId> shape,
                        const std::function<void(std::span<const ir::ValueId>)>& body);
    void store_part(const Value& target, const Value& value, NodeId where);
    Value call_allocate(const std::string& name, const Arguments& arguments);
    Value call_method(const Value& base, const std::string& name, const Arguments& arguments);
    std::optional<ScalarType> dtype_of(const Value& value, NodeId where);

    // --- structures (structures/) ---------------------------------------------------------------------

    // The fields of one name in all structures; of a single one its value, if that is no array.
    Value field_of(const Value& structures, const LayoutField& field);
    Value field_of(const Value& structures, const Value& name, NodeId where);
    const LayoutField& field_named(TypeRef structures, const std::string& name, NodeId where) const;
    const LayoutField& field_given(TypeRef structures, const Value& name, NodeId where) const;
    // Whether an index names a field.
    static bool is_field(TypeRef structures, std::span<const IndexItem> items);
    Value structures_attribute(const Value& structures, const std::string& name, NodeId id);
    void store_field(const Value& structures, const LayoutField& field, const Value& value, NodeId where);
    void store_structure(const Value& target, const Value& value, NodeId where);
    void augment_field(const Value& structures, const LayoutField& field, NodeId statement,
                       Environment& environment);
    void clear_structures(const Value& structures);
    Value structure_at(const Element& element);
    Value instance_of(const Value& structure);
    void copy_bytes(const Value& target, const Value& source);
    Value words_of(const Value& structure, ScalarType word, int64_t from, int64_t count);
    Value field_view(const Value& structures, const LayoutField& field, ir::ValueId offset);
    Value field_at(const Value& structures, const LayoutField& field, ir::ValueId offset);

    // --- whole arrays (arrays/) -----------------------------------------------------------------------

    std::vector<ir::ValueId> broadcast_shape(std::span<const Value> operands, NodeId where);
    Value elementwise(std::span<const Value> operands,
                      const std::function<Value(std::span<const Value>)>& each, NodeId where,
                      const std::optional<Value>& target = std::nullopt);
    [[noreturn]] void refuse_rank(const Value& target, size_t rank, NodeId where) const;
    // (arrays/deferred.cpp)
    Value defer(TypeRef element, std::vector<ir::ValueId> shape, std::span<const Value> operands,
                std::function<Value(std::span<const Value>)> each, NodeId where);
    static bool are_ordered(std::span<const Value> operands);
    static Value without_order(Value array);
    Value forced(const Value& value);
    Value forced_alone(const Value& value);
    void repeat_into(const Value& target, const DeferredArray& deferred);
    bool may_read(const Value& value, const Value& array) const;
    void compute_into(const Value& target, const Value& value, ir::ValueId fits,
                      const std::function<void()>& build);
    Value element_for(const Value& operand, std::span<const ir::ValueId> shape,
                      std::span<const ir::ValueId> indices, bool repeats);
    bool is_single(ir::ValueId size) const;
    void store_deferred(const Value& target, const Value& value, NodeId where);
    static const OpInfo* find_ufunc(const Symbol& symbol);
    // While it lives, the next element-wise operation is deferred.
    class Deferring {
    public:
        Deferring(FunctionLowering& lowering, bool defers)
            : lowering_(lowering), before_(std::exchange(lowering.defers_, defers)) {}
        ~Deferring() { lowering_.defers_ = before_; }
        Deferring(const Deferring&) = delete;
        Deferring& operator=(const Deferring&) = delete;

    private:
        FunctionLowering& lowering_;
        bool before_;
    };
    bool defers_ = false;
    std::optional<Value> array_operation(const OpInfo& op, std::span<const Value> operands, NodeId where,
                                         const std::optional<Value>& target = std::nullopt);
    void fit_python_integers(const OpInfo& op, std::span<const Value> operands, NodeId where);
    Value store_operation(const OpInfo& op, std::span<const Value> operands, const Value& target,
                          NodeId where);
    bool may_overlap(std::span<const Value> operands, const Value& target) const;
    // Ufuncs of the program and methods of ufuncs (arrays/ufuncs.h).
    class Ufuncs;
    Value call_where(const Arguments& arguments);
    Value ravelled(const Value& array, NodeId where);
    Value call_made(const std::string& name, const Arguments& arguments);
    // The order of memory (arrays/order.cpp).
    using Axis = std::vector<ir::ValueId>;
    struct StridesOfTwo {
        ir::ValueId counts, first, second;  // of two dimensions, where they tell of an order
    };
    void sort_axes(std::vector<Axis>& axes,
                   const std::function<std::pair<ir::ValueId, ir::ValueId>(const Axis& one,
                                                                           const Axis& before)>& compare);
    std::pair<ir::ValueId, ir::ValueId> order_of(std::span<const StridesOfTwo> arrays);
    std::vector<ir::ValueId> strides_of(const Value& array);
    std::vector<Axis> axes_in_order(std::span<const Value> operands, std::span<const ir::ValueId> shape,
                                    std::span<const Value> others = {}, bool copies = false);
    std::vector<ir::ValueId> strides_by(std::span<const Axis> axes, int64_t itemsize);
    Value allocate_along(std::span<const Axis> axes, ScalarType element, std::span<const ir::ValueId> shape,
                         NodeId where, const std::function<void(const Value&)>& fill);
    Value allocate_as(
        const Value& array, ScalarType element, NodeId where, bool copies = false,
        const std::function<void(const Value&)>& fill = [](const Value&) {});
    Value allocate_for(std::span<const Value> operands, ScalarType element,
                       std::span<const ir::ValueId> shape, NodeId where);
    Value copied_as_it_lies(const Value& array, ScalarType element, NodeId where);
    Value in_one_order(const Value& made, const Value& like, NodeId where);
    Value along_axes(const Value& value, std::span<const Axis> axes, const Value& target, size_t& next);
    Value forced_in_order(const Value& value);
    Value call_iterator(const Arguments& arguments);
    Sequence iterator_sequence(const Value& items, NodeId where);
    std::vector<ir::ValueId> strides_like(std::span<const Value> arrays, std::span<const ir::ValueId> shape,
                                          int64_t itemsize, bool contiguous);
    // (arrays/choices.cpp)
    Value one_of(NodeId where, ir::ValueId condition, const std::function<Value()>& yes,
                 const std::function<Value()>& no);
    std::optional<Value> by_axis(const Symbol& symbol, const Arguments& arguments);
    std::optional<Value> by_axis(const Value& array, const std::string& name, const Arguments& rest);
    // (arrays/joining.cpp) An axis below 0 is a new one.
    Value with_axes(const Value& array, std::span<const int> axes);
    Value with_axis_at(const Value& array, ir::ValueId axis);
    Value call_joined(const std::string& name, const Arguments& arguments);
    Value call_diagonal(const Arguments& arguments);
    class Draws;       // random numbers (arrays/random.h)
    class Strings;     // texts that are made when the code runs (strings/strings.h)
    class Sets;        // (containers/sets.h)
    class Dicts;       // (containers/dicts.h)
    class ArrayTexts;  // of dtypes S and U (structures/texts.h)
    class Dates;       // NumPy's datetime64 and timedelta64 (dates/dates.h)
    class Kernels;     // of CUDA's style (kernels/kernels.h)
    void augment_array(const Value& array, const std::string& name, const Value& given, NodeId where);
    class ArrayFunctions;  // of NumPy's (arrays/functions.h)
    std::optional<Value> array_reduction(const Value& array, const std::string& name, const Arguments& rest);
    std::vector<ir::ValueId> axes_given(const Value& given, size_t rank, const std::string& repeated,
                                        NodeId where);
    std::vector<ir::ValueId> moved_axes(std::span<const ir::ValueId> from, std::span<const ir::ValueId> to,
                                        size_t rank);
    Value with_axes_at(const Value& array, std::span<const ir::ValueId> axes);
    static bool has_later_items(const Value& value);
    Value reduction_along(const Value& array, const std::string& name, const Value& axis, bool keeps,
                          Arguments rest);
    std::optional<Value> array_with_shape(const Value& array, const std::string& name, const Arguments& rest);
    const OpInfo& operation_of(const std::string& name, NodeId where);

    // --- users of memory (memory.cpp) -----------------------------------------------------------------

    void count_owners(const Value& value, bool retains);
    // Makes the value count as a user, for whoever keeps it.
    Value kept(Value value);
    void release(Value& variable);  // its binding ends
    void add_temporary(const Value& value);
    void end_temporaries(size_t from);
    // Variables that are bound in `inner` and not carried out of the loop or branch.
    void release_dropped(const Environment& inner, const std::function<bool(size_t)>& stays);

    // --- calls (calls.cpp) ----------------------------------------------------------------------------

    Value lower_call(NodeId id, Environment& environment);
    Arguments arguments_of(NodeId id, Environment& environment, bool collects = false);
    Value call_known(const Symbol& symbol, const Arguments& arguments);
    Value make_record(const Record& record, const Arguments& arguments);
    Value value_of_member(const Value& member, NodeId where);
    Value replaced(const Value& record, const Arguments& arguments);
    std::optional<size_t> field_of(const Value& record, const std::string& name) const;
    Value call_function(const Symbol& symbol, const Arguments& arguments);
    // `before` are what an inner function takes from around, for its first parameters.
    Value call_source(const FunctionSource& callee, std::vector<Value> before, const Arguments& arguments);

    // --- inner functions (closures.cpp) ---------------------------------------------------------------

    Value define_function(NodeId id, Environment& environment);
    Value call_closure(const Value& closure, const Arguments& arguments, const Environment& environment);
    // For other functions: with the values of the variables that it reads.
    Value bound(const Value& value, const Environment& environment, NodeId where);
    std::vector<Value> captured_by(const Value& closure, const Environment& environment, NodeId where);
    Value read_variable(const Value& value, const std::string& name, NodeId where);
    void name_itself(Environment& environment);
    Value call_prelude(const std::string& path, const Arguments& arguments);
    Value call_ufunc(const OpInfo& op, const Arguments& arguments);
    Value call_math(const std::string& name, const Arguments& arguments);
    Value call_extreme(bool largest, const Arguments& arguments);
    Value extreme_or(bool largest, const Value& given, const Value& otherwise, NodeId where);
    Value call_range(const Arguments& arguments);
    Value call_length(const Arguments& arguments);
    Value call_convert(ScalarType to, bool weak, const Arguments& arguments);
    Value call_text(bool representation, const Arguments& arguments);
    std::optional<Value> call_operator(const std::string& name, const Arguments& arguments);
    Value call_arange(const Arguments& arguments);
    Value call_print(const Arguments& arguments);
    // `at_once`: while its memory is there.
    void expect_printable(TypeRef type, NodeId where, bool at_once = false) const;
    void append_told(std::vector<ir::ValueId>& payload, const Value& value);
    Value call_round(const Arguments& arguments);
    Value hash_of_tuple(const Value& tuple, NodeId where);
    std::optional<Value> call_builtin(const std::string& name, const Arguments& arguments);
    std::optional<Value> call_number_method(const Value& base, const std::string& name,
                                            const Arguments& arguments);
    Value number_of_text(const std::string& text, ScalarType to, NodeId where);
    Value tuple_method(const Value& tuple, const std::string& name, const Arguments& arguments);
    Value absolute(const Value& value, NodeId where);
    Value fold_tuple(const std::string& name, const Value& first, const Arguments& arguments);
    Value select(ir::ValueId condition, const Value& yes, const Value& no, NodeId where);
    Value complex_of(const Value& real, const Value& imaginary, ScalarType to, bool weak);
    Value type_of_value(const Value& value, NodeId where), dtype_of_border(const Arguments& arguments);
    Value to_integer(const Value& value, OpId rounding, NodeId where);
    bool is_instance(TypeRef type, TypeRef of, NodeId where);
    void expect_arguments(const std::string& name, const Arguments& arguments, size_t least, size_t most);

    // --- values ---------------------------------------------------------------------------------------

    Value constant(const Constant& value);
    Value integer(int64_t value);
    Value boolean(bool value);
    Value never() {
        undecided_ = true;
        return {simple_type(TypeKind::kNever), {}, 0};
    }
    Environment parameters(bool real);
    void lower_body(Environment& environment);
    Value none() const { return {simple_type(TypeKind::kNone), {}, 0}; }
    Value tuple(std::vector<Value> items);
    Value scalar(TypeRef type, ir::ValueId part) const { return {type, {part}, 0}; }
    ir::ValueId apply(OpId op, std::initializer_list<ir::ValueId> operands);
    ir::ValueId apply(const OpInfo& op, const LoopInfo& loop, std::span<const Value> operands);
    ir::ValueId cast(const Value& value, ScalarType to);
    ir::ValueId as_index(const Value& value, NodeId where);  // int64
    void check(ir::ValueId holds, Site site, std::vector<ir::ValueId> payload, NodeId where);
    Site site(std::string exception, std::string text) const;
    void tell_place(Site& site, std::vector<ir::ValueId>& payload) const;
    // The value as one of `type`, which join() gave for it and others.
    Value convert(const Value& value, TypeRef type, NodeId where);
    void append_converted(std::vector<ir::ValueId>& parts, const Value& value, TypeRef type, NodeId where);
    void append_nothing(std::vector<ir::ValueId>& parts, TypeRef type);
    static Value take(TypeRef type, std::span<const ir::ValueId> parts, size_t& at);
    // As results and parameters, where an array's buffer is its first byte alone, or as values.
    static void append_ir_types(std::vector<ir::Type>& types, TypeRef type, bool at_border);
    Value at_border(const Value& value);
    Value inside(const Value& value);
    static ir::Type buffer_type(TypeRef type);
    static ir::BufferType list_head_type();

    // --- calls in place (inlined_calls.cpp) -----------------------------------------------------------

    // A function that is lowered in place of a call.
    struct Inlined {
        bool is_loop = false;  // of one iteration, which its returns leave
        int level = 0;         // of that loop
        std::vector<ir::ValueId> parts{};
        std::vector<Outcome> outcomes{};  // of what it returns
    };
    bool can_inline(const FunctionSource& callee) const;
    Value inline_call(const FunctionSource& callee, std::span<const TypeRef> types,
                      std::vector<Value> arguments, TypeRef result, NodeId where);
    void return_parts(const std::vector<ir::ValueId>& parts);

    // --- facts (facts/facts.h) ------------------------------------------------------------------------

    using Facts::meet;
    // Checks before loops (facts/hoist.cpp).
    class End;
    // Leaves a check to what stands before the loop that is being lowered, where that can be. `known` is what
    // the program tells of the index, besides its dtype.
    bool hoist(ir::ValueId index, ir::ValueId size, const Fact& known);
    bool hoist_around(const Hoist& inner, const Hoist::Index& index, Hoist& around) const;
    ir::ValueId hoisted_checks(const Hoist& hoist);
    // (facts/ranges.cpp)
    bool can_tell(ir::ValueId value, const Hoist& hoist, int depth = 0) const;
    std::optional<std::pair<ir::ValueId, ir::ValueId>> range_of(ir::ValueId value, const Hoist& hoist,
                                                                const std::function<void(ir::ValueId)>& need);
    bool hoist_range(ir::ValueId index, ir::ValueId size);
    void hoist_ranges_around(Hoist& inner, Hoist& around) const;
    void check_ranges(const Hoist& hoist, const std::function<void(ir::ValueId)>& need);
    // Loops with this body, which `build` makes: without checks where one test before them shows that no
    // index is out of bounds.
    std::vector<ir::ValueId> build_hoisted(NodeId body, const Hoist& bounds,
                                           const std::function<std::vector<ir::ValueId>()>& build);
    bool has_simple_loops(NodeId id) const;

    // Variables that loops count up or down (facts/steps.cpp).
    int direction_of(NodeId loop, size_t variable) const;
    bool is_known_before(NodeId id, const Loop& loop) const;
    Fact fact_before(NodeId id, const Loop& loop, const Environment& environment);
    bool is_stepped_up(NodeId id, size_t variable, const Loop& loop, const Environment& environment);
    void note_carried(NodeId id, Loop& loop, const Environment& environment,
                      std::span<const ir::ValueId> initials, std::span<const ir::ValueId> carried);
    // Variables that are never negative in the loop (facts/signs.cpp).
    std::set<size_t> never_negative(NodeId id, const Loop& loop, const Environment& environment) const;
    bool stays_positive(NodeId loop, size_t variable, const std::set<size_t>& variables) const;
    bool is_never_negative(NodeId id, const std::set<size_t>& variables) const;
    void note_end(Loop& loop, std::span<const ir::ValueId> parts);

    // --- errors ---------------------------------------------------------------------------------------

    [[noreturn]] void fail(NodeId where, const std::string& what, const std::string& help = {},
                           const std::vector<std::pair<NodeId, std::string>>& others = {}) const;
    static std::string unbound(const std::string& name) {
        return "variable '" + name + "' has no value here";
    }
    // As join(), for values whose memory may then be either's.
    static TypeRef joined(TypeRef a, TypeRef b);
    [[noreturn]] void refuse_arguments(NodeId where, const FunctionSource& callee,
                                       const std::string& what) const;
    [[noreturn]] void refuse_missing(const Symbol& symbol, NodeId where) const;
    [[noreturn]] void refuse_many_indices(size_t rank, size_t count, NodeId where) const;
    void expect_writeable(TypeRef array, NodeId where) const;
    void expect_items(TypeRef type, NodeId where) const;
    void expect_index(TypeRef type, NodeId where) const;
    TypeRef join_or_fail(const Value& a, const Value& b, const std::string& name, NodeId where) const;

    // What is walked dry has a value whose type is not found yet, and an error may be none with it. The walk
    // leaves it until the types around have grown; if they do not, the last walk has the error.
    struct Undecided {};
    bool decided(const std::function<void()>& walk);  // whether it was not left
    // Nothing is emitted while one lives.
    class DryRun {
    public:
        explicit DryRun(FunctionLowering& lowering) : lowering_(lowering), before_(lowering.dry_) {
            lowering_.dry_ = true;
        }
        ~DryRun() { lowering_.dry_ = before_; }
        DryRun(const DryRun&) = delete;
        DryRun& operator=(const DryRun&) = delete;

    private:
        FunctionLowering& lowering_;
        bool before_;
    };

    Spot spot(NodeId id) const { return source_.is_prelude ? caller_ : Spot{&source_, id}; }
    const Node& node(NodeId id) const { return source_.tree[id]; }
    const std::string& variable(size_t number) const { return source_.tree.variables()[number]; }

    Compilation& compilation_;
    const FunctionSource& source_;
    Spot caller_;  // of a function of the prelude, which is where its errors are
    std::vector<TypeRef> arguments_;
    std::vector<Value> globals_;                  // those of the compilation
    std::vector<const FunctionSource*> binding_;  // closures that are being bound
    Specialised& target_;
    std::unordered_map<NodeId, Flow> flows_;
    std::optional<ir::Builder> own_builder_;
    bool undecided_ = false;   // what is walked dry has had such a value
    int deciding_ = 0;         // walks around that leave what is undecided
    NodeId undecided_at_ = 0;  // the variable that was read
    TypeRef result_ = nullptr;
    bool asks_itself_ = false;  // the result hangs on a result that is not known yet
    NodeId result_origin_ = 0;
    std::vector<Loop*> loops_;
    std::map<std::pair<NodeId, std::vector<TypeRef>>, std::vector<TypeRef>> known_loops_;
    const FunctionLowering* around_ = nullptr;  // of a function in place of a call
    Inlined* inlined_ = nullptr;
    std::vector<Value> temporaries_;  // fresh values that nobody has kept
    std::vector<Try*> tries_;
    std::vector<Final> finals_;
    std::vector<Handling> handling_;
    int catches_ = 0;  // tries and calls that catch, up to here
    int open_loops_ = 0;
    Environment* now_ = nullptr;
    const VariableSet* assigned_in_loop_ = nullptr;  // whose sequence is being found
    Deferred* deferred_ = nullptr;
    const Nest* nest_ = nullptr;
    std::vector<std::pair<size_t, ScalarType>> accumulated_;  // arrays of which chunks have copies
    bool is_second_ = false;  // a loop is lowered that was lowered with its checks before it
};

}  // namespace weft::lang

#include "lang/walk_parts.h"
