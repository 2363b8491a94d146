#include "lang/structures/layout.h"

#include <algorithm>

#include "lang/symbols.h"

namespace weft::lang {

const LayoutField* Layout::find(const std::string& name) const {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const LayoutField& field) {
        return field.name == name || (!name.empty() && field.title == name);
    });
    return found == fields.end() ? nullptr : &*found;
}

std::vector<std::string> Layout::names() const {
    std::vector<std::string> names;
    for (const LayoutField& field : fields) names.push_back(field.name);
    return names;
}

std::string describe(const Layout& layout) {
    if (layout.record != nullptr) return layout.record->name;
    if (layout.text != 0) return layout.text + std::to_string(layout.size / (layout.text == 'U' ? 4 : 1));
    constexpr size_t kMost = 4;  // messages are short
    std::string text = "structure(";
    for (size_t i = 0; i < std::min(layout.fields.size(), kMost); ++i) {
        const LayoutField& field = layout.fields[i];
        text += (i > 0 ? ", " : "") + field.name + ": ";
        for (const int64_t size : field.shape) text += std::to_string(size) + " * ";
        text += !field.other.empty()      ? field.other
                : field.layout == nullptr ? std::string(DType(field.scalar).name())
                                          : describe(*field.layout);
    }
    return text + (layout.fields.size() > kMost ? ", ...)" : ")");
}

}  // namespace weft::lang
