// Which folders the kernel cache trusts: hostile ones at every level, odd umasks, links, odd environments.
#include "codegen/cache/folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "support/cache_testing.h"

namespace weft::codegen {
namespace {

using testing_cache::finish;
using testing_cache::kernels_name;
using testing_cache::mode_of;
using testing_cache::run_apart;
using testing_cache::TemporaryFolder;
using testing_cache::write_file;

constexpr uid_t kStranger = 54321;

void make_folder(const std::string& path, mode_t mode = 0700) {
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0) << path;
    ASSERT_EQ(chmod(path.c_str(), mode), 0) << path;
}

void expect_trusted(const std::string& path) {
    const CacheFolder folder = open_cache_folder(path, true);
    EXPECT_TRUE(folder.descriptor.valid()) << path;
    EXPECT_EQ(folder.reason, "");
}

void expect_refused(const std::string& path, const std::string& reason) {
    for (const bool create : {false, true}) {
        const CacheFolder folder = open_cache_folder(path, create);
        EXPECT_FALSE(folder.descriptor.valid()) << path;
        EXPECT_NE(folder.reason.find(reason), std::string::npos)
            << path << ": '" << folder.reason << "' lacks '" << reason << "'";
    }
}

TEST(CacheFolder, IsMadeForThisUserAloneWhateverTheUmask) {
    for (const mode_t mask : {0, 0022, 0077, 0777}) {
        const TemporaryFolder top;
        const mode_t before = umask(mask);
        const CacheFolder folder = open_cache_folder(top / "caches/weft", true);
        umask(before);
        EXPECT_TRUE(folder.descriptor.valid()) << folder.reason;
        for (const std::string name : {"caches", "caches/weft"}) EXPECT_EQ(mode_of(top / name), 0700) << mask;
        EXPECT_EQ(mode_of(top / ("caches/weft/" + kernels_name())), 0700) << mask;
        expect_trusted(top / "caches/weft");
    }
}

TEST(CacheFolder, IsNotMadeUnasked) {
    const TemporaryFolder top;
    const CacheFolder folder = open_cache_folder(top / "weft", false);
    EXPECT_FALSE(folder.descriptor.valid());
    EXPECT_EQ(folder.reason, "");
    EXPECT_FALSE(std::filesystem::exists(top / "weft"));
}

TEST(CacheFolder, LinksAreRefusedAtAndBelowIt) {
    const TemporaryFolder top;
    make_folder(top / "real");
    ASSERT_EQ(symlink("real", (top / "weft").c_str()), 0);
    expect_refused(top / "weft", "weft is a symbolic link");
    expect_refused(top / "weft/", "weft is a symbolic link");
    expect_refused(top / "weft/.", "weft is a symbolic link");

    make_folder(top / "other");
    ASSERT_EQ(symlink("../real", (top / ("other/" + kernels_name())).c_str()), 0);
    expect_refused(top / "other", kernels_name() + " is a symbolic link");
    ASSERT_EQ(symlink((top / "nowhere").c_str(), (top / "dangling").c_str()), 0);
    expect_refused(top / "dangling", "is a symbolic link");
    EXPECT_FALSE(std::filesystem::exists(top / "nowhere"));
}

TEST(CacheFolder, LinksOfParentsAreFollowedAndChecked) {
    const TemporaryFolder top;
    make_folder(top / "real");
    ASSERT_EQ(symlink("./real", (top / "relative").c_str()), 0);
    ASSERT_EQ(symlink((top / "relative").c_str(), (top / "absolute").c_str()), 0);
    expect_trusted(top / "absolute/weft");
    EXPECT_EQ(mode_of(top / "real/weft"), 0700);
    expect_trusted(top / "real/../absolute/./weft");

    make_folder(top / "open", 0777);
    make_folder(top / "open/inner");
    ASSERT_EQ(symlink("open/inner", (top / "through").c_str()), 0);
    expect_refused(top / "through/weft", "open is writable by others (mode 0777)");

    ASSERT_EQ(symlink("second", (top / "first").c_str()), 0);
    ASSERT_EQ(symlink("first", (top / "second").c_str()), 0);
    expect_refused(top / "first/weft", "too many symbolic links");
}

TEST(CacheFolder, WritableByOthersIsRefusedAtEachLevel) {
    for (const mode_t mode : {0777, 0770, 0702, 0720}) {
        const TemporaryFolder top;
        make_folder(top / "parent");
        make_folder(top / "parent/weft");
        make_folder(top / ("parent/weft/" + kernels_name()));
        for (const std::string& level :
             {std::string("parent"), std::string("parent/weft"), "parent/weft/" + kernels_name()}) {
            ASSERT_EQ(chmod((top / level).c_str(), mode), 0);
            expect_refused(top / "parent/weft", (top / level) + " is writable by others");
            ASSERT_EQ(chmod((top / level).c_str(), mode | S_ISVTX), 0);
            // Sticky: others can put things beside ours, which is no harm but where the kernels are.
            if (level.ends_with(kernels_name())) {
                expect_refused(top / "parent/weft", (top / level) + " is writable by others");
            } else {
                expect_trusted(top / "parent/weft");
            }
            ASSERT_EQ(chmod((top / level).c_str(), 0755), 0);  // to be read by others is no harm
            expect_trusted(top / "parent/weft");
        }
    }
}

TEST(CacheFolder, FilesAreNoFolders) {
    const TemporaryFolder top;
    write_file(top / "weft", "");
    expect_refused(top / "weft", "weft is not a folder");
    expect_refused(top / "weft/weft", "weft is not a folder");
    make_folder(top / "other");
    ASSERT_EQ(mkfifo((top / ("other/" + kernels_name())).c_str(), 0600), 0);
    expect_refused(top / "other", kernels_name() + " is not a folder");
}

TEST(CacheFolder, OfAnotherUserIsRefusedAtEachLevel) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
    const TemporaryFolder top;
    make_folder(top / "parent");
    make_folder(top / "parent/weft");
    make_folder(top / ("parent/weft/" + kernels_name()));
    for (const std::string& level :
         {std::string("parent"), std::string("parent/weft"), "parent/weft/" + kernels_name()}) {
        ASSERT_EQ(chown((top / level).c_str(), kStranger, 0), 0);
        expect_refused(top / "parent/weft",
                       (top / level) + " belongs to user 54321, neither to this one (0) nor to root");
        ASSERT_EQ(chown((top / level).c_str(), 0, 0), 0);
        expect_trusted(top / "parent/weft");
    }
    // A link of a stranger, as could be put into /tmp.
    ASSERT_EQ(symlink("parent", (top / "link").c_str()), 0);
    expect_trusted(top / "link/weft");
    ASSERT_EQ(lchown((top / "link").c_str(), kStranger, 0), 0);
    expect_refused(top / "link/weft", "link belongs to user 54321");
}

