#include "env_posix/peer_user.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cstdlib>

namespace fairlead::env_posix {
namespace {

/// Both ends of a connection of this process with itself; `family` of the caller, the listener takes both.
struct Pair {
  explicit Pair(int family) {
    const int listener = ::socket(AF_INET6, SOCK_STREAM, 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener, generic, size), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(::getsockname(listener, generic, &size), 0);
    caller = ::socket(family, SOCK_STREAM, 0);
    if (family == AF_INET) {
      sockaddr_in loopback{};
      loopback.sin_family = AF_INET;
      loopback.sin_port = address.sin6_port;
      loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      EXPECT_EQ(::connect(caller, reinterpret_cast<sockaddr*>(&loopback), sizeof loopback), 0);
    } else {
      address.sin6_addr = in6addr_loopback;
      EXPECT_EQ(::connect(caller, generic, size), 0);
    }
    accepted = ::accept(listener, nullptr, nullptr);
    ::close(listener);
  }
  ~Pair() {
    HangUp();
    ::close(accepted);
  }
  void HangUp() {
    if (caller >= 0) ::close(caller);
    caller = -1;
  }
  int caller = -1;
  int accepted = -1;
};

TEST(PeerUser, IsWhoHoldsTheOtherEnd) {
  EXPECT_EQ(PeerUser(Pair(AF_INET).accepted), ::geteuid());
  EXPECT_EQ(PeerUser(Pair(AF_INET6).accepted), ::geteuid());
}

in_port_t PortOf(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

TEST(PeerUser, IsFoundByAddresses) {
  const Pair pair(AF_INET);
  const env::Endpoint there{"127.0.0.1", PortOf(pair.caller)}, here{"127.0.0.1", PortOf(pair.accepted)};
  EXPECT_EQ(UserOfConnection(there, here), ::geteuid());
  EXPECT_EQ(UserOfConnection({"::ffff:127.0.0.1", there.port}, here), ::geteuid());
  EXPECT_EQ(UserOfConnection({"10.255.255.1", there.port}, here), std::nullopt);
  EXPECT_EQ(UserOfConnection({"a.name", there.port}, here), std::nullopt);
}

TEST(PeerUser, WhoListensAtThePortOfACallerIsNotTheCaller) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::listen(listener, 1), 0);  // at every address
  for (const char* caller : {"127.0.0.1", "10.255.255.1"}) {
    EXPECT_EQ(UserOfConnection({caller, PortOf(listener)}, {"127.0.0.1", 9}), std::nullopt) << caller;
  }
  ::close(listener);
}

TEST(PeerUser, IsNobodyOnceThatEndIsClosed) {
  Pair pair(AF_INET);
  EXPECT_EQ(::send(pair.caller, "bytes", 5, 0), 5);
  pair.HangUp();
  EXPECT_EQ(PeerUser(pair.accepted), std::nullopt);
}

TEST(PeerUser, IsNobodyOfWhatIsNoConnection) {
  EXPECT_EQ(PeerUser(-1), std::nullopt);
  const int unconnected = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(PeerUser(unconnected), std::nullopt);
  ::close(unconnected);
}

TEST(PeerUserDeathTest, OthersAreNotServed) {
  // The choice is for a whole process: in one of its own.
  const auto serves_self_after = [](std::vector<uid_t> users) {
    if (!TakeCallsOnlyFrom(std::move(users)).ok()) std::exit(9);
    Pair pair(AF_INET);
    const auto serves = [](int connection) { return !StrangerAt(connection, {}, {}).has_value(); };
    const bool served = serves(pair.accepted);
    pair.HangUp();
    std::exit(serves(pair.accepted) ? 8 : served ? 0 : 1);
  };
  EXPECT_FALSE(StrangerAt(-1, {}, {}).has_value());
  EXPECT_EXIT(serves_self_after({::geteuid()}), testing::ExitedWithCode(0), "");
  // Root is always served.
  EXPECT_EXIT(serves_self_after({::geteuid() + 1}), testing::ExitedWithCode(::geteuid() == 0 ? 0 : 1), "");
}

}  // namespace
}  // namespace fairlead::env_posix
