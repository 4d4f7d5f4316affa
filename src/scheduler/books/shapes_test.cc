#include "scheduler/books/shapes.h"

#include <gtest/gtest.h>

#include <set>

#include "scheduler/books/hash_of.h"

namespace fairlead::scheduler::native {
namespace {

using model::Resources;

ShapeId Wanted(Shapes& shapes, int64_t memory) {
  const ShapeId shape = shapes.For({Resources::Of(memory, 1), LabelId{}});
  shapes.Use(shape);
  shapes.Want(shape);
  return shape;
}

TEST(ShapesTest, SixtyFourShapesHaveAClassEachTheNextOneShares) {
  Shapes shapes;
  std::set<uint64_t> classes;
  for (int64_t i = 1; i <= 64; ++i) classes.insert(shapes.ClassOf(Wanted(shapes, i)));
  EXPECT_EQ(classes.size(), 64u);
  EXPECT_TRUE(shapes.AloneInClass(ShapeId{0}));
  const ShapeId next = Wanted(shapes, 65);
  EXPECT_EQ(shapes.ClassOf(next), shapes.ClassOf(ShapeId{0}));
  EXPECT_FALSE(shapes.AloneInClass(ShapeId{0}));
}

TEST(ShapesTest, ABlockedShapeIsNotServableUntilANodeHasRoom) {
  Shapes shapes;
  const ShapeId shape = Wanted(shapes, 1);
  EXPECT_EQ(shapes.servable(), shapes.ClassOf(shape));
  shapes.Block(shape, {5});
  EXPECT_EQ(shapes.servable(), 0u);
  EXPECT_EQ(shapes.tight(), std::vector<ShapeId>{shape});
  shapes.Offer(shape, NodeIndex{3});
  EXPECT_EQ(shapes.servable(), shapes.ClassOf(shape));
  EXPECT_TRUE(shapes[shape].exact);
  EXPECT_EQ(shapes[shape].candidates, std::vector<NodeIndex>{NodeIndex{3}});
}

TEST(ShapesTest, WithManyCandidatesTheIndexIsSearchedAgain) {
  Shapes shapes;
  const ShapeId shape = Wanted(shapes, 1);
  shapes.Block(shape, {});
  for (uint32_t node = 0; node < 17; ++node) shapes.Offer(shape, NodeIndex{node});
  EXPECT_FALSE(shapes[shape].exact);
  EXPECT_TRUE(shapes.tight().empty());
}

TEST(ShapesTest, TheLastUseForgetsTheShape) {
  Shapes shapes;
  const ShapeId shape = Wanted(shapes, 1);
  shapes.Use(shape);  // a container has it
  shapes.Unwant(shape);
  shapes.Drop(shape);
  EXPECT_TRUE(shapes.Knows({Resources::Of(1, 1), LabelId{}}));
  shapes.Drop(shape);
  EXPECT_FALSE(shapes.Knows({Resources::Of(1, 1), LabelId{}}));
  EXPECT_EQ(shapes.Check({0}, {0}), "");
}

TEST(ShapesTest, SmallerShapesPassLargerOnes) {
  Shapes shapes;
  const ShapeId small = Wanted(shapes, 1);
  const ShapeId large = Wanted(shapes, 9);
  EXPECT_TRUE(shapes.MayBePassed(large, 2));
  EXPECT_FALSE(shapes.MayBePassed(small, 2));
}

TEST(ShapesTest, EveryChangeIsInTheHash) {
  Shapes shapes;
  std::set<uint64_t> seen;
  const auto differs = [&] { return seen.insert(HashOf(shapes)).second; };
  EXPECT_TRUE(differs());
  const ShapeId shape = Wanted(shapes, 1);
  EXPECT_TRUE(differs());
  shapes.Use(shape);
  EXPECT_TRUE(differs());
  shapes.Block(shape, {5});
  EXPECT_TRUE(differs());
  shapes.Postpone(shape, {6});
  EXPECT_TRUE(differs());
  shapes.Offer(shape, NodeIndex{1});
  EXPECT_TRUE(differs());
  shapes.Offer(shape, NodeIndex{2});
  EXPECT_TRUE(differs());
}

}  // namespace
}  // namespace fairlead::scheduler::native
