#include "lowering/lower.h"

#include <algorithm>
#include <array>
#include <optional>

#include "library/loops/identities.h"
#include "library/loops/reduction_order.h"
#include "library/loops/scan_order.h"
#include "lowering/collapsed_rows.h"
#include "lowering/combining.h"
#include "lowering/element_function.h"
#include "lowering/lower_compress.h"
#include "lowering/lower_product.h"
#include "lowering/lower_scan.h"
#include "lowering/lower_search.h"
#include "lowering/short_rows.h"
#include "lowering/value_lowering.h"
#include "ops/defined.h"
#include "weft/errors.h"

namespace weft {

namespace {

using ir::Builder;
using ir::ValueId;

class Lowering : ValueLowering {
public:
    Lowering(const KernelForm& form, KernelTarget target) : ValueLowering(form, target) {}

    ir::Function run() {
        declare();
        find_levels();
        builder_.parallel(ir::ParallelLevel::kGrid, grid_sizes_,
                          [&](Builder&, std::span<const ValueId> indices) {
                              switch (form_.shape) {
                                  case KernelShape::kElementwise: elementwise(indices); break;
                                  case KernelShape::kReduce: reduce(indices); break;
                                  case KernelShape::kCombine: combine(indices); break;
                                  case KernelShape::kScan: scan(indices); break;
                                  case KernelShape::kProduct: product(indices); break;
                                  case KernelShape::kCompress: compress(); break;
                              }
                              return Values{};
                          });
        return builder_.finish();
    }

private:
    // ---- element-wise ----

    void elementwise(std::span<const ValueId> indices) {
        Scope scope = make_scope(indices, nullptr);
        for (size_t k = 0; k < outputs_.size(); ++k) store(scope, k);
    }

    // ---- reductions ----

    // How many values of a reduction a walk carries: over elements, or (kCombine) over partial results.
    size_t width(const ReductionForm& reduction) const {
        return form_.shape == KernelShape::kCombine ? reduction.components().size() : reduction.carried();
    }

    Values initials(Builder& b, const ReductionForm& reduction) const {
        const ValueId neutral = b.constant(neutral_element(*reduction.info, reduction.compute));
        if (reduction.info->gives_index) return {neutral, b.index(INT64_MAX)};
        return Values(width(reduction), neutral);
    }

    // What is subtracted from each element before squares are added up: the mean of the first few.
    ValueId shift_of(Builder& b, ValueId count, const Builder::Body& element) {
        const ScalarType type = ScalarType::kFloat64;
        const ValueId few = b.apply(OpId::kMinimum, {count, b.index(form_.shift_elements)});
        const ValueId one = b.constant(ir::Constant::of(type, 1.0));
        const ValueId inverse = b.apply(OpId::kDivide, {one, b.cast(few, type)});
        const Values zero{b.constant(ir::Constant::of(type, 0.0))};
        const auto add = [](Builder& inner, std::span<const ValueId> pair) {
            return Values{inner.apply(OpId::kAdd, {pair[0], pair[1]})};
        };
        const Values sum = form_.row != 0
                               ? reduce_short_row(
                                     b, std::min(form_.row, form_.shift_elements), form_.lanes, zero,
                                     std::array{NeutralElement::kWithResult},
                                     [&](ValueId position) { return element(b, std::array{position}); }, add)
                               : b.reduce(few, zero, form_.lanes, 0, element, add);
        return b.apply(OpId::kMultiply, {sum[0], inverse});
    }

