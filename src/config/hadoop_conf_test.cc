#include "config/hadoop_conf.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "config/line_counter.h"

namespace fairlead::config {
namespace {

using Files = std::map<std::string, std::string>;

FileReader Reading(const Files& files) {
  return [files](const std::string& path) -> base::Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return base::Error{path + ": no such file", ENOENT};
    return found->second;
  };
}

std::string Property(const std::string& name, const std::string& value, const std::string& more = "") {
  return "<property><name>" + name + "</name><value>" + value + "</value>" + more + "</property>\n";
}

std::string File(const std::string& body) {
  return "<?xml version=\"1.0\"?>\n<configuration>\n" + body + "</configuration>";
}

TEST(HadoopConf, LaterFilesWinExceptOverFinal) {
  const auto conf = HadoopConf::Load(
      "/c", {},
      Reading({{"/c/core-site.xml", File(Property("a", "1") + Property("b", "1", "<final>true</final>"))},
               {"/c/yarn-site.xml", File(Property("a", "2") + Property("b", "2"))}}));
  ASSERT_TRUE(conf.ok());
  EXPECT_EQ(conf->String("a"), "2");
  EXPECT_EQ(conf->String("b"), "1");
}

TEST(HadoopConf, AFileOfTooMuchIsRefusedByTheBound) {
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "<property>";
  for (int i = 0; i < 1000; ++i) deep += "</property>";
  HadoopConf conf;
  EXPECT_EQ(conf.AddXml("a.xml", File(deep), Reading({})).error().message,
            "a.xml: an XML file of 21054 bytes is refused: it is nested deeper than 128");
}

TEST(HadoopConf, VariablesComeFromKeysDefaultsAndEnvironment) {
  const auto conf = HadoopConf::Load(
      "/c", {{"HOST", "h1"}, {"USER", "ann"}},
      Reading(
          {{"/c/yarn-site.xml", File(Property("yarn.resourcemanager.hostname", "${env.HOST}") +
                                     Property("x", "${env.NONE:-none}/${no.such}") + Property("loop", "${loop}"))}}));
  ASSERT_TRUE(conf.ok());
  EXPECT_EQ(conf->String("yarn.resourcemanager.address"), "h1:8032");
  EXPECT_EQ(conf->String("yarn.nodemanager.local-dirs"), "/tmp/hadoop-ann/nm-local-dir");
  EXPECT_EQ(conf->String("x"), "none/${no.such}");
  EXPECT_EQ(conf->String("loop"), "${loop}");
}

TEST(HadoopConf, VariablesThatStandForMuchStayAsTheyAreWritten) {
  std::string properties;
  for (int i = 0; i < 12; ++i) {
    std::string ten;
    for (int k = 0; k < 10; ++k) ten += "${a" + std::to_string(i + 1) + "}";
    properties += Property("a" + std::to_string(i), ten);
  }
  properties += Property("a12", "x") + Property("twice", "${twice}${twice}") + Property("chain", "${a11}/${a12}");
  std::string twenty;
  for (int i = 0; i < 20; ++i) twenty += "${a12}";
  properties += Property("twenty", twenty) + Property("more", twenty + "${a12}");
  const auto conf = HadoopConf::Load("/c", {}, Reading({{"/c/yarn-site.xml", File(properties)}}));
  ASSERT_TRUE(conf.ok());
  EXPECT_LT(conf->String("a0").size(), 100U);
  EXPECT_EQ(conf->String("twice"), "${twice}${twice}");
  EXPECT_EQ(conf->String("chain"), "xxxxxxxxxx/x");
  EXPECT_EQ(conf->String("twenty"), std::string(20, 'x'));
  EXPECT_EQ(conf->String("more"), twenty + "${a12}");
}

TEST(HadoopConf, IncludesAreReadRelativeToTheirFile) {
  const auto conf = HadoopConf::Load(
      "/c", {},
      Reading(
          {{"/c/yarn-site.xml", File("<xi:include xmlns:xi=\"http://www.w3.org/2001/XInclude\" href=\"more.xml\"/>")},
           {"/c/more.xml", File(Property("a", "included"))}}));
  ASSERT_TRUE(conf.ok());
  EXPECT_EQ(conf->String("a"), "included");
}

TEST(HadoopConf, IncludesNestTenDeep) {
  const auto load = [](int files) {  // each includes the next
    std::map<std::string, std::string> texts = {{"/c/yarn-site.xml", File("<include href=\"1.xml\"/>")}};
    for (int i = 1; i < files; ++i) {
      texts["/c/" + std::to_string(i) + ".xml"] = File("<include href=\"" + std::to_string(i + 1) + ".xml\"/>");
    }
    texts["/c/" + std::to_string(files) + ".xml"] = File(Property("a", "deep"));
    return HadoopConf::Load("/c", {}, Reading(texts));
  };
  ASSERT_TRUE(load(10).ok());
  EXPECT_EQ(load(10)->String("a"), "deep");
  EXPECT_EQ(load(11).error().message, "/c/10.xml:3:2: includes nest too deeply");
}

TEST(HadoopConf, MalformedXmlIsRefusedWithItsPlace) {
  const auto conf =
      HadoopConf::Load("/c", {}, Reading({{"/c/yarn-site.xml", "<configuration>\n  <property>\n</configuration>"}}));
  ASSERT_FALSE(conf.ok());
  EXPECT_TRUE(conf.error().message.starts_with("/c/yarn-site.xml:3:")) << conf.error().message;
}

TEST(HadoopConf, AWrongValueIsNamedWithFileLineAndColumn) {
  const auto conf = HadoopConf::Load("/c", {}, Reading({{"/c/yarn-site.xml", File(Property("n", "many"))}}));
  ASSERT_TRUE(conf.ok());
  EXPECT_EQ(conf->Int("n", 3), 3);
  ASSERT_EQ(conf->errors().size(), 1u);
  EXPECT_EQ(conf->errors()[0], "/c/yarn-site.xml:3:1: n: 'many' is not a whole number");
}

TEST(HadoopConf, TimesHaveUnits) {
  HadoopConf conf;
  conf.Set("a", "5s");
  conf.Set("b", "1500");
  conf.Set("c", "2 weeks");
  EXPECT_EQ(conf.Time("a", {}), base::Duration::Seconds(5));
  EXPECT_EQ(conf.Time("b", {}), base::Duration::Millis(1500));
  EXPECT_EQ(conf.Time("b", {}, base::Duration::Seconds(1)), base::Duration::Seconds(1500));
  EXPECT_EQ(conf.Time("c", base::Duration::Seconds(9)), base::Duration::Seconds(9));
  EXPECT_EQ(conf.errors().size(), 1u);
}

TEST(LineCounter, SaysWhatIsAskedForInAnyOrder) {
  const std::string text = "ab\n\ncd\nef";
  LineCounter lines(text);
  for (const size_t offset : {0, 1, 2, 3, 3, 4, 6, 8, 5, 9, 100, 0}) {
    EXPECT_EQ(lines.At(offset), LineAndColumn(text, offset)) << offset;
  }
}

TEST(HadoopConf, WhatNobodyAskedForIsUnread) {
  HadoopConf conf;
  conf.Set("yarn.a.read", "1");
  conf.Set("yarn.a.not-read", "1");
  conf.Set("yarn.a.only-looked-at", "1");
  conf.Set("yarn.b.not-read", "1");
  conf.Int("yarn.a.read", 0);
  EXPECT_TRUE(conf.IsSet("yarn.a.only-looked-at"));
  EXPECT_EQ(conf.Unread({"yarn.a."}), (std::vector<std::string>{"yarn.a.not-read", "yarn.a.only-looked-at"}));
  EXPECT_EQ(conf.Unread({"yarn.b.", "mapreduce."}), std::vector<std::string>{"yarn.b.not-read"});
  EXPECT_EQ(conf.ReadAndNear("yarn.a.raed"), "yarn.a.read");
  EXPECT_EQ(conf.ReadAndNear("yarn.a.only-looked-ta"), "yarn.a.only-looked-at");
  EXPECT_EQ(conf.ReadAndNear("yarn.else"), "");
  EXPECT_EQ(conf.ReadAndNear("yarn.a.only-looked-at"), "") << "nobody who wrote this meant the same";
}

TEST(HadoopConf, DefaultsAreSorted) {
  EXPECT_STREQ(HadoopDefault("yarn.acl.enable"), "false");
  EXPECT_STREQ(HadoopDefault("fs.defaultFS"), "file:///");
  EXPECT_STREQ(HadoopDefault("yarn.scheduler.minimum-allocation-vcores"), "1");
  EXPECT_EQ(HadoopDefault("no.such.key"), nullptr);
}

TEST(HadoopConf, WhatIsMissingIsAddedAndWhatIsWrittenStays) {
  HadoopConf conf;
  conf.Set("written", "before");
  ASSERT_TRUE(
      conf.AddMissing("ssl-server.xml", File(Property("written", "later") + Property("new", "1")), Reading({})).ok());
  EXPECT_EQ(conf.String("written"), "before");
  EXPECT_EQ(conf.String("new"), "1");
  EXPECT_EQ(conf.OriginOf("new").file, "ssl-server.xml");
  EXPECT_FALSE(conf.AddMissing("ssl-server.xml", "<configuration>", Reading({})).ok());
}

TEST(HadoopConf, ADirectoryWithoutFilesIsRefused) { EXPECT_FALSE(HadoopConf::Load("/empty", {}, Reading({})).ok()); }

}  // namespace
}  // namespace fairlead::config
