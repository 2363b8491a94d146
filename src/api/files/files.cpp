#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <ostream>
#include <system_error>

#include "graph/placement.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/errors.h"
#include "weft/files.h"

namespace weft {

namespace {

static_assert(std::endian::native == std::endian::little, "lengths and elements are read as they lie");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;
constexpr size_t kRoomToGrow = 21;            // digits, for the longest axis to become longer in place
constexpr uint32_t kLongestHeader = 10000;    // bytes, as NumPy reads of files it does not trust
constexpr int64_t kPiece = int64_t{1} << 24;  // bytes that are asked for before others have come

template <class Stream>
Stream opened(const std::string& file, std::ios::openmode mode) {
    errno = 0;
    Stream stream(file, mode | std::ios::binary);
    if (!stream) throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(), file);
    return stream;
}

std::string read_exactly(std::istream& stream, size_t count, const char* what) {
    std::string bytes(count, '\0');
    stream.read(bytes.data(), static_cast<std::streamsize>(count));
    if (static_cast<size_t>(stream.gcount()) < count)
        throw ValueError(std::string("EOF: reading ") + what + ", expected " + std::to_string(count) +
                         " bytes got " + std::to_string(stream.gcount()));
    return bytes;
}

/// How many bytes a stream still has; -1 where it cannot seek.
int64_t bytes_left(std::istream& stream) {
    const auto here = stream.tellg();
    if (here == std::streampos(-1)) return stream.clear(), -1;
    stream.seekg(0, std::ios::end);
    const auto end = stream.tellg();
    stream.seekg(here);
    return static_cast<int64_t>(end - here);
}

[[noreturn]] void throw_short(int64_t expected, int64_t got) {
    throw ValueError("EOF: reading array data, expected " + std::to_string(expected) + " bytes got " +
                     std::to_string(got));
}

array read_elements(std::istream& stream, int64_t count, DType dtype) {
    const int64_t expected = count * dtype.itemsize(), left = bytes_left(stream);
    if (left >= 0 && left < expected) throw_short(expected, left);
    if (array result = left >= 0 ? empty(Shape(count), dtype) : array();
        result.valid() && device_of(result).is_cpu()) {
        const HostView memory(result, true);
        stream.read(memory.data(), expected);
        if (stream.gcount() < expected) throw_short(expected, stream.gcount());
        return result;
    }
    std::string bytes;
    while (static_cast<int64_t>(bytes.size()) < expected) {
        const size_t before = bytes.size();
        bytes.resize(before + static_cast<size_t>(std::min(kPiece, expected - static_cast<int64_t>(before))));
        stream.read(bytes.data() + before, static_cast<std::streamsize>(bytes.size() - before));
        if (static_cast<size_t>(stream.gcount()) < bytes.size() - before)
            throw_short(expected, static_cast<int64_t>(before) + stream.gcount());
    }
    return creation::from_elements(bytes.data(), static_cast<size_t>(count), dtype, Shape(count));
}

void write_elements(std::ostream& stream, const array& arr) {
    if (arr.size() == 0) return;
    if (arr.c_contiguous() && device_of(arr).is_cpu()) {
        const HostView memory(arr);
        stream.write(memory.data(), arr.nbytes());
        return;
    }
    std::string bytes(static_cast<size_t>(arr.nbytes()), '\0');
    copy_out(arr, bytes.data());
    stream.write(bytes.data(), arr.nbytes());
}

void check_written(const std::ostream& stream, const std::string& file) {
    if (!stream) throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(), file);
}

bool is_fortran(const array& arr) { return arr.f_contiguous() && !arr.c_contiguous(); }

}  // namespace