    // Reduces several at once, in one walk over `size` elements that `element` gives: all their components,
    // one reduction's after another's.
    Values walk(Builder& b, std::span<const size_t> which, ValueId size, int64_t lanes, int64_t block,
                const Builder::Body& element) {
        const ReductionForm& first = form_.reductions[which[0]];
        if (!has_neutral_element(*first.info, first.compute)) {
            const Values zero{b.index(0)};
            const Values start = element(b, zero);
            Values chain = start;
            for (int64_t k = 1; k < form_.row; ++k) {
                const Values next = element(b, std::array{b.index(k)});
                chain = {b.apply(op_info(first.info->combine), std::array{chain[0], next[0]})};
            }
            if (form_.row != 0) return chain;
            return b.for_loop(
                b.index(1), size, b.index(1), start, [&](Builder& inner, std::span<const ValueId> arguments) {
                    const Values next = element(inner, arguments.subspan(0, 1));
                    return Values{
                        inner.apply(op_info(first.info->combine), std::array{arguments[1], next[0]})};
                });
        }
        Values starts;
        for (const size_t k : which) {
            const Values own = initials(b, form_.reductions[k]);
            starts.insert(starts.end(), own.begin(), own.end());
        }
        const auto combine_all = [&](Builder& inner, std::span<const ValueId> arguments) {
            const Values all(arguments.begin(), arguments.end());
            const size_t components = all.size() / 2;
            Values combined;
            size_t at = 0;
            for (const size_t k : which) {
                const size_t count = width(form_.reductions[k]);
                const Values own = combine_pair(inner, form_.reductions[k], std::span(all).subspan(at, count),
                                                std::span(all).subspan(components + at, count));
                combined.insert(combined.end(), own.begin(), own.end());
                at += count;
            }
            return combined;
        };
        if (form_.row == 0) return b.reduce(size, starts, lanes, block, element, combine_all);
        std::vector<NeutralElement> neutral;
        for (const size_t k : which)
            neutral.resize(neutral.size() + width(form_.reductions[k]), neutral_of_row(form_.reductions[k]));
        return reduce_short_row(
            b, form_.row, lanes, starts, neutral,
            [&](ValueId position) { return element(b, std::array{position}); }, combine_all);
    }

    // argmax, any and their kin along rows; across rows, columns are the vector lanes.
    bool searches(const ReductionForm& reduction) const {
        if (form_.row != 0) return reduction.info->gives_index;
        return form_.shape == KernelShape::kReduce && form_.lanes > 1 && target_ == KernelTarget::kCpu &&
               searches_by_blocks(reduction);
    }

    Values search(const ReductionForm& reduction, ValueId count, ValueId base, const ElementAt& element) {
        if (form_.row != 0)
            return find_extreme_of_short_row(builder_, reduction, form_.row, [&](ValueId position) {
                return Values{element(builder_, position)};
            });
        if (!reduction.info->gives_index)
            return {find_deciding(builder_, reduction, form_.lanes, count, element)};
        Values found = find_extreme(builder_, reduction, form_.lanes, count, element);
        found[1] = builder_.apply(OpId::kAdd, {base, found[1]});
        return found;
    }

    // The reductions of a phase, in sets that can share a walk.
    std::vector<std::vector<size_t>> walks_of_phase(int phase) const {
        std::vector<std::vector<size_t>> walks;
        std::optional<size_t> shared;
        for (size_t k = 0; k < form_.reductions.size(); ++k) {
            const ReductionForm& reduction = form_.reductions[k];
            if (reduction.phase != phase) continue;
            if (!has_neutral_element(*reduction.info, reduction.compute) || searches(reduction)) {
                walks.push_back({k});
            } else if (shared) {
                walks[*shared].push_back(k);
            } else {
                shared = walks.size();
                walks.push_back({k});
            }
        }
        return walks;
    }

    ValueId finished(const ReductionForm& reduction, std::span<const ValueId> components) {
        return builder_.cast(components.back(), reduction.result);
    }

    void finish_walk(std::span<const size_t> which, const Values& values) {
        size_t at = 0;
        for (const size_t k : which) {
            const size_t count = width(form_.reductions[k]);
            reduced_[k] = finished(form_.reductions[k], std::span(values).subspan(at, count));
            at += count;
        }
    }

