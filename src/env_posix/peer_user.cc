#include "env_posix/peer_user.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fairlead::env_posix {
namespace {

/// Whom this process serves; nullopt: everybody.
std::optional<std::vector<uid_t>> served;
Farewell farewell_of_strangers;

struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

struct Query {
  nlmsghdr head{};
  inet_diag_req_v2 request{};
};

/// One end of a connection as the kernel's tables have it: IPv4 inside IPv6 is IPv4 there.
struct End {
  sa_family_t family = AF_UNSPEC;
  uint16_t port = 0;      // in network order
  uint32_t address[4]{};  // in network order
};

std::optional<End> EndOf(const sockaddr_storage& from) {
  End out;
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    out.family = AF_INET;
    out.port = v4.sin_port;
    out.address[0] = v4.sin_addr.s_addr;
    return out;
  }
  if (from.ss_family != AF_INET6) return std::nullopt;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(from);
  out.port = v6.sin6_port;
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    out.family = AF_INET;
    std::memcpy(out.address, v6.sin6_addr.s6_addr + 12, 4);
  } else {
    out.family = AF_INET6;
    std::memcpy(out.address, v6.sin6_addr.s6_addr, 16);
  }
  return out;
}

std::optional<End> EndAt(const env::Endpoint& numeric) {
  sockaddr_storage address{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  if (::inet_pton(AF_INET, numeric.host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(numeric.port);
  } else if (::inet_pton(AF_INET6, numeric.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(numeric.port);
  }
  return EndOf(address);
}

/// The owner of the socket whose own end is `own` and whose peer is `other`.
std::optional<uid_t> OwnerOf(const End& own, const End& other) {
  const Descriptor netlink{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)};
  if (netlink.value < 0) return std::nullopt;
  Query query;
  query.head.nlmsg_len = sizeof query;
  query.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  query.head.nlmsg_flags = NLM_F_REQUEST;
  query.request.sdiag_family = static_cast<__u8>(own.family);
  query.request.sdiag_protocol = IPPROTO_TCP;
  query.request.idiag_states = ~0u;
  query.request.id.idiag_sport = own.port;
  query.request.id.idiag_dport = other.port;
  std::memcpy(query.request.id.idiag_src, own.address, sizeof own.address);
  std::memcpy(query.request.id.idiag_dst, other.address, sizeof other.address);
  query.request.id.idiag_cookie[0] = query.request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (::send(netlink.value, &query, sizeof query, 0) != static_cast<ssize_t>(sizeof query)) return std::nullopt;
  alignas(nlmsghdr) char answer[4096];
  ssize_t size = 0;
  do {
    size = ::recv(netlink.value, answer, sizeof answer, 0);
  } while (size < 0 && errno == EINTR);
  if (size < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg)))) return std::nullopt;
  const auto* head = reinterpret_cast<const nlmsghdr*>(answer);
  if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  const auto* found = static_cast<const inet_diag_msg*>(NLMSG_DATA(head));
  // Sockets that no process holds any more (closed with bytes under way, TIME_WAIT) have no inode, and count as root's.
  if (found->idiag_inode == 0) return std::nullopt;
  // Where there is no such connection the kernel names who listens at that port: a caller on another machine with the
  // same port would pass as him.
  if (found->id.idiag_sport != own.port || found->id.idiag_dport != other.port) return std::nullopt;
  return found->idiag_uid;
}

/// Whether the kernel answers at all: a connection of this process with itself has this process' user.
bool KernelTells() {
  const Descriptor listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const Descriptor caller{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.value, generic, size) != 0 || ::listen(listener.value, 1) != 0 ||
      ::getsockname(listener.value, generic, &size) != 0 || ::connect(caller.value, generic, size) != 0) {
    return false;
  }
  const Descriptor accepted{::accept4(listener.value, nullptr, nullptr, SOCK_CLOEXEC)};
  return PeerUser(accepted.value) == ::geteuid();
}

}  // namespace

std::optional<uid_t> UserOfConnection(const env::Endpoint& peer, const env::Endpoint& local) {
  const auto own = EndAt(peer), other = EndAt(local);
  return own && other ? OwnerOf(*own, *other) : std::nullopt;
}

std::optional<uid_t> PeerUser(int connection) {
  sockaddr_storage local{}, peer{};
  socklen_t local_size = sizeof local, peer_size = sizeof peer;
  if (::getsockname(connection, reinterpret_cast<sockaddr*>(&local), &local_size) != 0 ||
      ::getpeername(connection, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    return std::nullopt;
  }
  const auto own = EndOf(peer), other = EndOf(local);
  return own && other ? OwnerOf(*own, *other) : std::nullopt;
}

base::Status TellsUsers() {
  if (KernelTells()) return {};
  return base::Error{
      "the kernel does not tell whose a connection is (NETLINK_SOCK_DIAG), so strangers on this machine "
      "cannot be kept out"};
}

base::Status TakeCallsOnlyFrom(std::vector<uid_t> users, Farewell farewell) {
  if (base::Status tells = TellsUsers(); !tells.ok()) return tells;
  users.push_back(0);  // root could do anything anyway
  served = std::move(users);
  farewell_of_strangers = std::move(farewell);
  return {};
}

std::optional<Stranger> StrangerAt(int connection, env::Endpoint peer, env::Endpoint local) {
  if (!served) return std::nullopt;
  const std::optional<uid_t> user = PeerUser(connection);
  if (user && std::find(served->begin(), served->end(), *user) != served->end()) return std::nullopt;
  return Stranger{user, std::move(peer), std::move(local)};
}

const Farewell& FarewellOfStrangers() { return farewell_of_strangers; }

}  // namespace fairlead::env_posix
