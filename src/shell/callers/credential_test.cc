#include "shell/callers/credential.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fairlead::shell {
namespace {

using config::HadoopConf;
using testing::HasSubstr;

constexpr char kSecret[] = "fl1.laptop.17.abcdef";

class CredentialFileTest : public ::testing::Test {
 protected:
  CredentialFileTest() { EXPECT_NE(::mkdtemp(directory_.data()), nullptr); }
  ~CredentialFileTest() override { std::filesystem::remove_all(directory_); }
  std::string Write(const std::string& text, mode_t mode = 0600) const {
    const std::string path = directory_ + "/c";
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static std::string Good() {
    return CredentialFile(kSecret, "client", "a client's",
                          {{"yarn.resourcemanager.hostname", "rm1"}, {"hadoop.rpc.protection", "integrity,\nprivacy"}});
  }
  std::string directory_ = "/tmp/fairlead-credential-XXXXXX";
};

TEST_F(CredentialFileTest, IsReadAsItWasWritten) {
  const auto conf = ReadCredentialFile(Write(Good()));
  ASSERT_TRUE(conf.ok()) << conf.error().message;
  EXPECT_EQ(conf->String(kCredential), kSecret);
  EXPECT_EQ(conf->String(kCredentialKind), "client");
  EXPECT_EQ(conf->String("yarn.resourcemanager.hostname"), "rm1");
  EXPECT_EQ(conf->String("hadoop.rpc.protection"), "integrity,privacy");
  const auto token = CredentialToken(kSecret);
  ASSERT_TRUE(token);
  EXPECT_EQ(token->identifier, "fl1.laptop.17");
  EXPECT_EQ(token->password, "abcdef");
}

TEST_F(CredentialFileTest, WhatOthersMayReadOrHasNoneIsRefused) {
  EXPECT_THAT(ReadCredentialFile(Write(Good(), 0640)).error().message, HasSubstr("others may read it"));
  EXPECT_THAT(ReadCredentialFile(Write("hadoop:\n  yarn.http.policy: HTTP_ONLY\n")).error().message,
              HasSubstr("there is no credential"));
  const auto with_comment = [&](size_t bytes) { return Good() + "# " + std::string(bytes - Good().size() - 2, 'a'); };
  EXPECT_TRUE(ReadCredentialFile(Write(with_comment(64 << 10))).ok());
  EXPECT_THAT(ReadCredentialFile(Write(with_comment((64 << 10) + 1))).error().message, HasSubstr("may be, 64 KiB"));
  EXPECT_FALSE(ReadCredentialFile(directory_ + "/none").ok());
  for (const std::string& bad : {std::string(), std::string("fl1."), std::string("fl2.a.1.b"), std::string("fl1"),
                                 std::string("fl1.a.1.b\r\nX: y"), "fl1." + std::string(300, 'a') + ".1.b"}) {
    EXPECT_FALSE(CredentialToken(bad)) << bad;
  }
}

TEST_F(CredentialFileTest, SaysNothingButWhereTheClusterIs) {
  const auto says = [](const std::string& more) { return ParseCredentialFile("c", Good() + more).error().message; };
  EXPECT_THAT(says("  yarn.nodemanager.local-dirs: /etc\n"), HasSubstr("yarn.nodemanager.local-dirs is no address"));
  EXPECT_THAT(says("nm:\n  state-dir: /etc\n"), HasSubstr("yarn.nodemanager.recovery.dir is no address"));
  EXPECT_THAT(says("  yarn.resourcemanager.address: ${env.HOME}:1\n"), HasSubstr("has a variable; write the value"));
  EXPECT_THAT(ParseCredentialFile("c", CredentialFile(kSecret, "king", "", {})).error().message,
              HasSubstr("there is no credential"));
}

/// As /dev/zero, and a directory; nobody writes into the FIFO.
TEST_F(CredentialFileTest, IsAFile) {
  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string link = directory_ + "/link";
  std::filesystem::create_symlink(fifo, link);
  for (const std::string& path : {fifo, link, directory_, std::string("/dev/zero")}) {
    EXPECT_THAT(ReadCredentialFile(path).error().message, HasSubstr("no file that holds a credential"));
  }
}

TEST_F(CredentialFileTest, SaysNothingAbsurd) {
  const auto says = [](const std::string& key, const std::string& value) {
    return ParseCredentialFile("c", CredentialFile(kSecret, "client", "", {{key, value}}));
  };
  const std::string rm = "yarn.resourcemanager.";
  const std::vector<std::pair<std::string, std::vector<std::string>>> kinds = {
      {rm + "address",
       {"", "rm1:0", "rm1:99999", "rm1:x", "rm1:-1", ":8032", "rm 1:8032", "rm1;reboot:8032", "[::1",
        std::string(300, 'a') + ":1"}},
      {rm + "webapp.address.rm1", {"http://rm1:8088/", "rm1/x:1", "rm1:8088:8088"}},
      {rm + "hostname", {"", "rm1/x", "-\x1b[2J", "ein\u00fc", std::string(300, 'a')}},
      {rm + "ha.enabled", {"maybe", "1"}},
      {rm + "ha.rm-ids", {"", ",", "a/../b", std::string(2000, 'a')}},
      {rm + "ha.automatic-failover.enabled", {"yes"}},
      {rm + "ha.anything", {std::string(2000, 'a')}},
      {"yarn.http.policy", {"", "GOPHER", "HTTP_AND_HTTPS"}},
      {"hadoop.rpc.protection", {"rot13", "privacy,none"}},
      {std::string(kAuth), {"simple"}},
  };
  for (const auto& [key, values] : kinds) {
    for (const std::string& value : values) {
      const auto read = says(key, value);
      ASSERT_FALSE(read.ok()) << key << ": " << value;
      EXPECT_THAT(read.error().message, HasSubstr(key)) << value;
    }
  }
  EXPECT_FALSE(ParseCredentialFile("c", Good() + "queues:\n  root:\n    prod:\n      weight: 5\n").ok());
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{rm + "address", "rm1.example.com:8032"},
                                                        {rm + "address", "[fe80::1]:8032"},
                                                        {rm + "address", "10.0.0.1"},
                                                        {rm + "hostname.rm1", "fe80::1"},
                                                        {rm + "hostname", "worker_7"},
                                                        {rm + "ha.rm-ids", "rm1, rm2"},
                                                        {rm + "ha.enabled", "true"},
                                                        {"yarn.http.policy", "HTTPS_ONLY"}}) {
    const auto read = says(key, value);
    EXPECT_TRUE(read.ok()) << key << ": " << value << ": " << read.error().message;
  }
}