    void reduce(std::span<const ValueId> indices) {
        Builder& b = builder_;
        const auto rank = static_cast<size_t>(form_.grid_rank);
        const size_t reduced_grid = static_cast<size_t>(form_.outer_rank) + (form_.chunked ? 1 : 0);
        ValueId begin = b.index(0), count = form_.row != 0 ? b.index(form_.row) : reduced_sizes_[0];
        if (form_.chunked) {
            begin = b.apply(OpId::kMultiply, {indices[rank - 1], b.index(form_.chunk)});
            count = b.apply(OpId::kMinimum,
                            {b.apply(OpId::kSubtract, {reduced_sizes_[0], begin}), b.index(form_.chunk)});
        }
        ValueId base = begin;  // position of the first element in C order, for argmax
        if (form_.outer_rank > 0) {
            const size_t first = rank - reduced_grid;
            ValueId row = indices[first];
            for (size_t d = first + 1; d < first + static_cast<size_t>(form_.outer_rank); ++d) {
                row = b.apply(OpId::kAdd, {b.apply(OpId::kMultiply, {row, grid_sizes_[d]}), indices[d]});
            }
            base = b.apply(OpId::kAdd, {b.apply(OpId::kMultiply, {row, reduced_sizes_[0]}), begin});
        }
        const Values at(indices.begin(), indices.end() - (form_.chunked ? 1 : 0));
        Scope point = make_scope(at, nullptr);
        const auto element_scope = [&](ValueId k) {
            Values position = at;
            const ValueId along = form_.chunked ? b.apply(OpId::kAdd, {begin, k}) : k;
            if (form_.collapsed) {
                position.push_back(b.apply(OpId::kFloorDivide, {along, reduced_sizes_[1]}));
                const ValueId rows = b.apply(OpId::kMultiply, {position.back(), reduced_sizes_[1]});
                position.push_back(b.apply(OpId::kSubtract, {along, rows}));
            } else {
                position.push_back(along);
            }
            return make_scope(position, &point);
        };
        if (form_.collapsed && target_ == KernelTarget::kCpu) compute_elements(point, at, begin, count);

        reduced_.resize(form_.reductions.size());
        int last_phase = 0;
        for (const ReductionForm& reduction : form_.reductions)
            last_phase = std::max(last_phase, reduction.phase);
        for (int phase = 0; phase <= last_phase; ++phase) {
            for (const std::vector<size_t>& which : walks_of_phase(phase)) {
                walk_row(which, point, count, base, indices, element_scope);
            }
        }
        if (form_.chunked) return;

        std::vector<size_t> along_row;
        for (size_t k = 0; k < outputs_.size(); ++k) {
            if (form_.outputs[k].buffer.of_element) {
                prepare(point, form_.outputs[k].value);
                along_row.push_back(k);
            } else {
                store(point, k);
            }
        }
        if (along_row.empty()) return;
        const Builder::Body write = [&](Builder&, std::span<const ValueId> arguments) {
            Scope scope = element_scope(arguments[0]);
            for (const size_t k : along_row) store(scope, k);
            return Values{};
        };
        if (form_.row != 0) {
            for (int64_t k = 0; k < form_.row; ++k) write(b, std::array{b.index(k)});
        } else if (target_ == KernelTarget::kGpu && form_.lanes > 1) {
            b.parallel(ir::ParallelLevel::kBlock, std::array{count}, write);
        } else {
            b.for_loop(b.index(0), count, b.index(1), {}, write);
        }
    }

    // The reductions' elements in local memory: their positions would have to be divided by the rows' length.
    void compute_elements(Scope& point, const Values& at, ValueId begin, ValueId count) {
        std::vector<const ReductionForm*> distinct;  // a mean and a deviation are of the same elements
        std::vector<size_t> number;
        for (const ReductionForm& reduction : form_.reductions) {
            const auto same = std::find_if(distinct.begin(), distinct.end(), [&](const auto* other) {
                return other->element == reduction.element && other->compute == reduction.compute;
            });
            number.push_back(static_cast<size_t>(same - distinct.begin()));
            if (same == distinct.end()) distinct.push_back(&reduction);
        }
        std::vector<ScalarType> types;
        for (const ReductionForm* reduction : distinct) {
            prepare(point, reduction->element);
            types.push_back(reduction->compute);
        }
        const std::vector<ValueId> locals = compute_rows(
            builder_, begin, count, reduced_sizes_[1], form_.chunk, types,
            static_cast<uint16_t>(outputs_.size() + 1), [&](ValueId row, ValueId column) {
                Values position = at;
                position.push_back(row);
                position.push_back(column);
                Scope scope = make_scope(position, &point);
                Values values;
                for (const ReductionForm* reduction : distinct)
                    values.push_back(builder_.cast(compute(scope, reduction->element), reduction->compute));
                return values;
            });
        for (const size_t k : number) elements_.push_back(locals[k]);
    }

