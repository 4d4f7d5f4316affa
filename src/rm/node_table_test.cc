#include "rm/node_table.h"

#include <gtest/gtest.h>

namespace fairlead::rm {
namespace {

Node Named(const std::string& host, int32_t port) {
  Node node;
  node.address = {host, port};
  return node;
}

TEST(NodeTable, NumbersNodesInOrderAndKeepsThemWhereTheyAre) {
  NodeTable table;
  Node& first = table.Add(Named("a", 1));
  for (int i = 0; i < 100; ++i) table.Add(Named("b" + std::to_string(i), 1));
  EXPECT_EQ(first.index.value, 0u);
  EXPECT_EQ(&table[{0}], &first);
  EXPECT_EQ(table.Find({100})->address.host, "b99");
  EXPECT_EQ(table.Find({101}), nullptr);
  EXPECT_EQ(table.Find({}), nullptr);
  EXPECT_EQ(table.active(), 0u);
}

TEST(NodeTable, OneIsActiveUnderAName) {
  NodeTable table;
  Node& old = table.Add(Named("a", 1));
  Node& other = table.Add(Named("a", 2));
  table.Activate(old);
  table.Activate(other);
  Node& fresh = table.Add(Named("a", 1));
  table.Activate(fresh);  // the same name registers again
  EXPECT_EQ(table.Active({"a", 1}), &fresh);
  EXPECT_EQ(table.Active({"a", 2}), &other);
  EXPECT_EQ(table.active(), 2u);
  size_t visited = 0;
  table.ForEachActive([&](const Node& node) {
    ++visited;
    EXPECT_NE(&node, &old);
  });
  EXPECT_EQ(visited, 2u);
  table.Remove(fresh);
  EXPECT_EQ(table.Active({"a", 1}), nullptr);
  EXPECT_EQ(table.active(), 1u);
  EXPECT_EQ(table.Gone({"a", 1}), &fresh);
}

TEST(NodeTable, TheLargestIsOfThoseThatAreActive) {
  NodeTable table;
  for (const int64_t size : {5, 9, 7}) {
    Node node = Named("n" + std::to_string(size), 1);
    node.capacity = model::Resources::Of(size, 10 - size);
    table.Activate(table.Add(node));
  }
  EXPECT_EQ(table.largest(), model::Resources::Of(9, 5));
  table.Remove(table[{1}]);
  EXPECT_EQ(table.largest(), model::Resources::Of(7, 5));
  table[{2}].capacity = model::Resources::Of(6, 8);
  table.Resized();
  EXPECT_EQ(table.largest(), model::Resources::Of(6, 8));
}

TEST(NodeTable, ForgetsTheOldestOfThoseThatWentAway) {
  NodeTable table;
  table.Activate(table.Add(Named("stays", 1)));
  constexpr int kMany = 100'000;
  for (int i = 0; i < kMany; ++i) {
    Node& node = table.Add(Named("n" + std::to_string(i), 1));
    table.Activate(node);
    table.Remove(node);
    EXPECT_EQ(table[node.index].address.host, node.address.host) << "what has just gone is still there";
    table.Clear();
  }
  size_t kept = 0;
  table.ForEach([&](const Node&) { ++kept; });
  EXPECT_EQ(kept, NodeTable::kGoneKept + 1);
  kept = 0;
  table.ForEachGone([&](const Node&) { ++kept; });
  EXPECT_EQ(kept, NodeTable::kGoneKept);
  EXPECT_EQ(table.Find({1}), nullptr);
  EXPECT_EQ(table[{1}].address.host, "");
  EXPECT_EQ(table.Gone({"n0", 1}), nullptr);
  EXPECT_NE(table.Gone({"n99999", 1}), nullptr);
  EXPECT_NE(table.Active({"stays", 1}), nullptr);
}

TEST(NodeTable, WhatAnIndexReplacedUnderANameIsForgottenToo) {
  NodeTable table;
  for (size_t i = 0; i < NodeTable::kGoneKept + 5; ++i) table.Activate(table.Add(Named("flaps", 1)));
  size_t kept = 0;
  table.ForEach([&](const Node&) { ++kept; });
  EXPECT_EQ(kept, NodeTable::kGoneKept + 1);
  EXPECT_NE(table.Active({"flaps", 1}), nullptr);
  EXPECT_EQ(table.Gone({"flaps", 1}), nullptr);
}

}  // namespace
}  // namespace fairlead::rm
