#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::base {
namespace {

// RFC 3720, B.4, and the check value of the algorithm.
TEST(Crc32c, KnownVectors) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(Crc32c, ASumOfPartsIsThatOfTheWhole) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 37);
  const uint32_t whole = Crc32c(text);
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(Crc32c(text.substr(cut), Crc32c(text.substr(0, cut))), whole) << cut;
  }
}

}  // namespace
}  // namespace fairlead::base
