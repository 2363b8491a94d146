// Classes of exceptions as numbers, so that compiled code can tell which error it has caught.
//
// Where a program catches errors, the number of an error has the number of its class above kErrorBits bits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::lang {

struct Symbol;
struct Site;

constexpr int kErrorBits = 20;
constexpr uint32_t kMostErrors = (1U << kErrorBits) - 1;

// Which of Lowered::sites an error is.
constexpr uint32_t site_of_error(uint32_t error) { return error & kMostErrors; }

class ExceptionClasses {
public:
    ExceptionClasses();
    uint32_t of(const Site& site);
    // Of a symbol that names one.
    std::string key_of(const Symbol& symbol);
    // The numbers of all that are of one of these classes, as far as they are known.
    std::vector<uint32_t> within(const std::vector<std::string>& keys) const;
    bool is_within(uint32_t number, const std::vector<std::string>& keys) const;

private:
    uint32_t number_of(const std::vector<std::string>& ancestors);

    std::map<std::string, uint32_t> numbers_;
    std::vector<std::vector<std::string>> ancestors_;  // by number, each class itself first
};

}  // namespace weft::lang
