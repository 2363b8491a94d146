// The bytes behind the kernel cache: damage of every kind, kills, many processes, limits, a system that
// refuses.
#include "codegen/cache/disk_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "codegen/cache/entry.h"
#include "codegen/cache/usage.h"
#include "support/cache_testing.h"

namespace weft::codegen {
namespace {

using testing_cache::entries_of;
using testing_cache::finish;
using testing_cache::kernels_name;
using testing_cache::mode_of;
using testing_cache::read_file;
using testing_cache::run_apart;
using testing_cache::start;
using testing_cache::TemporaryFolder;
using testing_cache::write_file;

constexpr int64_t kMegabyte = 1 << 20;

std::string random_bytes(size_t size, unsigned seed) {
    std::mt19937 engine(seed);
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(engine());
    return bytes;
}

class DiskCacheTest : public ::testing::Test {
protected:
    std::string kernels() const { return path() + "/" + kernels_name(); }
    std::string path() const { return top_ / "weft"; }
    std::string only_entry() const {
        const std::vector<std::string> entries = entries_of(path());
        EXPECT_EQ(entries.size(), 1U);
        return entries.empty() ? "" : entries.front();
    }
    int64_t bytes_on_disk() const {
        int64_t bytes = 0;
        for (const std::string& entry : entries_of(path()))
            bytes += static_cast<int64_t>(std::filesystem::file_size(entry));
        return bytes;
    }
    int temporaries() const {
        int count = 0;
        for (const auto& file : std::filesystem::directory_iterator(kernels()))
            count += file.path().filename().string().starts_with(kTemporaryPrefix);
        return count;
    }

