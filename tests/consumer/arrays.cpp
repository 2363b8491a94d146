// For tests: reads requests, one a line, and answers each. An array is its dtype, its number of dimensions,
// its extents and its bytes in hexadecimal.
//
//     print ARRAY                 str() and repr(), each ended by a line of "--"
//     einsum TEXT COUNT ARRAY...  dtype, extents and bytes of the result, or the error
//     mean|var|std AXIS ARRAY     the same
#include <weft/weft.h>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

weft::array read_array(std::istream& stream) {
    std::string dtype, digits;
    size_t ndim = 0;
    stream >> dtype >> ndim;
    weft::Dims shape(ndim);
    for (int64_t& extent : shape) stream >> extent;
    stream >> digits;  // begins with an x
    std::vector<unsigned char> bytes;
    for (size_t k = 1; k + 1 < digits.size(); k += 2)
        bytes.push_back(static_cast<unsigned char>(std::stoi(digits.substr(k, 2), nullptr, 16)));
    return weft::reshape(weft::view(weft::array(bytes), weft::DType::parse(dtype)), shape);
}

void write_array(const weft::array& result) {
    std::cout << result.dtype() << ' ' << result.shape() << " x";
    std::vector<unsigned char> bytes(static_cast<size_t>(result.nbytes()));
    weft::copy_out(result, bytes.data());
    const char* digits = "0123456789abcdef";
    for (const unsigned char byte : bytes) std::cout << digits[byte / 16] << digits[byte % 16];
    std::cout << '\n';
}

void answer(std::istream& request) {
    std::string word;
    request >> word;
    if (word == "print") {
        const weft::array given = read_array(request);
        std::cout << given << "\n--\n" << weft::to_repr(given) << "\n--\n";
    } else if (word == "einsum") {
        std::string text;
        size_t count = 0;
        request >> text >> count;
        std::vector<weft::array> operands;
        while (operands.size() < count) operands.push_back(read_array(request));
        write_array(weft::einsum(text, operands));
    } else {
        std::string axis;
        request >> axis;
        const weft::Axes axes = axis == "None" ? weft::Axes() : weft::Axes(std::stoi(axis));
        const weft::array given = read_array(request);
        write_array(word == "mean"  ? weft::mean(given, axes)
                    : word == "var" ? weft::var(given, axes, 1)
                                    : weft::std(given, axes));
    }
}

}  // namespace

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream request(line);
        try {
            answer(request);
        } catch (const weft::ValueError& error) {
            std::cout << "ValueError " << error.what() << '\n';
        }
    }
}
