#include "config/yaml_edit.h"

#include <gtest/gtest.h>

#include "config/fairlead_yaml.h"

namespace fairlead::config {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

std::string Edited(std::string_view text, std::string_view queue, const Settings& settings) {
  const base::Result<std::string> after = EditFairleadYaml(text, queue, settings);
  return after.ok() ? *after : "refused: " + after.error().message;
}

constexpr char kBlock[] = R"(# who may have how much
rm: {host: 127.0.0.1}
queues:
  prod:
    weight: 3   # as agreed
    min: {memory: 1GiB, vcores: 1}
  dev: {weight: 1, max-apps: 5}
  lab:
)";

TEST(YamlEdit, AValueIsReplacedWhereItStands) {
  EXPECT_EQ(Edited("queues:\n  prod:\n    weight: 3   # as agreed\n", "root.prod", {{"weight", "4.5"}}),
            "queues:\n  prod:\n    weight: 4.5   # as agreed\n");
  EXPECT_EQ(Edited("queues: {dev: {weight: \"1\", max-apps: 5}}\n", "dev", {{"weight", "2"}, {"max-apps", "6"}}),
            "queues: {dev: {weight: 2, max-apps: 6}}\n");
  EXPECT_EQ(Edited("queues:\n  a:\n    min: {memory: 1GiB, vcores: 1} # x\n", "a", {{"min", "{memory: 2GiB}"}}),
            "queues:\n  a:\n    min: {memory: 2GiB} # x\n");
}

TEST(YamlEdit, WhatIsNotThereIsMade) {
  EXPECT_EQ(Edited("queues:\n  prod:\n    weight: 3\n", "prod", {{"policy", "fifo"}}),
            "queues:\n  prod:\n    policy: fifo\n    weight: 3\n");
  EXPECT_EQ(Edited("queues:\n  dev: {weight: 1}\n  lab:\n", "lab", {{"weight", "2"}}),
            "queues:\n  dev: {weight: 1}\n  lab: {weight: 2}\n");
  EXPECT_EQ(Edited("queues:\n  dev: {weight: 1}\n", "root.new", {{"weight", "2"}}),
            "queues:\n  new: {weight: 2}\n  dev: {weight: 1}\n");
  EXPECT_EQ(Edited("queues:\n  dev: {weight: 1}\n", "root.dev.ann", {{"weight", "2"}}),
            "queues:\n  dev: {queues: {ann: {weight: 2}}, weight: 1}\n");
  EXPECT_EQ(Edited("rm: {host: h}\n", "a.b", {{"weight", "2"}}),
            "queues: {a: {queues: {b: {weight: 2}}}}\nrm: {host: h}\n");
  EXPECT_EQ(Edited("", "a", {{"weight", "2"}}), "queues: {a: {weight: 2}}\n");
}

TEST(YamlEdit, RootAndThoseBelowIt) {
  constexpr char kRoot[] = "queues:\n  root:\n    queues: {a: {weight: 1}}\n";
  EXPECT_EQ(Edited(kRoot, "root", {{"policy", "fifo"}}),
            "queues:\n  root:\n    policy: fifo\n    queues: {a: {weight: 1}}\n");
  EXPECT_EQ(Edited(kRoot, "root.a", {{"weight", "2"}}), "queues:\n  root:\n    queues: {a: {weight: 2}}\n");
}

TEST(YamlEdit, AnEmptyValueTakesItOut) {
  EXPECT_EQ(Edited("queues:\n  prod:\n    weight: 3 # as agreed\n    max-apps: 2\n", "prod", {{"weight", ""}}),
            "queues:\n  prod:\n    max-apps: 2\n");
  EXPECT_EQ(Edited("queues: {dev: {weight: 1, max-apps: 5, priority: 2}}", "dev", {{"max-apps", ""}}),
            "queues: {dev: {weight: 1, priority: 2}}");
  EXPECT_EQ(Edited("queues: {dev: {weight: 1, priority: 2}}", "dev", {{"priority", ""}}), "queues: {dev: {weight: 1}}");
  EXPECT_EQ(Edited("queues: {dev: {weight: 1}}", "other", {{"weight", ""}}), "queues: {dev: {weight: 1}}");
}

/// Whatever is set, everything else is read as before.
TEST(YamlEdit, TheRestStays) {
  for (const char* queue : {"prod", "dev", "lab", "root.prod.x", "new.one"}) {
    for (const Settings& settings : {Settings{{"weight", "7"}}, Settings{{"min", "{memory: 3GiB}"}, {"weight", "7"}},
                                     Settings{{"max-apps", "1"}, {"weight", ""}}}) {
      const std::string after = Edited(kBlock, queue, settings);
      config::Settings read;
      EXPECT_TRUE(AddFairleadYaml("f", after, read).ok()) << after;
      EXPECT_TRUE(after.starts_with("# who may have how much\nrm: {host: 127.0.0.1}\nqueues:\n")) << after;
    }
  }
}

TEST(YamlEdit, WhatIsNotChangedSafelyIsRefused) {
  EXPECT_NE(Edited("queues:\n  a: &x\n    weight: 3\n  b: *x\n", "b", {{"weight", "4"}}).find("by hand"),
            std::string::npos);
  EXPECT_NE(Edited("queues:\n  a:\n    min:\n      memory: 1GiB\n", "a", {{"min", "{memory: 2GiB}"}}).find("by hand"),
            std::string::npos);
  EXPECT_NE(Edited("queues: [", "a", {{"weight", "4"}}).find("not well-formed"), std::string::npos);
  EXPECT_NE(Edited("", "a", {{"weight", "{"}}).find("not well-formed"), std::string::npos);
  EXPECT_NE(Edited("", "root", {{"weight", "2"}}).find("root.prod"), std::string::npos);
  EXPECT_NE(Edited("", "a..b", {{"weight", "2"}}).find("root.prod"), std::string::npos);
  EXPECT_NE(Edited("", "a", {{"weight", "2\nrm: {}"}}).find("no setting"), std::string::npos);
  EXPECT_NE(Edited("queues: text\n", "a", {{"weight", "2"}}).find("refused"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::config