    TemporaryFolder top_;
    DiskCacheCounts counts_;
    DiskCache cache_{path(), 64 * kMegabyte, counts_};
};

TEST_F(DiskCacheTest, GivesBackWhatWasStored) {
    EXPECT_EQ(cache_.find("key"), std::nullopt);
    EXPECT_FALSE(std::filesystem::exists(path()));  // looking creates nothing
    const std::string odd_key("a\0b\n\xff", 5);
    cache_.store("key", "bytes");
    cache_.store(odd_key, std::string(100000, '\0'));
    cache_.store("", "");
    EXPECT_EQ(cache_.find("key"), "bytes");
    EXPECT_EQ(cache_.find(odd_key), std::string(100000, '\0'));
    EXPECT_EQ(cache_.find(""), "");
    EXPECT_EQ(cache_.find("other"), std::nullopt);
    cache_.store("key", "other bytes");
    EXPECT_EQ(cache_.find("key"), "other bytes");
    EXPECT_EQ(counts_.hits, 4);
    EXPECT_EQ(counts_.misses, 2);
    EXPECT_EQ(counts_.written, 4);
    EXPECT_EQ(cache_.contents().entries, 3);
    EXPECT_EQ(cache_.contents().bytes, bytes_on_disk());
    DiskCacheCounts others;
    DiskCache again(path(), 64 * kMegabyte, others);
    EXPECT_EQ(again.find("key"), "other bytes");
    EXPECT_EQ(again.clear(), 3);
    EXPECT_EQ(cache_.find("key"), std::nullopt);
    EXPECT_EQ(counts_.dropped + counts_.failed + others.dropped + others.failed, 0);
}

TEST_F(DiskCacheTest, FilesAreThisUsersAloneWhateverTheUmask) {
    for (const mode_t mask : {0, 0777}) {
        const mode_t before = umask(mask);
        cache_.store("key", "bytes");
        umask(before);
        EXPECT_EQ(mode_of(only_entry()), 0600);
        EXPECT_EQ(cache_.find("key"), "bytes");
    }
}

TEST_F(DiskCacheTest, DamageOfAnyByteIsFound) {
    const std::string bytes = random_bytes(600, 1);
    cache_.store("the key of a kernel", bytes);
    const std::string path = only_entry(), whole = read_file(path);
    ASSERT_GT(whole.size(), bytes.size());
    int64_t dropped = 0;
    for (size_t position = 0; position < whole.size(); ++position) {
        for (const int change : {0x01, 0x80, 0xff}) {
            std::string damaged = whole;
            damaged[position] = static_cast<char>(damaged[position] ^ change);
            write_file(path, damaged);
            ASSERT_EQ(cache_.find("the key of a kernel"), std::nullopt) << position;
            ASSERT_EQ(counts_.dropped, ++dropped);
            ASSERT_FALSE(std::filesystem::exists(path));
        }
        cache_.store("the key of a kernel", bytes);
        ASSERT_EQ(cache_.find("the key of a kernel"), bytes);
    }
}

TEST_F(DiskCacheTest, AnyOtherLengthIsFound) {
    const std::string bytes = random_bytes(600, 2);
    cache_.store("key", bytes);
    const std::string path = only_entry(), whole = read_file(path);
    for (size_t length = 0; length < whole.size(); ++length) {
        write_file(path, whole.substr(0, length));
        ASSERT_EQ(cache_.find("key"), std::nullopt) << length;
        ASSERT_FALSE(std::filesystem::exists(path));
        write_file(path, whole.substr(0, length) + std::string(whole.size() - length, '\0'));
        ASSERT_EQ(cache_.find("key"), std::nullopt) << length;  // as a power cut may leave it
    }
    for (const std::string& more : {std::string(1, '\0'), std::string(100, 'x'), whole}) {
        write_file(path, whole + more);
        ASSERT_EQ(cache_.find("key"), std::nullopt);
    }
    write_file(path, "");
    ASSERT_EQ(truncate(path.c_str(), off_t{1} << 40), 0);  // a hole: larger than memory
    EXPECT_EQ(cache_.find("key"), std::nullopt);
    EXPECT_FALSE(std::filesystem::exists(path));
    cache_.store("key", bytes);
    EXPECT_EQ(cache_.find("key"), bytes);
}

TEST_F(DiskCacheTest, SwappedEntriesAreFound) {
    cache_.store("a", "bytes of a");
    const std::string a = only_entry();
    cache_.store("b", "bytes of b");
    std::vector<std::string> both = entries_of(path());
    const std::string b = both[0] == a ? both[1] : both[0];
    std::filesystem::rename(a, top_ / "aside");
    std::filesystem::rename(b, a);
    std::filesystem::rename(top_ / "aside", b);
    EXPECT_EQ(cache_.find("a"), std::nullopt);
    EXPECT_EQ(cache_.find("b"), std::nullopt);
    EXPECT_EQ(counts_.dropped, 2);
    cache_.store("a", "bytes of a");
    EXPECT_EQ(cache_.find("a"), "bytes of a");
}

TEST_F(DiskCacheTest, WhatIsNoFileIsRemoved) {
    cache_.store("key", "bytes");
    const std::string path = only_entry(), whole = read_file(path);
    write_file(top_ / "elsewhere", whole);
    const std::vector<std::function<void()>> replacements = {
        [&] { ASSERT_EQ(symlink((top_ / "elsewhere").c_str(), path.c_str()), 0); },
        [&] { ASSERT_EQ(symlink("/dev/zero", path.c_str()), 0); },
        [&] { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); },
        [&] { ASSERT_EQ(mkdir(path.c_str(), 0700), 0); },
        [&] {
            write_file(path, whole);
            if (geteuid() == 0) {
                ASSERT_EQ(chown(path.c_str(), 54321, 0), 0);
            } else {
                ASSERT_EQ(chmod(path.c_str(), 0), 0);
            }
        },
    };
    int64_t dropped = 0;
    for (const auto& replace : replacements) {
        std::filesystem::remove(path);
        replace();
        EXPECT_EQ(cache_.find("key"), std::nullopt);
        EXPECT_EQ(counts_.dropped, ++dropped);
        cache_.store("key", "bytes");
        EXPECT_EQ(cache_.find("key"), "bytes");
    }
    EXPECT_EQ(read_file(top_ / "elsewhere"), whole);
    // A folder with something in it stays, and is no harm.
    std::filesystem::remove(path);
    std::filesystem::create_directories(path + "/inner");
    EXPECT_EQ(cache_.find("key"), std::nullopt);
    cache_.store("key", "bytes");
    EXPECT_EQ(cache_.find("key"), std::nullopt);
    EXPECT_GE(counts_.failed, 1);
}

TEST_F(DiskCacheTest, KeepsWithinItsLimit) {
    constexpr int64_t kLimit = 200000;
    DiskCache small(path(), kLimit, counts_);
    for (unsigned k = 0; k < 500; ++k) {
        const std::string key = "key " + std::to_string(k), bytes = random_bytes(1000 + 37 * (k % 50), k);
        small.store(key, bytes);
        ASSERT_LE(bytes_on_disk(), kLimit);
        ASSERT_EQ(small.find(key), bytes);
    }
    EXPECT_GT(bytes_on_disk(), kLimit / 2);
    EXPECT_EQ(counts_.evicted, 500 - static_cast<int64_t>(entries_of(path()).size()));
    // Listing the folder is dear; with room for a quarter of the limit it is rare.
    small.store("large", random_bytes(static_cast<size_t>(kLimit), 0));
    EXPECT_EQ(small.find("large"), std::nullopt);
    small.store("nearly as large", random_bytes(static_cast<size_t>(kLimit) - 100, 0));
    EXPECT_NE(small.find("nearly as large"), std::nullopt);
    EXPECT_LE(bytes_on_disk(), kLimit);
}

TEST_F(DiskCacheTest, KeepsWhatWasUsedLast) {
    DiskCache small(path(), 20000, counts_);
    std::vector<std::string> files;
    for (int k = 0; k < 10; ++k) {
        small.store(std::to_string(k), std::string(1000, 'x'));
        for (const std::string& file : entries_of(path())) {
            if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
        }
        // Written ten, nine, ... hours ago.
        const timespec times[2] = {{time(nullptr) - 3600 * (10 - k), 0},
                                   {time(nullptr) - 3600 * (10 - k), 0}};
        ASSERT_EQ(utimensat(AT_FDCWD, files.back().c_str(), times, 0), 0);
    }
    EXPECT_NE(small.find("0"), std::nullopt);  // the oldest, but used now
    small.store("more", std::string(12000, 'y'));
    EXPECT_NE(small.find("0"), std::nullopt);
    EXPECT_NE(small.find("9"), std::nullopt);
    EXPECT_EQ(small.find("1"), std::nullopt);
    EXPECT_EQ(small.find("2"), std::nullopt);
    EXPECT_NE(small.find("more"), std::nullopt);
}

TEST_F(DiskCacheTest, DamageOfTheCountCostsNothingButAList) {
    constexpr int64_t kLimit = 20000;
    DiskCache small(path(), kLimit, counts_);
    for (int k = 0; k < 10; ++k) small.store(std::to_string(k), std::string(1000, 'x'));
    const std::string usage = kernels() + "/" + kUsageName, whole = read_file(usage);
    ASSERT_EQ(whole.size(), 56U);
    const int descriptor = open(kernels().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int64_t right = UsageFile(descriptor).bytes();
    EXPECT_EQ(right, bytes_on_disk());
    for (size_t position = 0; position < whole.size(); ++position) {
        std::string damaged = whole;
        damaged[position] = static_cast<char>(damaged[position] ^ 0x40);
        write_file(usage, damaged);
        small.store("0", std::string(1000, 'x'));
        const UsageFile file(descriptor);
        ASSERT_EQ(file.state(), UsageFile::State::kCurrent) << position;
        ASSERT_GE(file.bytes(), right);
        ASSERT_LE(file.bytes(), right + 2000);
    }
    const std::vector<std::function<void()>> replacements = {
        [&] { write_file(usage, ""); },
        [&] { std::filesystem::remove(usage); },
        [&] {
            std::filesystem::remove(usage);
            ASSERT_EQ(symlink((top_ / "elsewhere").c_str(), usage.c_str()), 0);
        },
        [&] {
            std::filesystem::remove(usage);
            ASSERT_EQ(mkfifo(usage.c_str(), 0600), 0);
        },
        [&] {
            std::filesystem::remove(usage);
            std::filesystem::create_directories(usage);
        },
    };
    for (const auto& replace : replacements) {
        replace();
        for (int k = 0; k < 50; ++k) {
            small.store("more " + std::to_string(k), std::string(1000, 'x'));
            ASSERT_LE(bytes_on_disk(), kLimit);
        }
    }
    EXPECT_FALSE(std::filesystem::exists(top_ / "elsewhere"));
    close(descriptor);
}

TEST_F(DiskCacheTest, WaitsForNobody) {
    cache_.store("key", "bytes");
    const int usage = open((kernels() + "/" + kUsageName).c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(flock(usage, LOCK_EX), 0);
    alarm(20);  // a process that holds the lock may be stopped for ever
    for (int k = 0; k < 100; ++k) cache_.store(std::to_string(k), "bytes");
    EXPECT_EQ(cache_.find("99"), "bytes");
    alarm(0);
    close(usage);
    cache_.store("last", "bytes");
    const int descriptor = open(kernels().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_EQ(UsageFile(descriptor).bytes(), bytes_on_disk());  // nothing was forgotten
    close(descriptor);
}

TEST_F(DiskCacheTest, LeftoversOfTheDeadAreRemovedAndThoseOfTheLivingNot) {
    cache_.store("key", "bytes");
    write_file(kernels() + "/" + kTemporaryPrefix + "dead", "half an ent");
    const std::string living = kernels() + "/" + kTemporaryPrefix + "living";
    write_file(living, "half an ent");
    const int writer = open(living.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(flock(writer, LOCK_EX), 0);
    EXPECT_EQ(cache_.contents().entries, 1);
    EXPECT_EQ(temporaries(), 1);
    EXPECT_TRUE(std::filesystem::exists(living));
    close(writer);
    EXPECT_EQ(cache_.clear(), 1);
    EXPECT_EQ(temporaries(), 0);
}

TEST_F(DiskCacheTest, FilesOfOthersAreLeftAlone) {
    DiskCache small(path(), 5000, counts_);
    small.store("key", "bytes");
    write_file(kernels() + "/notes.txt", std::string(10000, 'x'));
    for (int k = 0; k < 20; ++k) small.store(std::to_string(k), std::string(1000, 'x'));
    small.clear();
    EXPECT_TRUE(std::filesystem::exists(kernels() + "/notes.txt"));
}

// Writers that are killed at any moment leave whole entries or none.
TEST_F(DiskCacheTest, TwoThousandKillsInMidWrite) {
    constexpr int kKills = 2000, kAtOnce = 8, kKeys = 16;
    const auto bytes_of = [](int key) { return random_bytes(200000 + 1000 * static_cast<size_t>(key), 7U); };
    std::vector<std::string> bytes;
    for (int key = 0; key < kKeys; ++key) bytes.push_back(bytes_of(key));
    cache_.store("0", bytes[0]);
    std::mt19937 engine(3);
    int left_behind = 0, most_left = 0;
    for (int kill_number = 0; kill_number < kKills; kill_number += kAtOnce) {
        std::vector<pid_t> writers;
        for (int k = 0; k < kAtOnce; ++k) {
            const auto first = static_cast<int>(engine());
            writers.push_back(start([&] {
                DiskCacheCounts counts;
                DiskCache cache(path(), 64 * kMegabyte, counts);
                for (unsigned turn = static_cast<unsigned>(first);; ++turn) {
                    const auto key = static_cast<size_t>(turn % kKeys);
                    cache.store(std::to_string(key), bytes[key]);
                }
                return 0;
            }));
        }
        for (const pid_t writer : writers) {
            std::this_thread::sleep_for(std::chrono::microseconds(engine() % 800));
            kill(writer, SIGKILL);
        }
        for (const pid_t writer : writers) {
            const int status = finish(writer);
            ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        }
        for (int key = 0; key < kKeys; key += 5) {
            const std::optional<std::string> found = cache_.find(std::to_string(key));
            ASSERT_TRUE(!found || *found == bytes[static_cast<size_t>(key)]);
        }
        if (kill_number % 200 == 0) {
            most_left = std::max(most_left, temporaries());
            left_behind += temporaries();
            (void)cache_.contents();
            ASSERT_EQ(temporaries(), 0);
        }
    }
    EXPECT_EQ(counts_.dropped, 0);  // none was ever there in part
    EXPECT_EQ(counts_.failed, 0);
    EXPECT_GT(left_behind, 0) << "no kill hit a writer at its work";
    for (int key = 0; key < kKeys; ++key) {
        const auto index = static_cast<size_t>(key);
        cache_.store(std::to_string(key), bytes[index]);
        EXPECT_EQ(cache_.find(std::to_string(key)), bytes[index]);
    }
}

TEST_F(DiskCacheTest, SixtyFourProcessesAtOnce) {
    constexpr int kProcesses = 64, kKeys = 40, kTurns = 120;
    constexpr int64_t kLimit = 150000;  // less than all keys need: everybody evicts too
    const auto bytes_of = [](unsigned key) { return random_bytes(3000 + 100 * key, key); };
    std::vector<pid_t> processes;
    for (unsigned process = 0; process < kProcesses; ++process) {
        processes.push_back(start([&, process] {
            DiskCacheCounts counts;
            DiskCache cache(path(), kLimit, counts);
            std::mt19937 engine(process);
            for (int turn = 0; turn < kTurns; ++turn) {
                const unsigned key = engine() % kKeys;
                const std::optional<std::string> found = cache.find(std::to_string(key));
                if (found && *found != bytes_of(key)) return 1;
                if (!found) cache.store(std::to_string(key), bytes_of(key));
            }
            if (counts.dropped != 0) return 2;
            return counts.hits > 0 ? 0 : 3;
        }));
    }
    for (const pid_t process : processes) {
        const int status = finish(process);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    // Those that could not wait for the count may have written at the same time; the next writer settles it.
    DiskCache last(path(), kLimit, counts_);
    last.store("last", "bytes");
    EXPECT_LE(last.contents().bytes, kLimit + 64 * 7000);
    std::filesystem::remove(kernels() + "/" + kUsageName);
    last.store("last", "bytes");
    EXPECT_LE(last.contents().bytes, kLimit);
    EXPECT_EQ(temporaries(), 0);
}

// In a process of its own, since the default of the signal that a limit on file sizes sends is the end.
TEST_F(DiskCacheTest, AFullDiskCostsNothingButSpeed) {
    const int limited = run_apart([&] {
        signal(SIGXFSZ, SIG_DFL);
        cache_.store("small", "bytes");
        for (const rlim_t most : {rlim_t{5000}, rlim_t{0}}) {
            const rlimit limit{most, RLIM_INFINITY};
            if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
            cache_.store("large", random_bytes(100000, 1));
            if (cache_.find("large") || cache_.find("small") != "bytes") return 2;
        }
        return counts_.failed == 2 && temporaries() == 0 ? 0 : 3;
    });
    EXPECT_EQ(limited, 0);

    const int full = run_apart([&] {
        std::filesystem::create_directories(path());
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            return 77;
        if (mount("tmpfs", path().c_str(), "tmpfs", 0, "size=64k,mode=700") != 0) return 77;
        for (int k = 0; k < 30; ++k) {
            cache_.store(std::to_string(k), random_bytes(7000, static_cast<unsigned>(k)));
            for (int j = 0; j <= k; ++j) {
                const auto found = cache_.find(std::to_string(j));
                if (found && *found != random_bytes(7000, static_cast<unsigned>(j))) return 1;
            }
        }
        if (counts_.failed == 0 || counts_.written == 0 || temporaries() != 0) return 2;
        const int64_t hits = counts_.hits;
        // Read-only, it still serves what it has.
        if (mount("none", path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return 77;
        cache_.store("more", "bytes");
        if (!cache_.find("0") || cache_.find("more") || counts_.hits != hits + 1) return 3;
        DiskCacheCounts counts;
        DiskCache fresh(path(), kMegabyte, counts);
        return fresh.find("0") && fresh.reason().empty() && fresh.clear() == 0 ? 0 : 4;
    });
    if (full != 77) EXPECT_EQ(full, 0);
}

TEST_F(DiskCacheTest, AFolderThatMayNotBeWrittenIsRead) {
    if (geteuid() == 0) {
        ASSERT_EQ(chmod(top_.path().c_str(), 0711), 0);
        ASSERT_EQ(mkdir(path().c_str(), 0700), 0);
        ASSERT_EQ(chown(path().c_str(), 54321, 54321), 0);
    }
    const int status = run_apart([&] {
        // Root may write everywhere.
        if (geteuid() == 0 && (setgid(54321) != 0 || setuid(54321) != 0)) return 1;
        cache_.store("key", "bytes");
        if (chmod(kernels().c_str(), 0500) != 0) return 2;
        cache_.store("more", "bytes");
        if (cache_.find("more") || cache_.find("key") != "bytes" || counts_.failed != 1) return 3;
        // Nor one with an entry that may not even be read.
        if (chmod(only_entry().c_str(), 0) != 0 || cache_.find("key") || counts_.failed != 2) return 4;
        if (chmod(kernels().c_str(), 0700) != 0 || cache_.find("key") || counts_.dropped != 1) return 5;
        cache_.store("key", "bytes");
        return cache_.find("key") == "bytes" ? 0 : 6;
    });
    EXPECT_EQ(status, 0);
}

TEST_F(DiskCacheTest, OutOfDescriptorsIsOnlyAMiss) {
    cache_.store("key", "bytes");
    const int status = run_apart([&] {
        const rlimit limit{3, 3};
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
        if (cache_.find("key") || counts_.dropped != 0) return 2;
        cache_.store("more", "bytes");
        return counts_.failed > 0 ? 0 : 3;
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(cache_.find("key"), "bytes");
}

TEST_F(DiskCacheTest, FollowsAFolderThatIsRemovedOrExchanged) {
    cache_.store("key", "bytes");
    std::filesystem::remove_all(path());
    EXPECT_EQ(cache_.find("key"), std::nullopt);
    cache_.store("key", "bytes");
    EXPECT_EQ(cache_.find("key"), "bytes");
    std::filesystem::remove_all(path());
    std::filesystem::create_directory(top_ / "elsewhere");
    ASSERT_EQ(symlink((top_ / "elsewhere").c_str(), path().c_str()), 0);
    EXPECT_EQ(cache_.find("key"), std::nullopt);
    cache_.store("key", "bytes");
    EXPECT_TRUE(std::filesystem::is_empty(top_ / "elsewhere"));
    EXPECT_NE(cache_.reason().find("is a symbolic link"), std::string::npos);
    std::filesystem::remove(path());
    cache_.look_again();
    cache_.store("key", "bytes");
    EXPECT_EQ(cache_.find("key"), "bytes");
}

// A program that closes all descriptors, as daemons do, and opens files of its own under their numbers.
TEST_F(DiskCacheTest, SurvivesTheLossOfItsDescriptors) {
    const int status = run_apart([&] {
        cache_.store("key", "bytes");
        for (int number = 3; number < 64; ++number) close(number);
        const std::string elsewhere = top_ / "elsewhere";
        std::filesystem::create_directory(elsewhere);
        for (int number = 3; number < 64; ++number) {
            if (open(elsewhere.c_str(), O_RDONLY | O_DIRECTORY) != number) return 1;
        }
        if (cache_.find("key") != "bytes") return 2;
        cache_.store("more", "bytes");
        if (cache_.find("more") != "bytes" || !std::filesystem::is_empty(elsewhere)) return 3;
        for (int number = 3; number < 64; ++number) {
            if (fcntl(number, F_GETFD) < 0) return 4;  // the program's own were not closed
        }
        return 0;
    });
    EXPECT_EQ(status, 0);
}

TEST_F(DiskCacheTest, ThreadsShareIt) {
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (unsigned thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&, thread] {
            std::mt19937 engine(thread);
            for (int turn = 0; turn < 300; ++turn) {
                const unsigned key = engine() % 20;
                const std::optional<std::string> found = cache_.find(std::to_string(key));
                wrong += found && *found != random_bytes(2000, key);
                if (!found) cache_.store(std::to_string(key), random_bytes(2000, key));
                if (turn % 100 == 99) cache_.clear();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(counts_.dropped, 0);
    EXPECT_GT(counts_.hits, 0);
}

}  // namespace
}  // namespace weft::codegen
