#include "shell/base/service_policy.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "env_posix/posix_loop.h"

namespace fairlead::shell {

namespace {
constexpr char kAuthorization[] = "hadoop.security.authorization";
constexpr uint64_t kFileMax = uint64_t{4} << 20;
}  // namespace

std::vector<std::string> AddressesOf(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::vector<std::string> out;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return out;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    if (std::ranges::find(out, text) == out.end()) out.emplace_back(text);
  }
  ::freeaddrinfo(found);
  return out;
}

base::Result<std::optional<config::ServicePolicy>> ReadServicePolicy(
    const config::HadoopConf& conf, const std::string& conf_directory,
    std::span<const config::ServicePolicy::Service> services) {
  if (!conf.Bool(kAuthorization, false)) return std::optional<config::ServicePolicy>();
  config::HadoopConf policy = conf;
  if (!conf_directory.empty()) {
    const auto disk = env_posix::MakePosixDisk();
    const config::FileReader read = [&disk](const std::string& path) { return disk->ReadFile(path, kFileMax); };
    const std::string path = conf_directory + "/hadoop-policy.xml";
    const base::Result<std::string> text = read(path);
    if (!text.ok()) {
      return base::Error{path + ": " + text.error().message + "; " + kAuthorization +
                         " is true and asks for it: write that file, as Hadoop comes with it, or false"};
    }
    if (const base::Status added = policy.AddXml(path, *text, read); !added.ok()) return added.error();
  }
  base::Result<config::ServicePolicy> made = config::ServicePolicy::Read(policy, services, AddressesOf);
  if (!made.ok()) return made.error();
  return std::optional(std::move(*made));
}

}  // namespace fairlead::shell
