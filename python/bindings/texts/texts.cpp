// Texts (weft/texts.h) in the buffers of other objects, such as NumPy's arrays, and in Python's lists.
#include "weft/texts.h"

#include <cstring>
#include <optional>
#include <string_view>

#include "convert/foreign_buffer.h"
#include "functions/bound_function.h"
#include "module.h"
#include "objects/objects.h"

namespace weft::python {

namespace {

using texts::Character;
using texts::Target;
using texts::View;

/// A buffer of texts of a fixed width in the host's byte order.
class TextBuffer {
public:
    TextBuffer(nb::handle object, bool writes)
        : held_(HeldBuffer::of(object.ptr(), PyBUF_STRIDES | PyBUF_FORMAT | (writes ? PyBUF_WRITABLE : 0))) {
        const Py_buffer& buffer = held_->view();
        const std::string_view format = buffer.format == nullptr ? "" : buffer.format;
        const char kind = format.empty() ? '\0' : format.back();
        if ((kind != 's' && kind != 'w') || format.front() == '>' || buffer.itemsize == 0)
            throw TypeError("not texts of a fixed width in the host's byte order");
        view_.data = buffer.buf;
        view_.character = kind == 's' ? Character::kByte : Character::kCodePoint;
        view_.width = buffer.itemsize / (kind == 's' ? 1 : 4);
        for (int d = 0; d < buffer.ndim; ++d) {
            view_.shape.push_back(buffer.shape[d]);
            view_.strides.push_back(buffer.strides[d]);
        }
    }

