#include "shell/spark/next_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "env_posix/posix_loop.h"

namespace fairlead::shell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The ports that are tried where all are taken.
std::vector<int> TriedFrom(uint16_t first, int retries, int error, std::string& told) {
  env::NullLog log;
  std::vector<int> tried;
  const auto server =
      ListenOnNextFree(log, {"127.0.0.1", first}, retries, "the page", "--webui-port", [&](const env::Endpoint& at) {
        tried.push_back(at.port);
        return ListeningServer(base::Error{"cannot listen on " + at.ToString(), error});
      });
  EXPECT_FALSE(server.ok());
  told = server.ok() ? "" : server.error().message;
  return tried;
}

TEST(NextPort, IsTheOneAfterATakenOneAsOftenAsIsSaid) {
  std::string told;
  EXPECT_THAT(TriedFrom(8080, 2, EADDRINUSE, told), ElementsAre(8080, 8081, 8082));
  EXPECT_EQ(
      told,
      "the page: cannot listen on 127.0.0.1:8082 (nor on the 2 ports after 8080); --webui-port says another port");
  EXPECT_THAT(TriedFrom(65535, 2, EADDRINUSE, told), ElementsAre(65535, 1024, 1025));
  EXPECT_THAT(TriedFrom(0, 2, EADDRINUSE, told), ElementsAre(0));
  EXPECT_THAT(TriedFrom(80, 2, EACCES, told), ElementsAre(80));
  EXPECT_THAT(told, HasSubstr("--webui-port says another port"));
}

TEST(NextPort, IsTakenByTheSystemsWords) {
  const auto loop = env_posix::MakePosixLoop();
  env::NullLog log;
  const auto listen = [&](const env::Endpoint& at) {
    return process::http::Server::Listen(*loop, *loop, at, {}, [](const auto&, const auto&) {});
  };
  const auto first = listen({"127.0.0.1", 0});
  ASSERT_TRUE(first.ok());
  const env::Endpoint taken = (*first)->local();
  const auto next = ListenOnNextFree(log, taken, 16, "the page", "--webui-port", listen);
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_NE((*next)->local().port, taken.port);
}

}  // namespace
}  // namespace fairlead::shell
