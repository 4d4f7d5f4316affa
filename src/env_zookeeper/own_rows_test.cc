#include "env_zookeeper/own_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace fairlead::env_zookeeper {
namespace {

std::set<std::string> Names(const std::vector<RowNode>& nodes) {
  std::set<std::string> names;
  for (const RowNode& node : nodes) names.insert(node.name);
  return names;
}

TEST(OwnRows, NodesOutOfOrderAreNone) {
  const std::vector<RowNode> ours = {{"a", 3, 30}, {"b", 3, 30}, {"c", 5, 50}, {"d", 9, 90}};
  const HeadTimes head{10, 100};  // of version 11
  const RowNode strangers[] = {
      {"before the head", 1, 9},        {"after its last change", 9, 101}, {"an old version", 1, 70},
      {"a version ahead", 9, 40},       {"the head's version", 11, 95},    {"the head's transaction", 10, 100},
      {"another transaction's", 3, 31}, {"the same again", 3, 29},         {"between two of ours", 2, 60},
  };
  for (const RowNode& stranger : strangers) {
    std::vector<RowNode> all = ours;
    all.push_back(stranger);
    EXPECT_EQ(Names(MayBeOurs(all, ours.size(), 11, head)), Names(ours)) << stranger.name;
  }
  // One that fits is not told from a row, nor is one beside a single row of the same version.
  for (const RowNode& stranger : {RowNode{"fits", 4, 40}, RowNode{"twin", 5, 55}}) {
    std::vector<RowNode> all = ours;
    all.push_back(stranger);
    EXPECT_EQ(MayBeOurs(all, ours.size(), 11, head).size(), 5u) << stranger.name;
  }
}

// Whatever strangers put there: none of ours is taken for one of theirs.
TEST(OwnRows, NoneOfOursIsEverLeftOut) {
  std::mt19937_64 random(7);
  for (int run = 0; run < 2000; ++run) {
    std::vector<RowNode> nodes;
    std::set<std::string> ours;
    int64_t made = 100;
    uint64_t version = 1 + random() % 5;
    for (size_t left = random() % 20; left > 0; --left) {
      nodes.push_back({"ours " + std::to_string(left), version, made});
      ours.insert(nodes.back().name);
      if (left == 1 || random() % 3 == 0) continue;
      made += 1 + static_cast<int64_t>(random() % 5);
      version += 1 + random() % 5;
    }
    for (size_t left = random() % 40; left > 0; --left) {
      nodes.push_back(
          {"theirs " + std::to_string(left), random() % (version + 2), 95 + static_cast<int64_t>(random() % 80)});
    }
    std::shuffle(nodes.begin(), nodes.end(), random);
    const std::set<std::string> left = Names(MayBeOurs(nodes, ours.size(), version, {99, made}));
    EXPECT_TRUE(std::includes(left.begin(), left.end(), ours.begin(), ours.end())) << "run " << run;
  }
}

TEST(OwnRows, ManyOfOneVersionAreSoonToldFromOurs) {
  std::vector<RowNode> nodes;
  for (uint64_t i = 0; i < 10'000; ++i)
    nodes.push_back({"ours" + std::to_string(i), i + 1, static_cast<int64_t>(10 * i)});
  for (int64_t i = 0; i < 100'000; ++i) nodes.push_back({"theirs" + std::to_string(i), 1, i + 11});
  const std::vector<RowNode> left = MayBeOurs(nodes, 10'000, 10'001, {-1, 200'000});
  EXPECT_EQ(left.size(), 10'000u);
  for (const RowNode& node : left) EXPECT_TRUE(node.name.starts_with("ours"));
}

}  // namespace
}  // namespace fairlead::env_zookeeper
