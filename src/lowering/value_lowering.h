// What a kernel computes at one place: inputs, steps and stores, each once, at the level that it is of.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "lowering/kernel_parameters.h"
#include "lowering/lower.h"

namespace weft {

/// The base of what lowers a form: its parameters, and values of them.
class ValueLowering {
protected:
    using Values = std::vector<ir::ValueId>;

    // What is computed at one place: at a point of the grid, or in the body of one loop over the row.
    struct Scope {
        Values indices;
        std::vector<ir::ValueId> loaded;
        std::vector<Values> steps;
        Scope* point = nullptr;  // of an element's scope: where the values of the point level are
    };

    ValueLowering(const KernelForm& form, KernelTarget target)
        : form_(form), target_(target), builder_(form.name()) {}

    void declare();
    void find_levels();

    Scope make_scope(std::span<const ir::ValueId> indices, Scope* point) const;
    /// Whether a value differs between the elements of a row.
    bool of_element(const ValueForm& value) const;
    /// Computes what `value` needs of the point level, so that a loop over the row finds it before it.
    void prepare(Scope& point, const ValueForm& value);
    ir::ValueId compute(Scope& scope, const ValueForm& value);
    static bool is_computed(const Scope& scope, const ValueForm& value);
    void store(Scope& scope, size_t output);

    const KernelForm& form_;
    const KernelTarget target_;
    ir::Builder builder_;
    Values grid_sizes_, reduced_sizes_, inputs_, scalars_, outputs_, reduced_;

private:
    const std::vector<bool>& needed_by(size_t step);
    void compute_step(Scope& scope, size_t index);
    ir::ValueId step_value(const Scope& scope, const ValueForm& form) const;
    ir::ValueId load_input(size_t index, std::span<const ir::ValueId> indices);
    ir::ValueId arange(ScalarType type, ir::ValueId position, ir::ValueId start, ir::ValueId step);
    void append_positions(Values& indices, std::span<const ir::ValueId> operands,
                          const std::vector<bool>& wraps);
    ir::ValueId gather(const Scope& scope, const StepForm& step, std::span<const ir::ValueId> operands);

    std::vector<KernelParameters::Position> positions_;
    std::vector<bool> step_of_element_;
    std::unordered_map<size_t, std::vector<bool>> needed_;
};

}  // namespace weft