    const View& view() const { return view_; }
    Target target() const { return {held_->view().buf, view_.strides, view_.width}; }
    bool is_large() const {
        int64_t count = view_.width;
        for (const int64_t extent : view_.shape) count *= extent;
        return count > kLargeWork;
    }

private:
    std::shared_ptr<const HeldBuffer> held_;
    View view_;
};

TextBuffer texts_of(nb::handle object) { return {object, false}; }
TextBuffer target_of(nb::handle object) { return {object, true}; }

/// The result of work on buffers, which is done without the GIL where there is much.
template <class Work>
auto on_texts(bool large, const Work& work) {
    const ReleaseGil release(large);
    return work();
}

void check_same(const View& input, const TextBuffer& target) {
    if (target.view().character != input.character)
        throw TypeError("texts are written into those of the same characters");
}

/// A list of str or of bytes; their number, and the width of the longest.
struct ListedTexts {
    Character character = Character::kCodePoint;
    Py_ssize_t count = 0, width = 1;
};

/// The length of a str, or bytes where `bytes`; -1 for another object.
Py_ssize_t length_of(PyObject* text, bool bytes) {
    if (bytes) return PyBytes_CheckExact(text) ? PyBytes_Size(text) : -1;
    return PyUnicode_CheckExact(text) ? PyUnicode_GetLength(text) : -1;
}

std::optional<ListedTexts> listed_texts(nb::handle list) {
    if (!PyList_CheckExact(list.ptr())) return std::nullopt;
    ListedTexts found;
    found.count = PyList_Size(list.ptr());
    if (found.count == 0) return std::nullopt;
    const bool bytes = PyBytes_CheckExact(PyList_GetItem(list.ptr(), 0));
    if (bytes) found.character = Character::kByte;
    for (Py_ssize_t i = 0; i < found.count; ++i) {
        const Py_ssize_t length = length_of(PyList_GetItem(list.ptr(), i), bytes);
        if (length < 0) return std::nullopt;
        found.width = std::max(found.width, length);
    }
    return found;
}

void write_text(PyObject* text, Character character, char* to, Py_ssize_t width) {
    if (character == Character::kByte) {
        char* bytes = nullptr;
        Py_ssize_t length = 0;
        if (PyBytes_AsStringAndSize(text, &bytes, &length) != 0) throw_python_error();
        std::memcpy(to, bytes, static_cast<size_t>(length));
        std::memset(to + length, 0, static_cast<size_t>(width - length));
        return;
    }
    const Py_ssize_t length = PyUnicode_GetLength(text);
    if (length != 0 && PyUnicode_AsUCS4(text, reinterpret_cast<Py_UCS4*>(to), length, 0) == nullptr)
        throw_python_error();
    std::memset(to + 4 * length, 0, static_cast<size_t>(4 * (width - length)));
}

/// A str of code points, or null with Python's error.
PyObject* str_of(const char* text, int64_t length, std::vector<char>& narrow) {
    narrow.resize(static_cast<size_t>(length));
    uint32_t bits = 0;
    for (int64_t i = 0; i < length; ++i) {
        uint32_t value;
        std::memcpy(&value, text + 4 * i, sizeof value);
        bits |= value;
        narrow[static_cast<size_t>(i)] = static_cast<char>(value);
    }
    if (bits < 128) return PyUnicode_FromStringAndSize(narrow.data(), length);
    int order = -1;  // little-endian: no mark of it is looked for
    return PyUnicode_DecodeUTF32(text, 4 * length, "surrogatepass", &order);
}

nb::object list_of(const View& view) {
    nb::object list = nb::steal(PyList_New(view.shape[0]));
    if (!list.is_valid()) throw_python_error();
    std::vector<char> narrow;
    const bool bytes = view.character == Character::kByte;
    const int64_t size = bytes ? 1 : 4;
    for (int64_t i = 0; i < view.shape[0]; ++i) {
        const char* const text = static_cast<const char*>(view.data) + i * view.strides[0];
        int64_t length = view.width;
        static constexpr char kZero[4] = {};
        while (length > 0 && std::memcmp(text + (length - 1) * size, kZero, static_cast<size_t>(size)) == 0)
            --length;
        PyObject* const item = bytes ? PyBytes_FromStringAndSize(text, length) : str_of(text, length, narrow);
        if (item == nullptr || PyList_SetItem(list.ptr(), i, item) != 0) throw_python_error();
    }
    return list;
}

void bind_order(nb::module_& m) {
    m.def(
        "_argsort_texts",
        [](nb::handle input, int64_t axis) {
            const TextBuffer given = texts_of(input);
            return wrap(on_texts(given.is_large(), [&] { return texts::argsort(given.view(), axis); }));
        },
        arg("input"), arg("axis"));
    m.def(
        "_sort_texts",
        [](nb::handle input, int64_t axis, nb::handle target) {
            const TextBuffer given = texts_of(input), to = target_of(target);
            check_same(given.view(), to);
            if (to.view().shape != given.view().shape || to.view().width != given.view().width)
                throw ValueError("sorted texts go into an array of their shape and width");
            on_texts(given.is_large(), [&] { texts::sort(given.view(), axis, to.target()); });
        },
        arg("input"), arg("axis"), arg("target"));
    m.def(
        "_unique_texts",
        [](nb::handle input, bool inverse, bool counts) {
            const TextBuffer given = texts_of(input);
            Unique found = on_texts(given.is_large(), [&] {
                return texts::unique(given.view(), {.inverse = inverse, .counts = counts});
            });
            const auto part = [](array& each) {
                return each.valid() ? wrap(std::move(each)) : nb::object(nb::none());
            };
            return nb::make_tuple(part(found.first), part(found.inverse), part(found.counts));
        },
        arg("input"), arg("inverse"), arg("counts"));
    m.def(
        "_take_texts",
        [](nb::handle input, nb::handle positions, nb::handle target) {
            const TextBuffer given = texts_of(input), to = target_of(target);
            check_same(given.view(), to);
            const array wanted = to_array(positions);
            if (wanted.dtype() != DType(ScalarType::kInt64) || to.view().shape.size() != 1 ||
                to.view().shape[0] != wanted.size() || to.view().width != given.view().width)
                throw ValueError("texts are taken at positions into an array for as many");
            on_texts(given.is_large(), [&] { texts::take(given.view(), wanted, to.target()); });
        },
        arg("input"), arg("positions"), arg("target"));
    m.def(
        "_searchsorted_texts",
        [](nb::handle sorted, nb::handle values, bool right) {
            const TextBuffer among = texts_of(sorted), wanted = texts_of(values);
            return wrap_result(on_texts(among.is_large() || wanted.is_large(), [&] {
                return texts::searchsorted(among.view(), wanted.view(), right);
            }));
        },
        arg("sorted"), arg("values"), arg("right"));
    m.def(
        "_isin_texts",
        [](nb::handle element, nb::handle tests, bool invert) {
            const TextBuffer elements = texts_of(element), wanted = texts_of(tests);
            return wrap(on_texts(elements.is_large() || wanted.is_large(),
                                 [&] { return texts::isin(elements.view(), wanted.view(), invert); }));
        },
        arg("element"), arg("tests"), arg("invert"));
}

void bind_contents(nb::module_& m) {
    m.def(
        "_compare_texts",
        [](nb::handle first, nb::handle second, int comparison) {
            const TextBuffer a = texts_of(first), b = texts_of(second);
            return wrap_result(on_texts(a.is_large() || b.is_large(), [&] {
                return texts::compare(a.view(), b.view(), static_cast<texts::Comparison>(comparison));
            }));
        },
        arg("first"), arg("second"), arg("comparison"));
    m.def(
        "_length_of_texts",
        [](nb::handle input) {
            const TextBuffer given = texts_of(input);
            return wrap_result(on_texts(given.is_large(), [&] { return texts::str_len(given.view()); }));
        },
        arg("input"));
    m.def(
        "_find_in_texts",
        [](nb::handle input, nb::handle wanted, int what) {
            const TextBuffer a = texts_of(input), b = texts_of(wanted);
            return wrap_result(on_texts(a.is_large() || b.is_large(), [&] {
                switch (what) {
                    case 0: return texts::find(a.view(), b.view());
                    case 1: return texts::find(a.view(), b.view(), true);
                    case 2: return texts::count(a.view(), b.view());
                    default: return texts::startswith(a.view(), b.view(), what == 4);
                }
            }));
        },
        arg("input"), arg("wanted"), arg("what"));
    m.def(
        "_add_texts",
        [](nb::handle first, nb::handle second, nb::handle target) {
            const TextBuffer a = texts_of(first), b = texts_of(second), to = target_of(target);
            check_same(a.view(), to);
            on_texts(to.is_large(), [&] { texts::add(a.view(), b.view(), to.target()); });
        },
        arg("first"), arg("second"), arg("target"));
    m.def(
        "_strip_texts",
        [](nb::handle input, nb::handle removed, int ends, nb::handle target) {
            const TextBuffer given = texts_of(input), to = target_of(target);
            check_same(given.view(), to);
            std::optional<TextBuffer> characters;
            if (!removed.is_none()) characters.emplace(texts_of(removed));
            on_texts(given.is_large(), [&] {
                texts::strip(given.view(), characters ? &characters->view() : nullptr,
                             static_cast<texts::Ends>(ends), to.target());
            });
        },
        arg("input"), arg("removed").none(), arg("ends"), arg("target"));
    m.def(
        "_change_case_of_texts",
        [](nb::handle input, int as, nb::handle target) {
            const TextBuffer given = texts_of(input), to = target_of(target);
            check_same(given.view(), to);
            return wrap(on_texts(given.is_large(), [&] {
                return texts::change_case(given.view(), static_cast<texts::Case>(as), to.target());
            }));
        },
        arg("input"), arg("as"), arg("target"));
}

void bind_lists(nb::module_& m) {
    // The dtype of a list of str, or of bytes; None for other lists.
    m.def(
        "_dtype_of_texts",
        [](nb::handle list) -> nb::object {
            const std::optional<ListedTexts> found = listed_texts(list);
            if (!found) return nb::none();
            const char* const kind = found->character == Character::kByte ? "S" : "U";
            return nb::str((kind + std::to_string(found->width)).c_str());
        },
        arg("list"));
    m.def(
        "_write_texts",
        [](nb::handle list, nb::handle target) {
            const TextBuffer to = target_of(target);
            const View& view = to.view();
            const std::optional<ListedTexts> found = listed_texts(list);  // it may have changed
            if (!found || found->character != view.character || found->width > view.width ||
                view.shape.size() != 1 || found->count != view.shape[0])
                throw ValueError("a list of texts goes into an array for as many, wide enough");
            const Target target_memory = to.target();
            for (Py_ssize_t i = 0; i < found->count; ++i)
                write_text(PyList_GetItem(list.ptr(), i), view.character,
                           static_cast<char*>(target_memory.data) + i * view.strides[0], view.width);
        },
        arg("list"), arg("target"));
    m.def(
        "_list_of_texts",
        [](nb::handle input) {
            const TextBuffer given = texts_of(input);
            if (given.view().shape.size() != 1) throw ValueError("a list is of texts along one axis");
            return list_of(given.view());
        },
        arg("input"));
}

}  // namespace

void bind_texts(nb::module_& m) {
    bind_order(m);
    bind_contents(m);
    bind_lists(m);
}

}  // namespace weft::python
