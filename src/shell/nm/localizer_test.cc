#include "shell/nm/localizer.h"

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "shell/nm/localizer_archive.h"

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;
using model::nm::ResourceType;
using model::nm::Visibility;
using process::nm::Fetched;
using testing::HasSubstr;

struct Member {
  std::string name;
  std::string text{};
  std::string link{};
  bool hard = false;
  int type = AE_IFREG;
};

class Localizer : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fl_localizer_XXXXXX";
    root_ = ::mkdtemp(name);
    ::chmod(root_.c_str(), 0755);
  }
  void TearDown() override {
    fs::permissions(root_, fs::perms::owner_all);
    fs::remove_all(root_);
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(root_ + "/" + name) << text;
    ::chmod((root_ + "/" + name).c_str(), 0644);
    return root_ + "/" + name;
  }
  std::string Archive(const std::string& name, const std::vector<Member>& members, bool zip, bool compressed = true) {
    archive* out = ::archive_write_new();
    if (zip) {
      ::archive_write_set_format_zip(out);
    } else {
      ::archive_write_set_format_pax_restricted(out);
      if (compressed) ::archive_write_add_filter_gzip(out);
    }
    const std::string path = root_ + "/" + name;
    EXPECT_EQ(::archive_write_open_filename(out, path.c_str()), ARCHIVE_OK);
    for (const Member& member : members) {
      archive_entry* entry = ::archive_entry_new();
      ::archive_entry_set_pathname(entry, member.name.c_str());
      ::archive_entry_set_perm(entry, 0644);
      ::archive_entry_set_filetype(entry, static_cast<unsigned>(member.type));
      if (member.hard) {
        ::archive_entry_set_hardlink(entry, member.link.c_str());
      } else if (!member.link.empty()) {
        ::archive_entry_set_filetype(entry, AE_IFLNK);
        ::archive_entry_set_symlink(entry, member.link.c_str());
      } else {
        ::archive_entry_set_size(entry, static_cast<la_int64_t>(member.text.size()));
      }
      EXPECT_EQ(::archive_write_header(out, entry), ARCHIVE_OK);
      if (!member.text.empty()) ::archive_write_data(out, member.text.data(), member.text.size());
      ::archive_entry_free(entry);
    }
    ::archive_write_free(out);
    return path;
  }
  Fetched Fetch(const std::string& path, ResourceType type, const std::string& pattern = "",
                Visibility visibility = Visibility::kPrivate) {
    struct stat info {};
    ::stat(path.c_str(), &info);
    process::nm::FetchPlan plan;
    plan.resource.url = "file:" + path;
    plan.resource.timestamp_ms = info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000 + shift_ms_;
    plan.resource.type = type;
    plan.resource.pattern = pattern;
    plan.resource.visibility = visibility;
    plan.user = "u";
    plan.local_dir = root_;
    plan.directory = root_ + "/cache/" + std::to_string(++count_);
    return FetchResource(plan, limits_, "", {1'700'000'000'000});
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static unsigned Mode(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777;
  }

  std::string root_;
  LocalizerLimits limits_;
  int64_t shift_ms_ = 0;
  int count_ = 0;
};

TEST_F(Localizer, CopiesAFile) {
  const Fetched got = Fetch(Write("a.txt", "hello"), ResourceType::kFile);
  ASSERT_EQ(got.error, "");
  EXPECT_EQ(got.path, root_ + "/cache/1/a.txt");
  EXPECT_EQ(got.bytes, 5);
  EXPECT_EQ(Read(got.path), "hello");
  EXPECT_EQ(Mode(got.path), 0500u);
  EXPECT_EQ(Mode(Fetch(root_ + "/a.txt", ResourceType::kFile, "", Visibility::kPublic).path), 0555u);
}

TEST_F(Localizer, RefusesWhatChangedOrIsMissingOrForeign) {
  const std::string path = Write("a.txt", "hello");
  shift_ms_ = -7;
  EXPECT_THAT(Fetch(path, ResourceType::kFile).error, HasSubstr("changed on src filesystem - expected: \""));
  EXPECT_FALSE(fs::exists(root_ + "/cache/1"));
  shift_ms_ = 0;
  const std::string missing = "File file:" + root_ + "/none does not exist";
  EXPECT_EQ(Fetch(root_ + "/none", ResourceType::kFile).error,
            missing + "\njava.io.FileNotFoundException: " + missing + "\n");
  EXPECT_EQ(Fetch(root_ + "/none", ResourceType::kFile).thrown, "java.io.FileNotFoundException: " + missing);
  ::chmod(path.c_str(), 0640);
  EXPECT_THAT(Fetch(path, ResourceType::kFile, "", Visibility::kPublic).error, HasSubstr("not publicly accessible"));
  process::nm::FetchPlan plan;
  plan.resource.url = "s3a://bucket/key";
  plan.local_dir = root_;
  plan.directory = root_ + "/cache/x";
  EXPECT_THAT(FetchResource(plan, limits_, "", {}).error, HasSubstr("No FileSystem for scheme \"s3a\""));
  plan.resource.url = "file:/";
  EXPECT_THAT(FetchResource(plan, limits_, "", {}).error, HasSubstr("no file name"));
}

