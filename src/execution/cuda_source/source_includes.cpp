#include "execution/cuda_source/source_includes.h"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "codegen/cache/digest.h"
#include "core/cuda_files.h"

namespace weft {

namespace {

namespace files = std::filesystem;

constexpr size_t kMostHeaders = 4096;

std::string_view without_spaces(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

struct Include {
    std::string name;
    bool is_quoted = false;
};

// What a text includes, or asks for with __has_include. False: some name is made by a macro.
bool includes_in(std::string_view text, std::vector<Include>& found) {
    bool complete = true;
    const auto add = [&](std::string_view rest) {
        rest = without_spaces(rest);
        const char open = rest.empty() ? '\0' : rest.front();
        if (open != '"' && open != '<') {
            complete = false;
            return;
        }
        const size_t end = rest.find(open == '"' ? '"' : '>', 1);
        if (end != std::string_view::npos)
            found.push_back({std::string(rest.substr(1, end - 1)), open == '"'});
    };
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = without_spaces(text.substr(begin, end - begin));
        begin = end + 1;
        if (line.empty() || line.front() != '#') continue;
        line = without_spaces(line.substr(1));
        if (line.starts_with("include")) {
            constexpr std::string_view kNext = "include_next", kPlain = "include";
            add(line.substr((line.starts_with(kNext) ? kNext : kPlain).size()));
        }
        constexpr std::string_view kAsks = "__has_include(";
        for (size_t at = line.find(kAsks); at != std::string_view::npos; at = line.find(kAsks, at + 1))
            add(line.substr(at + kAsks.size()));
    }
    return complete;
}

std::string contents_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool is_file(const std::string& path) {
    std::error_code ignored;
    return files::is_regular_file(path, ignored);
}

}  // namespace

ReadHeaders read_headers(std::span<const std::string> sources, std::span<const std::string> folders,
                         std::span<const std::string> toolkit) {
    struct Text {
        std::string text, folder;
    };
    ReadHeaders read;
    std::string told;
    std::deque<Text> left;
    for (const std::string& source : sources) left.push_back({source, "."});
    std::set<std::string> seen;
    while (!left.empty()) {
        const Text current = std::move(left.front());
        left.pop_front();
        std::vector<Include> included;
        read.complete = includes_in(current.text, included) && read.complete;
        for (const Include& each : included) {
            std::vector<std::string> places;
            if (each.name.starts_with("/")) places.emplace_back("");
            if (each.is_quoted) places.push_back(current.folder);
            places.insert(places.end(), folders.begin(), folders.end());
            std::string found;
            for (const std::string& place : places) {
                std::string path = place.empty() ? each.name : place + "/" + each.name;
                if (found.empty() && is_file(path)) found = std::move(path);
            }
            // What is not found is of the toolkit, of the compiler, or missing until somebody writes it.
            if (!seen.insert(found.empty() ? each.name : found).second) continue;
            if (found.empty()) {
                told += "elsewhere " + each.name + "\n";
                continue;
            }
            if (seen.size() > kMostHeaders) return {"", false};
            Text header{contents_of(found), files::path(found).parent_path().string()};
            told += found + " " + codegen::hexadecimal(codegen::digest_of({header.text})) + "\n";
            left.push_back(std::move(header));
        }
    }
    for (const std::string& folder : toolkit) {
        for (const char* const header : {"/cuda.h", "/cuda/std/__cccl/version.h", "/cupy/complex.cuh"})
            told += file_stamp(folder + header) + "\n";
    }
    read.digest = codegen::hexadecimal(codegen::digest_of({told}));
    return read;
}

std::vector<std::string> include_folders_in(std::span<const std::string> options) {
    std::vector<std::string> folders;
    for (size_t k = 0; k < options.size(); ++k) {
        const std::string& option = options[k];
        for (const std::string_view name : {"--include-path", "-isystem", "-I"}) {
            if (!option.starts_with(name)) continue;
            std::string_view rest = std::string_view(option).substr(name.size());
            if (rest.starts_with("=")) rest.remove_prefix(1);
            if (rest.empty() && k + 1 < options.size()) rest = options[k + 1];
            folders.emplace_back(without_spaces(rest));
            break;
        }
    }
    return folders;
}

std::vector<std::string> toolkit_folders() {
    struct Headers {
        const char* some;                                  // one that tells the folder
        std::vector<std::string> in_toolkit, in_packages;  // folders
    };
    static const std::array<Headers, 3> kHeaders{{
        {"/cuda_runtime.h", {"include"}, {"nvidia/cu13/include", "nvidia/cuda_runtime/include"}},
        {"/cuda/std/complex",
         {"include/cccl", "include"},
         {"nvidia/cu13/include/cccl", "nvidia/cuda_cccl/include", "nvidia/cuda_cccl/include/cccl",
          "cupy/_core/include/cupy/_cccl/libcudacxx", "cuda/cccl/headers/include"}},
        {"/cupy/complex.cuh", {}, {"cupy/_core/include"}},
    }};
    std::vector<std::string> found;
    for (const Headers& each : kHeaders) {
        const auto files_in = [&](const std::vector<std::string>& folders) {
            std::vector<std::string> files;
            for (const std::string& folder : folders) files.push_back(folder + each.some);
            return files;
        };
        const std::vector<std::string> in_toolkit = files_in(each.in_toolkit),
                                       in_packages = files_in(each.in_packages);
        const std::vector<std::string_view> toolkit(in_toolkit.begin(), in_toolkit.end()),
            packages(in_packages.begin(), in_packages.end());
        const std::string file = find_cuda_file(toolkit, packages);
        if (!file.empty()) found.push_back(file.substr(0, file.size() - std::string_view(each.some).size()));
    }
    return found;
}

}  // namespace weft