    // One walk over the row or the chunk: its reductions' results, or their partial results stored.
    template <class ElementScope>
    void walk_row(std::span<const size_t> which, Scope& point, ValueId count, ValueId base,
                  std::span<const ValueId> indices, const ElementScope& element_scope) {
        std::vector<ValueId> shifts(form_.reductions.size());
        for (const size_t k : which) {
            const ReductionForm& reduction = form_.reductions[k];
            prepare(point, reduction.element);
            if (!reduction.info->deviations) continue;
            shifts[k] = shift_of(builder_, count, [&](Builder& inner, std::span<const ValueId> arguments) {
                if (!elements_.empty()) return Values{inner.load(elements_[k], std::array{arguments[0]})};
                Scope scope = element_scope(arguments[0]);
                return Values{inner.cast(compute(scope, reduction.element), reduction.compute)};
            });
        }
        const auto element = [&](Builder& inner, std::span<const ValueId> arguments) {
            const ValueId position = arguments[0];
            std::optional<Scope> scope;
            if (elements_.empty()) scope = element_scope(position);
            Values values;
            for (const size_t k : which) {
                const ReductionForm& reduction = form_.reductions[k];
                ValueId value = scope ? inner.cast(compute(*scope, reduction.element), reduction.compute)
                                      : inner.load(elements_[k], std::array{position});
                if (reduction.info->deviations) value = inner.apply(OpId::kSubtract, {value, shifts[k]});
                values.push_back(value);
                if (reduction.info->deviations)
                    values.push_back(inner.apply(OpId::kMultiply, {value, value}));
                if (reduction.info->gives_index) values.push_back(inner.apply(OpId::kAdd, {base, position}));
            }
            return values;
        };
        const ReductionForm& first = form_.reductions[which[0]];
        const auto plain_element = [&](Builder& inner, ValueId position) {
            if (!elements_.empty()) return inner.load(elements_[which[0]], std::array{position});
            Scope scope = element_scope(position);
            return inner.cast(compute(scope, first.element), first.compute);
        };
        const Values carried = searches(first)
                                   ? search(first, count, base, plain_element)
                                   : walk(builder_, which, count, form_.lanes, form_.block, element);
        size_t at = 0;
        for (const size_t k : which) {
            const ReductionForm& reduction = form_.reductions[k];
            Values own(carried.begin() + static_cast<std::ptrdiff_t>(at),
                       carried.begin() + static_cast<std::ptrdiff_t>(at + reduction.carried()));
            at += reduction.carried();
            if (reduction.info->deviations) own = deviations_of_chunk(builder_, count, shifts[k], own);
            if (!form_.chunked) reduced_[k] = finished(reduction, own);
            for (size_t c = 0; form_.chunked && c < own.size(); ++c)
                builder_.store(outputs_[partial_of(k) + c], own[c], indices);
        }
    }

    // Number of the first buffer of partial results of reduction `index`.
    size_t partial_of(size_t index) const {
        size_t at = 0;
        for (size_t k = 0; k < index; ++k) at += form_.reductions[k].components().size();
        return at;
    }

    Values combine_dimension(Builder& b, std::span<const size_t> which, size_t dimension, Values& position) {
        const auto element = [&](Builder& inner, std::span<const ValueId> arguments) {
            position.push_back(arguments[0]);
            Values values;
            if (dimension + 1 < reduced_sizes_.size()) {
                values = combine_dimension(inner, which, dimension + 1, position);
            } else {
                for (const size_t k : which) {
                    for (size_t c = 0; c < form_.reductions[k].components().size(); ++c)
                        values.push_back(inner.load(inputs_[partial_of(k) + c], position));
                }
            }
            position.pop_back();
            return values;
        };
        return walk(b, which, reduced_sizes_[dimension], 1, 1, element);
    }