TEST(CacheFolder, OfRootServesOthersWhereTheyMayWrite) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    const TemporaryFolder top;
    ASSERT_EQ(chmod(top.path().c_str(), 0755), 0);
    make_folder(top / "closed", 0755);
    make_folder(top / "shared", 01777);
    make_folder(top / "mine");
    ASSERT_EQ(chown((top / "mine").c_str(), kStranger, 0), 0);
    const auto as_stranger = [&](const std::string& path, const std::string& reason) {
        return run_apart([&] {
            if (setgid(kStranger) != 0 || setuid(kStranger) != 0) return 2;
            const CacheFolder folder = open_cache_folder(path, true);
            return folder.descriptor.valid() == reason.empty() &&
                           folder.reason.find(reason) != std::string::npos
                       ? 0
                       : 1;
        });
    };
    EXPECT_EQ(as_stranger(top / "mine", ""), 0);
    EXPECT_EQ(as_stranger(top / "mine/below/weft", ""), 0);
    EXPECT_EQ(as_stranger(top / "shared", ""), 0);
    EXPECT_EQ(as_stranger(top / "closed", "cannot be created: Permission denied"), 0);
    ASSERT_EQ(chmod(top.path().c_str(), 0700), 0);
    EXPECT_EQ(as_stranger(top / "shared", "cannot be opened: Permission denied"), 0);
    // Each user has a folder of kernels of his own; one that a stranger made under our name is his.
    ASSERT_EQ(chmod(top.path().c_str(), 0755), 0);
    expect_trusted(top / "shared");
    ASSERT_EQ(chown((top / "shared/kernels-0").c_str(), kStranger, 0), 0);
    expect_refused(top / "shared", "kernels-0 belongs to user 54321");
}

TEST(CacheFolder, IsFoundByTheEnvironment) {
    const auto locate = [](const std::map<std::string, std::string>& environment,
                           const std::optional<std::string>& setting, const std::string& path,
                           const std::string& reason) {
        return run_apart([&] {
            unsetenv("XDG_CACHE_HOME");
            unsetenv("HOME");
            for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
            const CacheLocation location = locate_cache(setting);
            return location.path == path && location.reason.find(reason) != std::string::npos &&
                           location.reason.empty() == reason.empty()
                       ? 0
                       : 1;
        });
    };
    EXPECT_EQ(locate({{"HOME", "/home/me"}}, {}, "/home/me/.cache/weft", ""), 0);
    EXPECT_EQ(locate({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "/caches"}}, {}, "/caches/weft", ""), 0);
    EXPECT_EQ(locate({{"XDG_CACHE_HOME", "/caches"}}, {}, "/caches/weft", ""), 0);
    EXPECT_EQ(locate({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", "caches"}}, {}, "/home/me/.cache/weft", ""),
              0);
    EXPECT_EQ(locate({{"HOME", "/home/me"}, {"XDG_CACHE_HOME", ""}}, {}, "/home/me/.cache/weft", ""), 0);
    EXPECT_EQ(locate({}, {}, "", "neither WEFT_CACHE_DIR nor HOME is set"), 0);
    EXPECT_EQ(locate({{"HOME", "home"}}, {}, "", "HOME is not an absolute path"), 0);
    EXPECT_EQ(locate({{"HOME", "/home/me"}}, "/kernels", "/kernels", ""), 0);
    EXPECT_EQ(locate({{"HOME", "/home/me"}}, "", "", "WEFT_CACHE_DIR is empty"), 0);
    EXPECT_EQ(locate({{"HOME", "/home/me"}}, "here", "", "WEFT_CACHE_DIR is not an absolute path"), 0);
}

TEST(CacheFolder, IsKnownToBeGone) {
    const TemporaryFolder top;
    CacheFolder folder = open_cache_folder(top / "weft", true);
    EXPECT_TRUE(folder.still_there());
    std::filesystem::remove_all(top / "weft");
    EXPECT_FALSE(folder.still_there());

    // The program closes what it does not know, and the number becomes another file's: it is not closed
    // again.
    int number = -1;
    {
        const CacheFolder again = open_cache_folder(top / "weft", true);
        number = again.descriptor.get();
        const int other = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ASSERT_EQ(dup2(other, number), number);
        close(other);
        EXPECT_FALSE(again.still_there());
    }
    EXPECT_GE(fcntl(number, F_GETFD), 0);
    close(number);
}

}  // namespace
}  // namespace weft::codegen
