#include "engine/driver/page_tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "engine/settings/spark_settings.h"
#include "env_posix/posix_loop.h"
#include "env_posix/test_directory.h"

namespace fairlead::engine {
namespace {

TEST(PageTlsTest, FilesThatAreNoneAreRefusedByName) {
  const env_posix::TestDirectory directory;
  const auto loop = env_posix::MakePosixLoop();
  const auto disk = env_posix::MakePosixDisk();
  const auto why = [&](const std::string& path) {
    const auto opened = PageTls::Open(*loop, *loop, *disk, {{kPageCertificate, path}}, nullptr);
    return opened.ok() ? "" : opened.error().message;
  };
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  ASSERT_TRUE(disk->WriteFileAtomically(directory / "junk", std::string(100, '\xff')).ok());
  EXPECT_THAT(why(directory / "pipe"), testing::HasSubstr("pipe is a pipe; write its bytes to a file"));
  EXPECT_THAT(why(directory / "junk"), testing::HasSubstr(kPageCertificate));
  EXPECT_THAT(why(directory / "absent"), testing::HasSubstr(kPageCertificate));
  const auto none = PageTls::Open(*loop, *loop, *disk, {}, nullptr);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, nullptr);
}

}  // namespace
}  // namespace fairlead::engine
