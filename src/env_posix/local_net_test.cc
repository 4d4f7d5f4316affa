#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "env_posix/posix_loop.h"
#include "env_posix/test_directory.h"

namespace fairlead::env_posix {
namespace {

/// Whether somebody answers there.
bool Answers(PosixLoop& loop, const std::string& name) {
  bool answers = false;
  loop.ConnectLocal(name, [&](const auto& stream) {
    answers = stream.ok();
    loop.Stop();
  });
  loop.Run();
  return answers;
}

TEST(LocalNet, APathIsTakenOnceAndAgainWhenItsListenerHasEnded) {
  const TestDirectory directory;
  const auto loop = MakePosixLoop();
  const std::string deep = directory / std::string(200, 'd');  // longer than a socket's address may be
  std::filesystem::create_directory(deep);
  for (const std::string& name : {directory / "s", deep + "/s"}) {
    EXPECT_FALSE(Answers(*loop, name));
    auto first = loop->ListenLocal(name, [](auto) {});
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_FALSE(loop->ListenLocal(name, [](auto) {}).ok());
    EXPECT_TRUE(Answers(*loop, name));
    first->reset();
    EXPECT_TRUE(std::filesystem::is_socket(name)) << "as after kill -9";
    EXPECT_FALSE(Answers(*loop, name));
    EXPECT_TRUE(loop->ListenLocal(name, [](auto) {}).ok());
  }
  EXPECT_FALSE(loop->ListenLocal(directory / "none/s", [](auto) {}).ok());
}

}  // namespace
}  // namespace fairlead::env_posix
