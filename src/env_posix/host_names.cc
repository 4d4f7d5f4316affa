#include "env_posix/host_names.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <set>

namespace fairlead::env_posix {
namespace {

std::string TextOf(int family, const void* address) {
  char text[INET6_ADDRSTRLEN] = "";
  return ::inet_ntop(family, address, text, sizeof text) != nullptr ? text : "";
}

std::set<std::string> OwnAddresses() {
  std::set<std::string> out;
  ifaddrs* interfaces = nullptr;
  if (::getifaddrs(&interfaces) != 0) return out;
  for (const ifaddrs* at = interfaces; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    if (at->ifa_addr->sa_family == AF_INET) {
      out.insert(TextOf(AF_INET, &reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr));
    } else if (at->ifa_addr->sa_family == AF_INET6) {
      out.insert(TextOf(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(at->ifa_addr)->sin6_addr));
    }
  }
  ::freeifaddrs(interfaces);
  return out;
}

/// What /etc/hosts calls the addresses of this machine; Debian gives the host name 127.0.1.1 there.
void AddFromHostsFile(std::vector<std::string>& names) {
  const std::set<std::string> own = OwnAddresses();
  ::sethostent(0);
  while (const hostent* entry = ::gethostent()) {
    const std::string address = TextOf(entry->h_addrtype, entry->h_addr_list[0]);
    if (!own.contains(address) && !address.starts_with("127.")) continue;
    names.emplace_back(entry->h_name);
    for (char** alias = entry->h_aliases; *alias != nullptr; ++alias) names.emplace_back(*alias);
  }
  ::endhostent();
}

}  // namespace

std::vector<std::string> OwnHostNames() {
  char own[HOST_NAME_MAX + 1] = "";
  if (::gethostname(own, HOST_NAME_MAX) != 0) return {};
  const std::string name = own;
  std::vector<std::string> names = {name, name.substr(0, name.find('.'))};
  AddFromHostsFile(names);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_CANONNAME;
  addrinfo* found = nullptr;
  if (::getaddrinfo(own, nullptr, &hints, &found) == 0) {
    if (found->ai_canonname != nullptr) names.emplace_back(found->ai_canonname);
    ::freeaddrinfo(found);
  }
  return names;
}

std::string Ipv4Of(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return "";
  std::string text = TextOf(AF_INET, &reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_addr);
  ::freeaddrinfo(found);
  return text;
}

}  // namespace fairlead::env_posix