    void combine(std::span<const ValueId> indices) {
        Scope point = make_scope(indices, nullptr);
        reduced_.resize(form_.reductions.size());
        for (const std::vector<size_t>& which : walks_of_phase(0)) {
            Values position(indices.begin(), indices.end());
            finish_walk(which, combine_dimension(builder_, which, 0, position));
        }
        for (size_t k = 0; k < outputs_.size(); ++k) store(point, k);
    }

    // ---- running results ----

    void scan(std::span<const ValueId> indices) {
        ScanLowering lowering(builder_, *form_.scan, form_.outputs[0].buffer.streamed);
        if (form_.scan->across) {
            scan_across(lowering, indices);
        } else {
            scan_row(lowering, indices);
        }
    }

    ValueId scan_element(Scope& scope) {
        return builder_.cast(compute(scope, form_.scan->element), form_.scan->compute);
    }

    void store_prefix(ValueId value, const Values& position) {
        builder_.store(outputs_[0], builder_.cast(value, form_.outputs[0].buffer.element), position);
    }

    void scan_row(ScanLowering& lowering, std::span<const ValueId> indices) {
        Builder& b = builder_;
        const Values at(indices.begin(), indices.end() - (form_.chunked ? 1 : 0));
        Scope point = make_scope(at, nullptr);
        prepare(point, form_.scan->element);
        const auto position = [&](ValueId k) {
            Values position = at;
            position.push_back(k);
            return position;
        };
        const auto element = [&](ValueId k) {
            Scope scope = make_scope(position(k), &point);
            return scan_element(scope);
        };
        const auto store = [&](ValueId k, ValueId value) { store_prefix(value, position(k)); };
        const bool gpu = target_ == KernelTarget::kGpu;
        if (form_.scan->part == ScanForm::Part::kBefore) {
            lowering.before(reduced_sizes_[0], element, store);
            return;
        }
        if (!form_.chunked) {
            if (!gpu) {
                lowering.row(reduced_sizes_[0], element, store);
            } else if (form_.scan->in_order || !writes_along_memory()) {
                lowering.row_of_thread(reduced_sizes_[0], element, store);
            } else {
                lowering.row_of_team(reduced_sizes_[0], element, store);
            }
            return;
        }
        const ValueId length = b.index(kScanChunk);
        const ValueId begin = b.apply(OpId::kMultiply, {indices.back(), length});
        const ValueId end =
            b.apply(OpId::kMinimum, {b.apply(OpId::kAdd, {begin, length}), reduced_sizes_[0]});
        if (form_.scan->part == ScanForm::Part::kChunkTotals) {
            const ValueId total = gpu ? lowering.chunk_total_of_team(begin, end, element)
                                      : lowering.chunk_total(begin, end, element);
            b.store(outputs_[0], total, indices);
        } else if (gpu) {
            lowering.chunk_of_team(begin, end, b.load(inputs_.back(), indices), element, store);
        } else {
            lowering.chunk(begin, end, b.load(inputs_.back(), indices), element, store);
        }
    }

    // ---- what a mask selects ----

