#include "source_image.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/threads/fiber.h"

namespace weft::fake_driver {

namespace {

constexpr std::string_view kCubin{"\177ELFfake cubin by clang\276\0", 24};  // \276 is where ELF has EM_CUDA
constexpr std::string_view kLtoIr{"\355CN\177fake code to be linked", 24};
constexpr size_t kHead = 24, kMachine = 18;

// The threads of the block that runs.
struct Block {
    std::vector<void*> places;  // of fibers; null: ended
    void* scheduler = nullptr;
    size_t current = 0;
    const SourceEntry* kernel = nullptr;
    void** parameters = nullptr;
};
Block* running = nullptr;

void wait_for_block() { switch_fiber(&running->places[running->current], running->scheduler); }

void run_thread() {
    running->kernel->run(running->kernel->address, running->parameters);
    void* ended = nullptr;
    running->places[running->current] = nullptr;
    switch_fiber(&ended, running->scheduler);
}

}  // namespace

std::string wrap_image(ImageKind kind, std::string_view bytes) {
    std::string image(kind == ImageKind::kCubin ? kCubin : kLtoIr);
    if (kind == ImageKind::kCubin) image[kMachine] = static_cast<char>(190);
    const uint64_t size = bytes.size();
    image.append(reinterpret_cast<const char*>(&size), sizeof size);
    return image.append(bytes);
}

std::string unwrap_image(const char* image) {
    std::string head(image, strnlen(image, kHead));
    head.resize(kHead);
    std::string cubin(kCubin);
    cubin[kMachine] = static_cast<char>(190);
    if (std::memcmp(image, cubin.data(), kMachine) != 0 && std::memcmp(image, kLtoIr.data(), kMachine) != 0)
        return "";
    uint64_t size = 0;
    std::memcpy(&size, image + kHead, sizeof size);
    return {image + kHead + sizeof size, size};
}

std::shared_ptr<const SourceImage> SourceImage::load(std::string_view library, std::string& error) {
    // Under a name that no other has: a library that is open under its name is not opened again.
    std::string path = (std::filesystem::temp_directory_path() / "weft-fake-module-XXXXXX").string();
    const int file = mkstemp(path.data());
    const bool is_written =
        file >= 0 && write(file, library.data(), library.size()) == static_cast<ssize_t>(library.size());
    void* const opened = is_written ? dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL) : nullptr;
    if (opened == nullptr) error = is_written ? dlerror() : "no file could be made";
    if (file >= 0) {
        close(file);
        unlink(path.c_str());
    }
    if (opened == nullptr) return nullptr;
    return std::shared_ptr<const SourceImage>(new SourceImage(opened));
}

SourceImage::~SourceImage() { dlclose(library_); }

std::vector<const SourceEntry*> SourceImage::entries() const {
    std::vector<const SourceEntry*> all;
    const auto* const first = static_cast<const SourceEntry* const*>(dlsym(library_, "weft_first_entry"));
    for (const SourceEntry* each = first != nullptr ? *first : nullptr; each != nullptr; each = each->next)
        all.push_back(each);
    return all;
}

std::string SourceImage::symbol_of(const SourceEntry& entry) {
    Dl_info info{};
    return dladdr(entry.address, &info) != 0 && info.dli_sname != nullptr ? info.dli_sname : "";
}

const SourceEntry* SourceImage::kernel(const std::string& symbol) const {
    for (const SourceEntry* each : entries()) {
        if (each->run != nullptr && symbol_of(*each) == symbol) return each;
    }
    return nullptr;
}

SourceImage::Variable SourceImage::variable(const std::string& symbol) const {
    void* const address = dlsym(library_, symbol.c_str());
    if (address == nullptr) return {};
    Dl_info info{};
    const ElfW(Sym)* found = nullptr;
    if (dladdr1(address, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&found)), RTLD_DL_SYMENT) ==
            0 ||
        found == nullptr)
        return {};
    return {address, static_cast<size_t>(found->st_size)};
}

void SourceImage::run(const SourceEntry& kernel, void** parameters, const std::array<unsigned, 3>& grid,
                      const std::array<unsigned, 3>& block) const {
    const auto place = [&](const char* name) { return static_cast<SourcePlace*>(dlsym(library_, name)); };
    SourcePlace &thread = *place("threadIdx"), &of_grid = *place("blockIdx");
    *place("gridDim") = {grid[0], grid[1], grid[2]};
    *place("blockDim") = {block[0], block[1], block[2]};
    *static_cast<void (**)()>(dlsym(library_, "weft_wait_for_block")) = &wait_for_block;
    const size_t threads = size_t{block[0]} * block[1] * block[2];
    const FiberStacks stacks(threads);
    Block own;
    own.kernel = &kernel;
    own.parameters = parameters;
    running = &own;
    for (unsigned number = 0; number < grid[0] * grid[1] * grid[2]; ++number) {
        of_grid = {number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]};
        own.places.resize(threads);
        for (size_t t = 0; t < threads; ++t)
            own.places[t] = prepare_fiber(stacks.stack(t), FiberStacks::kBytes, run_thread);
        for (bool alive = true; alive;) {
            alive = false;
            // The last thread first: a missing barrier shows.
            for (size_t t = threads; t-- > 0;) {
                if (own.places[t] == nullptr) continue;
                thread = {static_cast<unsigned>(t % block[0]), static_cast<unsigned>(t / block[0] % block[1]),
                          static_cast<unsigned>(t / block[0] / block[1])};
                own.current = t;
                switch_fiber(&own.scheduler, own.places[t]);
                alive = true;
            }
        }
    }
    running = nullptr;
}

}  // namespace weft::fake_driver
