#include "wire/spark_transport/java_text.h"

#include <gtest/gtest.h>

namespace fairlead::wire::spark_transport {
namespace {

TEST(JavaTextTest, KeepsWhatIsWellFormed) {
  EXPECT_EQ(JavaText(""), "");
  EXPECT_EQ(JavaText("shuffle_0_1_2"), "shuffle_0_1_2");
  EXPECT_EQ(JavaText("a\u00e9\u0663\uffff\U0001f600"), "a\u00e9\u0663\uffff\U0001f600");
}

// As printed by JDK 17.
TEST(JavaTextTest, ReplacesAsJavaDoes) {
  EXPECT_EQ(JavaText("\xff\xfe_1"), "\ufffd\ufffd_1");
  EXPECT_EQ(JavaText("\xc3"), "\ufffd");
  EXPECT_EQ(JavaText("\xc3x"), "\ufffdx");
  EXPECT_EQ(JavaText("\xc0\x80"), "\ufffd\ufffd");
  EXPECT_EQ(JavaText("\xed\xa0\x80_1"), "\ufffd_1");
  EXPECT_EQ(JavaText("\xe2\x82x"), "\ufffdx");
  EXPECT_EQ(JavaText("\xe2x"), "\ufffdx");
  EXPECT_EQ(JavaText("\xe2\x82"), "\ufffd");
  EXPECT_EQ(JavaText("\xe0\x80\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(JavaText("\xf0\x9f\x98x"), "\ufffdx");
  EXPECT_EQ(JavaText("\xf0\x9f\x98"), "\ufffd");
  EXPECT_EQ(JavaText("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");
}

}  // namespace
}  // namespace fairlead::wire::spark_transport
