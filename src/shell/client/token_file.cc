#include "shell/client/token_file.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "env_posix/host_names.h"
#include "env_posix/posix_loop.h"

namespace fairlead::shell {
namespace {
constexpr char kTokenFile[] = "HADOOP_TOKEN_FILE_LOCATION";
constexpr uint64_t kTokenFileBytesMax = uint64_t{16} << 20;
}  // namespace

base::Result<endpoints::yarn::Credentials> ReadTokenFile() {
  const char* const file = std::getenv(kTokenFile);
  if (file == nullptr || *file == '\0') return endpoints::yarn::Credentials{};
  const base::Result<std::string> bytes = env_posix::MakePosixDisk()->ReadFile(file, kTokenFileBytesMax);
  if (!bytes.ok()) return base::Error{std::string(kTokenFile) + ": " + bytes.error().message};
  auto credentials = endpoints::yarn::ParseCredentials(*bytes);
  if (!credentials.ok()) {
    return base::Error{std::string(kTokenFile) + ": " + file + ": " + credentials.error().message};
  }
  return credentials;
}

bool IsManagerToken(const endpoints::yarn::RpcToken& token) { return token.kind == "RM_DELEGATION_TOKEN"; }

std::optional<endpoints::yarn::RpcToken> ManagerTokenOf(const endpoints::yarn::Credentials& credentials,
                                                        const std::vector<env::Endpoint>& managers) {
  // A token of several managers names all of them.
  const auto names = [](const endpoints::yarn::RpcToken& token, const std::string& address) {
    return std::ranges::count(base::SplitTrimmed(token.service), address) > 0;
  };
  for (const auto& [alias, token] : credentials.tokens) {
    if (!IsManagerToken(token)) continue;
    for (const env::Endpoint& manager : managers) {
      // By its address, or by its name (hadoop.security.token.service.use_ip).
      const env::Endpoint named{base::Lowered(manager.host), manager.port};
      if (names(token, named.ToString())) return token;
      const std::string ip = env_posix::Ipv4Of(manager.host);
      if (!ip.empty() && names(token, env::Endpoint{ip, manager.port}.ToString())) return token;
    }
  }
  return std::nullopt;
}

}  // namespace fairlead::shell
