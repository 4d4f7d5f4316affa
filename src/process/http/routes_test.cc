#include "process/http/routes.h"

#include <gtest/gtest.h>

namespace fairlead::process::http {
namespace {

struct Row {
  std::string_view method, path;
};
constexpr Row kRows[] = {{"GET", "apps"}, {"GET", "apps/{id}"}, {"PUT", "apps/{id}"}, {"GET", "apps/{id}/when"}};

TEST(Routes, WordsStandForNames) {
  const auto found = FindRoute<Row>(kRows, "GET", {"apps", "a1", "when"});
  ASSERT_EQ(found.row, &kRows[3]);
  EXPECT_EQ(found.words, std::vector<std::string>{"a1"});
  EXPECT_EQ(FindRoute<Row>(kRows, "HEAD", {"apps"}).row, &kRows[0]) << "as GET";
  EXPECT_EQ(FindRoute<Row>(kRows, "PUT", {"apps", "a1"}).row, &kRows[2]);
}

TEST(Routes, APathWithAnotherMethodSaysWhichItHas) {
  const auto found = FindRoute<Row>(kRows, "POST", {"apps", "a1"});
  EXPECT_EQ(found.row, nullptr);
  EXPECT_EQ(found.methods, "GET, PUT");
}

TEST(Routes, OtherPathsHaveNone) {
  for (const std::vector<std::string>& path :
       {std::vector<std::string>{}, {"app"}, {"apps", "a", "b"}, {"apps", "a", "when", "x"}}) {
    const auto found = FindRoute<Row>(kRows, "GET", path);
    EXPECT_EQ(found.row, nullptr);
    EXPECT_EQ(found.methods, "");
  }
}

}  // namespace
}  // namespace fairlead::process::http