std::string npy_header(const array& arr) {
    const bool fortran = is_fortran(arr);
    std::string shape = "(";
    for (const int64_t extent : arr.shape()) shape += std::to_string(extent) + ", ";
    if (arr.ndim() == 1) shape.pop_back();  // (3,)
    if (arr.ndim() > 1) shape.resize(shape.size() - 2);
    std::string text = "{'descr': '";
    text += arr.dtype() == DType(ScalarType::kBFloat16) ? "<V2" : arr.dtype().str();
    text +=
        std::string("', 'fortran_order': ") + (fortran ? "True" : "False") + ", 'shape': " + shape + "), }";
    if (arr.ndim() > 0) {
        const int64_t longest = fortran ? arr.shape().back() : arr.shape()[0];
        text.append(kRoomToGrow - std::to_string(longest).size(), ' ');
    }
    const size_t before = kMagic.size() + 4;  // with the version and the length
    text.append(kAlignment - (before + text.size() + 1) % kAlignment, ' ');
    text += '\n';
    const auto length = static_cast<uint16_t>(text.size());  // 64 extents of 20 digits are far below 65536
    std::string header(kMagic);
    header += '\1';
    header += '\0';
    header += static_cast<char>(length & 0xff);
    header += static_cast<char>(length >> 8);
    return header + text;
}

void save(std::ostream& stream, const array& arr) {
    const std::string header = npy_header(arr);
    stream.write(header.data(), static_cast<std::streamsize>(header.size()));
    write_elements(stream, is_fortran(arr) ? transpose(arr) : arr);
}

void save(const std::string& file, const array& arr) {
    const std::string path = file.ends_with(".npy") ? file : file + ".npy";
    auto stream = opened<std::ofstream>(path, std::ios::out);
    save(stream, arr);
    stream.flush();
    check_written(stream, path);
}

array load(std::istream& stream) {
    const std::string magic = read_exactly(stream, kMagic.size() + 2, "magic string");
    if (!magic.starts_with(kMagic)) throw ValueError("the magic string of an npy file is not there");
    const int major = magic[kMagic.size()], minor = magic[kMagic.size() + 1];
    if (major < 1 || major > 3 || minor != 0)
        throw ValueError("we only support format version (1,0), (2,0), and (3,0), not (" +
                         std::to_string(major) + ", " + std::to_string(minor) + ")");
    const std::string bytes = read_exactly(stream, major == 1 ? 2 : 4, "array header length");
    uint32_t length = 0;
    std::memcpy(&length, bytes.data(), bytes.size());
    if (length > kLongestHeader)
        throw ValueError("Header info length (" + std::to_string(length) +
                         ") is large and may not be safe to load securely.");
    const std::string text = read_exactly(stream, length, "array header");
    const NpyHeader header = parse_npy_header(text);
    const DType dtype = header.dtype();
    int64_t count = 1, room = dtype.itemsize();
    for (const int64_t extent : header.shape) {
        if (__builtin_mul_overflow(room, std::max<int64_t>(extent, 1), &room))
            throw ValueError("the array would have more bytes than memory has addresses");
        count *= extent;
    }
    const array flat = read_elements(stream, count, dtype);
    if (!header.fortran_order) return reshape(flat, Shape(header.shape));
    Dims reversed(header.shape.size());
    std::reverse_copy(header.shape.begin(), header.shape.end(), reversed.begin());
    return transpose(reshape(flat, Shape(reversed)));
}

array load(const std::string& file) {
    auto stream = opened<std::ifstream>(file, std::ios::in);
    return load(stream);
}

array fromfile(const std::string& file, DType dtype, int64_t count, int64_t offset) {
    auto stream = opened<std::ifstream>(file, std::ios::in);
    stream.seekg(offset);
    const int64_t there = std::max<int64_t>(0, bytes_left(stream)) / dtype.itemsize();
    return read_elements(stream, count < 0 ? there : std::min(count, there), dtype);
}

void tofile(const array& arr, const std::string& file) {
    auto stream = opened<std::ofstream>(file, std::ios::out);
    write_elements(stream, arr);
    stream.flush();
    check_written(stream, file);
}

}  // namespace weft