TEST_F(Localizer, UnpacksArchives) {
  const std::vector<Member> members = {{"d/", "", "", false, AE_IFDIR}, {"d/a.txt", "A"}, {"./b", "B"}};
  for (const bool zip : {true, false}) {
    const Fetched got = Fetch(Archive(zip ? "x.ZIP" : "x.tar.gz", members, zip), ResourceType::kArchive);
    ASSERT_EQ(got.error, "");
    EXPECT_EQ(Read(got.path + "/d/a.txt"), "A");
    EXPECT_EQ(Read(got.path + "/b"), "B");
    EXPECT_EQ(Mode(got.path + "/d"), 0700u);
    EXPECT_FALSE(fs::exists(fs::path(got.path).parent_path() / ".x.zip.part"));
  }
  const Fetched plain = Fetch(Write("data.bin", "no archive"), ResourceType::kArchive);
  EXPECT_EQ(Read(plain.path), "no archive");
}

TEST_F(Localizer, KeepsLinksThatStayInside) {
  const std::string path = Archive(
      "l.tar", {{"lib/a", "A"}, {"lib/b", "", "a"}, {"bin/c", "", "../lib/a"}, {"d", "", "lib/a", true}}, false);
  const Fetched got = Fetch(path, ResourceType::kArchive);
  ASSERT_EQ(got.error, "");
  for (const char* name : {"/lib/b", "/bin/c", "/d"}) EXPECT_EQ(Read(got.path + name), "A") << name;
}

TEST_F(Localizer, RefusesWhatWouldLeaveTheDirectory) {
  std::ofstream(root_ + "/victim") << "safe";
  const std::vector<std::vector<Member>> bad = {
      {{"../victim", "evil"}},
      {{"/tmp/fl_evil", "evil"}},
      {{"a/../../victim", "evil"}},
      {{"l", "", "/etc"}},
      {{"l", "", "../.."}, {"l/victim", "evil"}},
      {{"a/l", "", "../../x"}},
      {{"h", "", "../../../../../../../etc/passwd", true}},
      {{"pipe", "", "", false, AE_IFIFO}},
  };
  for (size_t i = 0; i < bad.size(); ++i) {
    const Fetched got = Fetch(Archive("bad" + std::to_string(i) + ".tar", bad[i], false), ResourceType::kArchive);
    EXPECT_NE(got.error, "") << i;
    EXPECT_EQ(Read(root_ + "/victim"), "safe") << i;
  }
  EXPECT_FALSE(fs::exists("/tmp/fl_evil"));
}

TEST_F(Localizer, HostileArchivesOfLinksAndEntriesInTheWayFailWithAReason) {
  std::ofstream(root_ + "/victim") << "safe";
  std::vector<Member> chain = {{"a60/x", "evil"}};
  for (int i = 0; i < 60; ++i) {
    chain.insert(chain.begin(), {"a" + std::to_string(i + 1), "", "a" + std::to_string(i)});
  }
  chain.insert(chain.begin(), {"a0", "", "a60"});
  const std::vector<std::vector<Member>> bad = {
      {{"l", "", "l"}, {"l/x", "evil"}},
      chain,
      {{"a", "A"}, {"a/b", "B"}},
      {{"d/", "", "", false, AE_IFDIR}, {"d/x", "X"}, {"d", "F"}},
      {{"h", "", "h", true}},
      {{"h", "", "gone", true}},
      {{"l", "", "."}, {"h", "", "l", true}},
      {{"d/l", "", "../d"}, {"d/l/l/../../../victim", "evil"}},
      {{std::string(300, 'n'), "N"}},
      {{[] {
          std::string deep;
          for (int i = 0; i < 2100; ++i) deep += "d/";
          return deep;
        }() +
            "x",
        "X"}},
  };
  for (size_t i = 0; i < bad.size(); ++i) {
    const Fetched got = Fetch(Archive("bad" + std::to_string(i) + ".tar", bad[i], false), ResourceType::kArchive);
    EXPECT_NE(got.error, "") << i;
    EXPECT_EQ(Read(root_ + "/victim"), "safe") << i;
    EXPECT_FALSE(fs::exists(root_ + "/cache/" + std::to_string(count_))) << i;
  }
}