    void compress() {
        const CompressForm& form = *form_.compress;
        const ScalarType type = form_.outputs[0].buffer.element;
        const ValueId* const scalars = scalars_.data() + form.scalars;
        CompressLowering lowering(
            builder_, type, {outputs_[0], outputs_[1], scalars[0], scalars[1], scalars[2], grid_sizes_[0]});
        std::vector<Scope> scopes;
        CompressLowering::Elements elements;
        elements.mask = [&](const CompressLowering::Element& element) {
            const Values indices = lowering.indices_of(element, reduced_sizes_);
            Scope& scope = scopes.emplace_back(make_scope(indices, nullptr));
            for (size_t k = 2; k < outputs_.size(); ++k) compute(scope, form_.outputs[k].value);
            return builder_.cast(compute(scope, form.mask), ScalarType::kBool);
        };
        if (form.value) {
            elements.is_known = [&](const CompressLowering::Element& element) {
                return is_computed(scopes[element.number], *form.value);
            };
            elements.value = [&](const CompressLowering::Element& element) {
                Scope scope = scopes[element.number];  // nothing of what follows is computed for all
                return builder_.cast(compute(scope, *form.value), type);
            };
        }
        elements.store = [&](const CompressLowering::Element& element) {
            Scope& scope = scopes[element.number];
            for (size_t k = 2; k < outputs_.size(); ++k) {
                const ValueId stored = compute(scope, form_.outputs[k].value);
                builder_.store_if(outputs_[k], builder_.cast(stored, form_.outputs[k].buffer.element),
                                  scope.indices, element.inside);
            }
        };
        lowering.tile(elements);
    }

    void product(std::span<const ValueId> indices) {
        const auto finish = [&](ValueId sum, std::span<const ValueId> place) {
            reduced_ = {sum};
            Scope scope = make_scope(place, nullptr);
            return compute(scope, form_.outputs[0].value);
        };
        multiply_tile(builder_, form_,
                      {inputs_[0], inputs_[1], outputs_[0], reduced_sizes_[0], reduced_sizes_[1],
                       reduced_sizes_[2], finish},
                      indices, target_);
    }

    bool writes_along_memory() const {
        const StrideClass stride = form_.outputs[0].buffer.strides.back();
        return stride == StrideClass::kItem || stride == StrideClass::kMinusItem;
    }

    void scan_across(ScanLowering& lowering, std::span<const ValueId> indices) {
        Builder& b = builder_;
        const ValueId first = b.apply(OpId::kMultiply, {indices.back(), reduced_sizes_[2]});
        const ValueId rest = b.apply(OpId::kSubtract, {reduced_sizes_[1], first});
        const auto at = [&](ValueId column) {
            Values at(indices.begin(), indices.end() - 1);
            at.push_back(b.apply(OpId::kAdd, {first, column}));
            return at;
        };
        lowering.across(
            reduced_sizes_[0], b.apply(OpId::kMinimum, {rest, reduced_sizes_[2]}),
            [&](ValueId k, ValueId column) {
                Scope point = make_scope(at(column), nullptr);
                Values position = point.indices;
                position.push_back(k);
                Scope scope = make_scope(position, &point);
                return scan_element(scope);
            },
            [&](ValueId k, ValueId column, ValueId value) {
                Values position = at(column);
                position.push_back(k);
                store_prefix(value, position);
            });
    }

    Values elements_;
};

}  // namespace

std::vector<ScalarType> ReductionForm::components() const {
    if (info->gives_index) return {compute, ScalarType::kInt64};
    if (info->deviations) return {compute, compute, compute};
    return {compute};
}

int ScanForm::loop() const {
    const std::array<ScalarType, 2> types = {compute, compute};
    return static_cast<int>(find_loop(*op, types) - op->loops.data());
}

static void append_definitions(ir::Module& module, const KernelForm& form) {
    for (const StepForm& step : form.steps) {
        if (step.kind == StepForm::Kind::kOperation) append_definition(module, *step.op, step.loop);
    }
    if (form.scan) append_definition(module, *form.scan->op, form.scan->loop());
    for (const ReductionForm& reduction : form.reductions) {
        if (const DefinedReduction* defined = defined_reduction(*reduction.info))
            append_definition(module, *defined->by, 0);
    }
}

ir::Module lower(const KernelForm& form, KernelTarget target) {
    ir::Module module;
    module.functions.push_back(Lowering(form, target).run());
    if (form.then != nullptr) module.functions.push_back(Lowering(*form.then, target).run());
    append_definitions(module, form);
    if (form.then != nullptr) append_definitions(module, *form.then);
    return module;
}

}  // namespace weft
