#include "rm/labels.h"

#include <gtest/gtest.h>

#include "model/queues.h"

namespace fairlead::rm {
namespace {

using model::Refusal;
using model::scheduler::ClusterLabel;

/// fast is exclusive, shared is not.
Labels Two() {
  Labels labels;
  std::vector<ClusterLabel> added;
  EXPECT_FALSE(labels.Add({{"fast", true}, {"shared", false}}, added));
  EXPECT_EQ(added.size(), 2u);
  return labels;
}

TEST(Labels, ANodesOwnLabelGoesBeforeItsHosts) {
  Labels labels = Two();
  EXPECT_FALSE(labels.Replace({{{"h", 0}, "fast"}}));
  EXPECT_FALSE(labels.Replace({{{"h", 7}, "shared"}}));
  EXPECT_EQ(labels.Of({"h", 7}), "shared");
  EXPECT_EQ(labels.Of({"h", 8}), "fast");
  EXPECT_EQ(labels.Of({"other", 8}), "");
  // A host's new label is that of all its nodes.
  EXPECT_FALSE(labels.Replace({{{"h", 0}, "fast"}}));
  EXPECT_EQ(labels.Of({"h", 7}), "fast");
  EXPECT_FALSE(labels.Replace({{{"h", 7}, ""}}));
  EXPECT_EQ(labels.Of({"h", 7}), "") << "it was given none, whatever its host has";
  EXPECT_FALSE(labels.Replace({{{"h", 0}, ""}}));
  EXPECT_TRUE(labels.of_nodes().empty());
}

TEST(Labels, WhatIsWrongIsRefusedWhole) {
  Labels labels = Two();
  std::vector<ClusterLabel> added;
  for (const char* name : {"", "-a", "a b", "a.b"}) {
    EXPECT_EQ(labels.Add({{"new", true}, {name, true}}, added).why, Refusal::kLabelName) << name;
  }
  EXPECT_EQ(labels.Add({{std::string(256, 'a'), true}}, added).why, Refusal::kLabelName);
  EXPECT_EQ(labels.Add({{"new", true}, {"fast", false}}, added).why, Refusal::kLabelExclusivity);
  EXPECT_TRUE(added.empty());
  EXPECT_FALSE(labels.Knows("new"));
  EXPECT_EQ(labels.Replace({{{"h", 0}, "fast"}, {{"i", 0}, "new"}}).why, Refusal::kLabelsUnknown);
  EXPECT_TRUE(labels.of_nodes().empty());
}

TEST(Labels, ALabelThatAQueueNamesStays) {
  Labels labels = Two();
  ASSERT_FALSE(labels.Replace({{{"h", 0}, "fast"}, {{"i", 0}, "shared"}}));
  model::QueueTree tree;
  tree.queues.emplace_back().name = "root";
  tree.queues.back().labels = {"fast"};
  EXPECT_EQ(labels.Remove({"shared", "fast"}, model::QueueSet(tree)).why, Refusal::kLabelInUse);
  EXPECT_TRUE(labels.Knows("shared"));
  EXPECT_EQ(labels.Remove({"gone"}, model::QueueSet(tree)).why, Refusal::kLabelNotThere);
  EXPECT_FALSE(labels.Remove({"shared"}, model::QueueSet(tree)));
  EXPECT_EQ(labels.Of({"i", 1}), "");
  EXPECT_EQ(labels.Of({"h", 1}), "fast");
  EXPECT_EQ(Labels(labels.Record()).of_nodes(), labels.of_nodes());
  EXPECT_EQ(Labels(labels.Record()).known(), labels.known());
}

TEST(Labels, AnAskGetsItsQueuesLabelAndMayNameThoseOfTheQueueAlone) {
  const Labels labels = Two();
  model::QueueTree tree;
  for (const char* name : {"root", "root.a", "root.a.b"}) tree.queues.emplace_back().name = name;
  tree.queues[0].labels = {"*"};
  tree.queues[1].labels = tree.queues[2].labels = {"fast"};
  tree.queues[2].default_label = "fast";
  const model::QueueSet queues(tree);
  const auto said = [&](const std::string& queue, const std::string& label, const std::string& place = "*") {
    model::Ask ask;
    ask.name = place;
    ask.label = label;
    const model::Refused refused = NormalizeLabel(labels, queues, queue, ask);
    return refused ? std::string(EnumName(refused.why)) : ask.label;
  };
  EXPECT_EQ(said("root.a", ""), "");
  EXPECT_EQ(said("root.a.b", ""), "fast");
  EXPECT_EQ(said("b", ""), "fast") << "the last part of one queue alone names it";
  EXPECT_EQ(said("root.a.b", "", "h"), "") << "of places only * has a label";
  EXPECT_EQ(said("root.a", "fast"), "fast");
  EXPECT_EQ(said("root.a", "fast", "h"), "ASK_LABEL_PLACE");
  EXPECT_EQ(said("root.a", "shared"), "ASK_LABEL_QUEUE");
  EXPECT_EQ(said("root", "unknown"), "ASK_LABEL_UNKNOWN");
}

}  // namespace
}  // namespace fairlead::rm
