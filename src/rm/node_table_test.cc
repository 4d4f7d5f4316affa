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
  table.Deactivate(fresh);
  EXPECT_EQ(table.Active({"a", 1}), nullptr);
  EXPECT_EQ(table.active(), 1u);
}

}  // namespace
}  // namespace fairlead::rm