TEST_F(CredentialFileTest, CountsWhereNothingElseNamesAClusterOrThatOneAsksForIt) {
  const std::string path = Write(Good());
  HadoopConf none;
  none.Set("yarn.resourcemanager.hostname", "127.0.0.1", {});
  ASSERT_TRUE(AddCredential(path, {}, none).ok());
  EXPECT_EQ(none.String("yarn.resourcemanager.hostname"), "rm1");
  EXPECT_EQ(none.String(kCredential), kSecret);
  const SettingsSource named{"/etc/hadoop", "", {}};
  HadoopConf another;
  ASSERT_TRUE(AddCredential(path, named, another).ok());
  EXPECT_FALSE(another.IsSet(kCredential)) << "another cluster, or one that believes names";
  another.Set("yarn.resourcemanager.hostname", "rm1");
  ASSERT_TRUE(AddCredential(path, named, another).ok());
  EXPECT_EQ(another.String(kCredential), kSecret) << "this cluster, by its address";
  HadoopConf believes;
  believes.Set("yarn.resourcemanager.hostname", "rm1");
  believes.Set("fairlead.auth", "simple");
  ASSERT_TRUE(AddCredential(path, named, believes).ok());
  EXPECT_FALSE(believes.IsSet(kCredential));
  HadoopConf same;
  same.Set("fairlead.auth", "credentials");
  same.Set("yarn.resourcemanager.hostname", "rm2");
  ASSERT_TRUE(AddCredential(path, named, same).ok());
  EXPECT_EQ(same.String(kCredential), kSecret);
  EXPECT_EQ(same.String("yarn.resourcemanager.hostname"), "rm2");
  ASSERT_TRUE(AddCredential(directory_ + "/none", {}, none).ok());
}

TEST_F(CredentialFileTest, ANewFileCountsWithoutARestart) {
  const std::string path = Write(Good());
  HadoopConf conf;
  ASSERT_TRUE(AddCredential(path, {}, conf).ok());
  Write(CredentialFile("fl1.laptop.18.new", "client", "renewed", {}));
  EXPECT_EQ(CredentialSource(conf, path)()->identifier, "fl1.laptop.18");
  Write("broken", 0600);
  EXPECT_EQ(CredentialSource(conf, path)()->identifier, "fl1.laptop.17");
  EXPECT_FALSE(CredentialSource(HadoopConf(), path));
}

}  // namespace
}  // namespace fairlead::shell
