#include "shell/base/farewell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "endpoints/yarn/rpc_client_session.h"

namespace fairlead::shell {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kWhy = "this port serves user 1000 alone";

/// What Hadoop's client makes of it, by a token and by name.
class HadoopClient : public endpoints::yarn::RpcClientSession::Handler {
 public:
  void OnReply(int32_t, std::string_view) override { ADD_FAILURE(); }
  void OnException(int32_t, const endpoints::yarn::RemoteException&) override { ADD_FAILURE(); }
  void OnFatal(const endpoints::yarn::RemoteException& remote, bool) override { failed = remote; }
  std::optional<endpoints::yarn::RemoteException> failed;
};

TEST(Farewell, HadoopsClientGetsItsException) {
  for (const bool by_name : {true, false}) {
    HadoopClient handler;
    endpoints::yarn::RpcClientOptions options;
    options.user.user = "alice";
    if (!by_name) options.user.token = endpoints::yarn::RpcToken{"identifier", "password", "kind", "service"};
    endpoints::yarn::RpcClientSession client(options, &handler);
    const std::string first = client.TakeOutput();
    EXPECT_EQ(FarewellOf(first.substr(0, 3), kWhy), std::nullopt);
    const std::optional<std::string> answer = FarewellOf(first, kWhy);
    ASSERT_TRUE(answer);
    client.OnBytes(*answer);
    ASSERT_TRUE(handler.failed);
    EXPECT_THAT(handler.failed->class_name, HasSubstr("AccessControlException"));
    EXPECT_EQ(handler.failed->message, kWhy);
  }
}

TEST(Farewell, HttpGets403) {
  EXPECT_EQ(FarewellOf("PO", kWhy), std::nullopt);
  const std::optional<std::string> answer = FarewellOf("POST /ws/v1 HTTP/1.1\r\n", kWhy);
  ASSERT_TRUE(answer);
  EXPECT_THAT(*answer, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(*answer, HasSubstr("Content-Length: 33\r\n"));
  EXPECT_THAT(*answer, testing::EndsWith("\r\n\r\n" + kWhy + "\n"));
}

TEST(Farewell, ARequestOfSparksFailsWithItsId) {
  const std::string id = "\1\2\3\4\5\6\7\x08";
  const std::string request = std::string("\0\0\0\0\0\0\0\x15\3", 9) + id + std::string("\0\0\0\0", 4);
  EXPECT_EQ(FarewellOf(request.substr(0, 16), kWhy), std::nullopt);
  EXPECT_EQ(FarewellOf(request, kWhy),
            std::string("\0\0\0\0\0\0\0\x35\5", 9) + id + std::string("\0\0\0\x20", 4) + kWhy);
}

TEST(Farewell, OthersAreToldNothing) {
  for (const std::string& first :
       {std::string("\x16\3\1\2\0\1"), std::string("GETS"), std::string("hrpd"), std::string(17, '\0'),
        std::string("\0\0\0\0\0\0\0\x15\4", 9) + "12345678", std::string("\xff")})
    EXPECT_EQ(FarewellOf(first, kWhy), "") << first;
}

}  // namespace
}  // namespace fairlead::shell