TEST_F(Localizer, HostileArchivesWhoseSizesLieFailWithAReason) {
  const std::string good = Read(Archive("good.tar", {{"a", std::string(2000, 'x')}}, false, false));
  const auto header = [](std::string tar, char type, const char* size) {
    tar[156] = type;
    tar.replace(124, 12, std::string(size) + '\0');
    tar.replace(148, 8, 8, ' ');
    int sum = 0;
    for (size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(tar[i]);
    char text[8];
    std::snprintf(text, sizeof text, "%06o", sum);
    return tar.replace(148, 7, text, 7);
  };
  const std::string lies[] = {
      header(good, '0', "77777777777"),  // 8 GiB
      header(good, 'x', "77777777777"),  // of attributes
      header(good, 'L', "07777777777"),  // of a name
      good.substr(0, 1500),
  };
  for (size_t i = 0; i < std::size(lies); ++i) {
    EXPECT_NE(Fetch(Write("lie" + std::to_string(i) + ".tar", lies[i]), ResourceType::kArchive).error, "") << i;
    EXPECT_FALSE(fs::exists(root_ + "/cache/" + std::to_string(count_))) << i;
  }
}

TEST_F(Localizer, HoldsItsLimits) {
  limits_.bytes_max = 1000;
  const std::string bomb = Archive("bomb.zip", {{"a", std::string(2000, 'x')}}, true);
  EXPECT_THAT(Fetch(bomb, ResourceType::kArchive).error, HasSubstr("more than 1000 bytes"));
  limits_.entries_max = 2;
  const std::string many = Archive("many.zip", {{"a", "1"}, {"b", "2"}, {"c", "3"}}, true);
  EXPECT_THAT(Fetch(many, ResourceType::kArchive).error, HasSubstr("too many entries"));
}

TEST_F(Localizer, DamagedArchive) {
  const Fetched broken = Fetch(Write("x.zip", "PK\x03\x04 not really"), ResourceType::kArchive);
  EXPECT_EQ(broken.thrown, "org.apache.hadoop.yarn.exceptions.YarnException: Download and unpack failed");
  EXPECT_THAT(broken.error, testing::StartsWith("\njava.lang.reflect.UndeclaredThrowableException\nCaused by: "));
  EXPECT_THAT(broken.error, testing::ContainsRegex("\nCaused by: Download and unpack failed\n"));
}

TEST_F(Localizer, JarByPattern) {
  const std::string jar = Archive("job.jar", {{"classes/A", "A"}, {"lib/b", "B"}, {"other", "O"}}, true);
  const Fetched got = Fetch(jar, ResourceType::kPattern, "(?:classes/|lib/).*");
  ASSERT_EQ(got.error, "");
  EXPECT_TRUE(fs::is_regular_file(got.path + "/job.jar"));
  EXPECT_EQ(Read(got.path + "/lib/b"), "B");
  EXPECT_FALSE(fs::exists(got.path + "/other"));
  EXPECT_THAT(Fetch(jar, ResourceType::kPattern, "(").error, HasSubstr("cannot be read"));
}

// What a submitter may name as a resource: each fails with a reason, soon, and leaves nothing.
TEST_F(Localizer, RefusesWhatIsNoFileOrHasNoEnd) {
  ASSERT_EQ(::mkfifo((root_ + "/pipe").c_str(), 0644), 0);
  for (const std::string& path : {root_ + "/pipe", std::string("/dev/zero"), std::string("/dev/null")}) {
    for (const Visibility visibility : {Visibility::kPublic, Visibility::kPrivate}) {
      EXPECT_THAT(Fetch(path, ResourceType::kFile, "", visibility).error, HasSubstr("is not a regular file")) << path;
      EXPECT_FALSE(fs::exists(root_ + "/cache/" + std::to_string(count_)));
    }
  }
}

TEST_F(Localizer, LinksInATreeAreLeftOut) {
  fs::create_directories(root_ + "/dir/sub");
  Write("dir/sub/f", "F");
  fs::create_symlink(".", root_ + "/dir/self");
  fs::create_symlink("..", root_ + "/dir/sub/up");
  fs::create_symlink("/etc/passwd", root_ + "/dir/passwd");
  fs::create_symlink("gone", root_ + "/dir/gone");
  ASSERT_EQ(::mkfifo((root_ + "/dir/pipe").c_str(), 0644), 0);
  const Fetched got = Fetch(root_ + "/dir", ResourceType::kFile);
  ASSERT_EQ(got.error, "");
  EXPECT_EQ(Read(got.path + "/sub/f"), "F");
  EXPECT_EQ(got.bytes, 1);
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(got.path), fs::recursive_directory_iterator()), 2);
}

