#include "execution/run_boxes.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/shape.h"
#include "execution/run_elementwise.h"

namespace weft {

namespace {

std::vector<BufferUse*> uses_of(KernelParts& parts) {
    std::vector<BufferUse*> uses;
    for (BufferUse& use : parts.inputs) uses.push_back(&use);
    for (BufferUse& use : parts.outputs) uses.push_back(&use);
    return uses;
}

constexpr int64_t kFewPoints = 128;

// A dimension of the kernels: one of the space, or neighbours that all boxes walk as one block.
struct KernelDimension {
    size_t inner;               // of the space, whose stride it has
    std::vector<size_t> outer;  // merged into it
};

class Boxes {
public:
    Boxes(std::vector<KernelParts> parts, const Group& group) : parts_(std::move(parts)), group_(group) {
        for (size_t k = 0; k < parts_.size(); ++k) {
            if (points(k) > points(main_)) main_ = k;
        }
        find_dimensions();
    }

    // The main box first: the others follow it in what makes a kernel another one.
    void launch(GroupRun& run) {
        std::vector<GroupRun::Part> all;
        all.push_back({&parts_[main_], finish(main_)});
        for (size_t k = 0; k < parts_.size(); ++k) {
            if (k != main_) all.push_back({&parts_[k], finish(k)});
        }
        run.launch_all(all);
    }

private:
    int64_t points(size_t k) const {
        int64_t count = 1;
        for (size_t d = 0; d < group_.shape.size(); ++d)
            count *= group_.boxes[k].upper[d] - group_.boxes[k].lower[d];
        return count;
    }

    void find_dimensions() {
        std::vector<size_t> order;
        for (size_t d = 0; d < group_.shape.size(); ++d) {
            if (group_.shape[d] != 1) order.push_back(d);
        }
        const Dims& layout = parts_[main_].outputs[0].strides;
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return std::abs(layout[a]) > std::abs(layout[b]); });
        for (const size_t d : order) {
            KernelDimension dimension{d, {}};
            if (!dimensions_.empty() && is_one_block(dimensions_.back().inner, d)) {
                dimension.outer = std::move(dimensions_.back().outer);
                dimension.outer.push_back(dimensions_.back().inner);
                dimensions_.pop_back();
            }
            dimensions_.push_back(std::move(dimension));
        }
    }

    bool is_one_block(size_t outer, size_t inner) {
        const int64_t extent = group_.shape[inner];
        for (size_t k = 0; k < parts_.size(); ++k) {
            if (group_.boxes[k].upper[inner] - group_.boxes[k].lower[inner] != extent) return false;
            for (const BufferUse* use : uses_of(parts_[k])) {
                if (use->strides[outer] != use->strides[inner] * extent) return false;
            }
        }
        return true;
    }

    Dims extents_of(size_t k) const {
        Dims extents;
        const auto extent = [&](size_t d) { return group_.boxes[k].upper[d] - group_.boxes[k].lower[d]; };
        for (const KernelDimension& dimension : dimensions_) {
            int64_t all = extent(dimension.inner);
            for (const size_t d : dimension.outer) all *= extent(d);
            extents.push_back(all);
        }
        if (extents.empty()) extents.push_back(1);
        return extents;
    }

    Dims over_dimensions(const Dims& strides) const {
        Dims own;
        for (const KernelDimension& dimension : dimensions_) own.push_back(strides[dimension.inner]);
        if (own.empty()) own.push_back(0);
        return own;
    }

    // The box's form and arguments; its extents.
    Dims finish(size_t k) {
        KernelParts& box = parts_[k];
        Dims extents = extents_of(k);
        const std::vector<BufferUse*> uses = uses_of(box);
        for (BufferUse* use : uses) {
            for (size_t d = 0; d < group_.shape.size(); ++d)
                use->base += use->strides[d] * group_.boxes[k].lower[d];
            use->strides = over_dimensions(use->strides);
        }
        if (k == main_) {
            prefetch_ = asks_ahead(box, extents);
            make_form(box, extents, prefetch_);
            main_key_ = box.form.key();
            return extents;
        }
        // Along one element any stride will do: the main box's, so that the kernel may be the same.
        const std::vector<BufferUse*> main = uses_of(parts_[main_]);
        KernelParts own = box;
        for (size_t d = 0; d < extents.size() && uses.size() == main.size(); ++d) {
            if (extents[d] != 1) continue;
            for (size_t j = 0; j < uses.size(); ++j) uses[j]->strides[d] = main[j]->strides[d];
        }
        make_form(box, extents, prefetch_);
        if (box.form.key() == main_key_) return extents;
        // Its own kernel goes without such dimensions.
        box = std::move(own);
        collapse_uses(box, extents);
        make_form(box, extents, false);
        box.is_for_few = element_count(extents) <= kFewPoints;
        return extents;
    }

    static void make_form(KernelParts& box, const Dims& extents, bool prefetch) {
        box.form.shape = KernelShape::kElementwise;
        box.form.grid_rank = static_cast<int>(extents.size());
        box.outputs[0].prefetch = prefetch;
        finish_forms(box, false);
    }

    std::vector<KernelParts> parts_;
    const Group& group_;
    size_t main_ = 0;
    bool prefetch_ = false;
    std::string main_key_;
    std::vector<KernelDimension> dimensions_;
};

}  // namespace

void launch_boxes(std::vector<KernelParts> boxes, const Group& group, GroupRun& run) {
    if (group.boxes.empty()) return launch_elementwise(boxes[0], group.shape, run);
    Boxes(std::move(boxes), group).launch(run);
}

}  // namespace weft
