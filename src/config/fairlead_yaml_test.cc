#include "config/fairlead_yaml.h"

#include <gtest/gtest.h>

namespace fairlead::config {
namespace {

std::string ErrorOf(const std::string& text) {
  Settings settings;
  const base::Status status = AddFairleadYaml("f.yaml", text, settings);
  return status.ok() ? "" : status.error().message;
}

/// Ten aliases of what is a line above, in so many lines: "a billion laughs".
std::string Laughs(int lines) {
  std::string text = "queues:\n  q0: &q0 {weight: 1}\n";
  for (int i = 1; i <= lines; ++i) {
    text += "  q" + std::to_string(i) + ": &q" + std::to_string(i) + " {queues: {";
    for (int j = 0; j < 10; ++j) text += "a" + std::to_string(j) + ": *q" + std::to_string(i - 1) + ", ";
    text += "}}\n";
  }
  return text;
}

TEST(FairleadYaml, AliasesAreTakenWithinBounds) {
  EXPECT_EQ(ErrorOf(Laughs(1)), "");
  EXPECT_NE(ErrorOf(Laughs(9)).find("is refused: what it stands for takes more than"), std::string::npos);
  EXPECT_NE(ErrorOf("queues: &q {a: {queues: *q}}").find("stands inside of what it stands for"), std::string::npos);
  EXPECT_NE(ErrorOf(std::string(100'000, '[')).find("nested deeper than 64"), std::string::npos);
}

TEST(FairleadYaml, EntriesBecomeKeysAndQueues) {
  Settings settings;
  const base::Status status = AddFairleadYaml("f.yaml", R"(
rm: {host: 127.0.0.1, web-address: "127.0.0.1:18088"}
ha: {enabled: true, managers: [rm1, rm2], zookeeper: ["a:2181", "b:2181"], session: 3s}
nm:
  memory: 4GiB
  local-dirs: [/a, /b]
queues:
  prod: {weight: 3, min: {memory: 1GiB, vcores: 1}}
  adhoc:
    queues:
      ann: {policy: fifo, max-apps: 2, preemptable: false, priority: 4, start-time: 1700000000000}
hadoop:
  yarn.acl.enable: true
)",
                                              settings);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(settings.conf.String("yarn.resourcemanager.hostname"), "127.0.0.1");
  EXPECT_TRUE(settings.conf.Bool("yarn.resourcemanager.ha.enabled", false));
  EXPECT_EQ(settings.conf.String("yarn.resourcemanager.ha.rm-ids"), "rm1,rm2");
  EXPECT_EQ(settings.conf.String("hadoop.zk.address"), "a:2181,b:2181");
  EXPECT_EQ(settings.conf.Time("hadoop.zk.timeout-ms", {}), base::Duration::Seconds(3));
  EXPECT_EQ(settings.conf.Int("yarn.nodemanager.resource.memory-mb", 0), 4096);
  EXPECT_EQ(settings.conf.List("yarn.nodemanager.local-dirs"), (std::vector<std::string>{"/a", "/b"}));
  EXPECT_TRUE(settings.conf.Bool("yarn.acl.enable", false));
  ASSERT_EQ(settings.queues->queues.size(), 3u);
  EXPECT_EQ(settings.queues->queues[0].name, "root.prod");
  EXPECT_EQ(*settings.queues->queues[0].weight, 3);
  EXPECT_EQ(settings.queues->queues[0].min_resources->absolute.at("memory-mb"), 1024);
  EXPECT_TRUE(settings.queues->queues[1].parent_type);
  EXPECT_EQ(settings.queues->queues[2].name, "root.adhoc.ann");
  EXPECT_EQ(*settings.queues->queues[2].policy, "fifo");
  EXPECT_FALSE(*settings.queues->queues[2].allow_preemption_from);
  EXPECT_EQ(settings.queues->queues[2].priority, 4);
  EXPECT_EQ(settings.queues->queues[2].start_time, 1'700'000'000'000);
}

TEST(FairleadYaml, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(ErrorOf("rm:\n  hots: x\n"), "f.yaml:2:3: unknown entry 'hots' of rm; did you mean 'host'?");
  EXPECT_EQ(ErrorOf("nm:\n  memory: lots\n"),
            "f.yaml:2:11: nm.memory: 'lots' is not an amount of memory; write for example 512MiB or 4GiB");
  EXPECT_TRUE(ErrorOf("shuffle: {port: 70000}").starts_with("f.yaml:1:")) << ErrorOf("shuffle: {port: 70000}");
  EXPECT_TRUE(ErrorOf("queues:\n  a: {weight: heavy}\n").starts_with("f.yaml:2:"));
  EXPECT_TRUE(ErrorOf("queues:\n  a: {weight: .nan}\n").starts_with("f.yaml:2:"));
  EXPECT_EQ(ErrorOf("queues:\n  a: {priority: high}\n"), "f.yaml:2:17: priority is a whole number");
  EXPECT_EQ(ErrorOf("queues:\n  a: {preemptable: perhaps}\n"), "f.yaml:2:20: preemptable is true or false");
  EXPECT_TRUE(ErrorOf("rm: [").starts_with("f.yaml:"));
  EXPECT_NE(ErrorOf("masters: {}"), "");
  EXPECT_EQ(ErrorOf("queues:\n  a: {weight: 1}\n  b:\n  a:\n    weight: 2\n"),
            "f.yaml:4:3: 'a' is written twice, first in line 2; keep one of them");
  for (const char* text : {"rm: {host: a}\nrm: {}", "rm: {host: a, host: b}", "hadoop: {a: 1, a: 2}",
                           "queues: {a: {weight: 1, weight: 2}}", "queues: {a: {max: {vcores: 1, vcores: 2}}}",
                           "queues: {a: {queues: {b: , b: }}}"}) {
    EXPECT_NE(ErrorOf(text).find("is written twice"), std::string::npos) << text;
  }
}

TEST(FairleadYaml, RootHasSettingsOfItsOwn) {
  Settings settings;
  const base::Status status =
      AddFairleadYaml("f.yaml", "queues:\n  root: {policy: fifo, queues: {a: {queues: {root: }}}}\n", settings);
  ASSERT_TRUE(status.ok()) << status.error().message;
  const std::vector<model::QueueConfig>& queues = settings.queues->queues;
  ASSERT_EQ(queues.size(), 3u);
  EXPECT_EQ(queues[0].name, "root");
  EXPECT_EQ(*queues[0].policy, "fifo");
  EXPECT_EQ(queues[1].name, "root.a");
  EXPECT_EQ(queues[2].name, "root.a.root");
  EXPECT_EQ(ErrorOf("queues:\n  a:\n  root: {policy: fifo}\n"),
            "f.yaml:3:9: queues stand beside root; write them under its queues:");
}

TEST(FairleadYaml, AnEmptyFileIsFine) { EXPECT_EQ(ErrorOf(""), ""); }

}  // namespace
}  // namespace fairlead::config