TEST_F(Localizer, ATreeHasBoundsAsAWhole) {
  fs::create_directories(root_ + "/dir");
  for (int i = 0; i < 4; ++i) Write("dir/f" + std::to_string(i), std::string(300, 'x'));
  limits_.bytes_max = 1000;
  EXPECT_THAT(Fetch(root_ + "/dir", ResourceType::kFile).error, HasSubstr("larger than allowed"));
  limits_.bytes_max = 10'000;
  limits_.entries_max = 3;
  EXPECT_THAT(Fetch(root_ + "/dir", ResourceType::kFile).error, HasSubstr("too many files"));
  limits_.entries_max = 1000;
  std::string deep = root_ + "/dir";
  for (int i = 0; i < 150; ++i) fs::create_directory(deep += "/d");
  EXPECT_THAT(Fetch(root_ + "/dir", ResourceType::kFile).error, HasSubstr("deeper than"));
}

TEST_F(Localizer, PublicIsJudgedByTheFileAndItsRealParents) {
  fs::create_directories(root_ + "/closed");
  Write("closed/f", "secret");
  fs::create_symlink(root_ + "/closed/f", root_ + "/open");
  EXPECT_EQ(Fetch(root_ + "/open", ResourceType::kFile, "", Visibility::kPublic).error, "");
  ::chmod((root_ + "/closed").c_str(), 0700);
  EXPECT_THAT(Fetch(root_ + "/open", ResourceType::kFile, "", Visibility::kPublic).error,
              HasSubstr("not publicly accessible"));
  fs::create_directories(root_ + "/tree");
  ::chmod((root_ + "/tree").c_str(), 0755);
  Write("tree/a", "A");
  EXPECT_EQ(Fetch(root_ + "/tree", ResourceType::kFile, "", Visibility::kPublic).error, "");
  ::chmod(Write("tree/b", "B").c_str(), 0600);
  EXPECT_THAT(Fetch(root_ + "/tree", ResourceType::kFile, "", Visibility::kPublic).error,
              HasSubstr("not publicly accessible"));
}

TEST_F(Localizer, PatternsThatWouldTakeForEver) {
  const std::string jar = Archive("job.jar", {{std::string(40, 'a'), "A"}, {"b", "B"}}, true);
  const std::string nested = std::string(300, '(') + "a" + std::string(300, ')');
  const Fetched slow = Fetch(jar, ResourceType::kPattern, "(a*)*b");
  EXPECT_EQ(slow.error, "");
  EXPECT_TRUE(fs::exists(slow.path + "/b"));
  EXPECT_FALSE(fs::exists(slow.path + "/" + std::string(40, 'a')));
  Fetch(jar, ResourceType::kPattern, nested);  // either way, but soon
  Fetch(jar, ResourceType::kPattern, "((a{1,1000}){1,1000}){1,1000}");
  EXPECT_THAT(Fetch(jar, ResourceType::kPattern, std::string(2000, 'a')).error, HasSubstr("longer than"));
}

TEST_F(Localizer, NothingOutsideIsTouchedWhereLinksLieInTheWay) {
  fs::create_directories(root_ + "/victim/1");
  std::ofstream(root_ + "/victim/1/keep") << "kept";
  fs::create_directory_symlink(root_ + "/victim", root_ + "/cache");
  const Fetched got = Fetch(Write("a.txt", "hello"), ResourceType::kFile);
  EXPECT_EQ(got.error, "");
  EXPECT_EQ(Read(root_ + "/victim/1/keep"), "kept");
  EXPECT_FALSE(fs::is_symlink(root_ + "/cache"));
  EXPECT_EQ(Read(root_ + "/cache/1/a.txt"), "hello");
}

TEST_F(Localizer, CopiesADirectory) {
  fs::create_directories(root_ + "/dir/sub");
  Write("dir/sub/f", "F");
  const Fetched got = Fetch(root_ + "/dir", ResourceType::kFile);
  ASSERT_EQ(got.error, "");
  EXPECT_EQ(Read(got.path + "/sub/f"), "F");
}

}  // namespace
}  // namespace fairlead::shell
