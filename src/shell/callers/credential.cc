#include "shell/callers/credential.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "config/fairlead_yaml.h"
#include "env/net.h"
#include "shell/kerberos/kerberos.h"

namespace fairlead::shell {

using config::HadoopConf;
using endpoints::yarn::RpcToken;

namespace {

constexpr uint64_t kFileMost = 64 << 10;
constexpr size_t kCredentialMost = 256;
constexpr std::string_view kMark = "fl1.";

bool IsOfAName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

std::string Quoted(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= ' ') out += c;
  }
  return out + "\"";
}

bool IsNamedLike(std::string_view text, std::string_view further, size_t most) {
  return !text.empty() && text.size() <= most && std::ranges::all_of(text, [further](char c) {
    return IsOfAName(c) || further.find(c) != std::string_view::npos;
  });
}

/// A name or an address.
bool IsHost(std::string_view text) { return IsNamedLike(text, ".:", 253); }

bool IsAddress(const std::string& text) {
  const auto endpoint = env::ParseEndpoint(text, 1);
  return endpoint.ok() && endpoint->port != 0 && IsHost(endpoint->host);
}

bool AreIds(std::string_view text) {
  return IsNamedLike(text, "., ", 1024) && text.find_first_not_of("., ") != std::string_view::npos;
}

/// What a file may say by `key`, where that is not `value`; nullptr: it may say that.
const char* WantedInstead(const std::string& key, const std::string& value) {
  constexpr size_t kLongest = 1024;
  if (value.size() > kLongest || !std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; })) {
    return "a text of at most 1024 letters";
  }
  if (key == kAuth) return value == "credentials" ? nullptr : "credentials";
  if (key == "yarn.http.policy")
    return value == "HTTP_ONLY" || value == "HTTPS_ONLY" ? nullptr : "HTTP_ONLY, HTTPS_ONLY";
  if (key == "yarn.resourcemanager.ha.id" || key == "yarn.resourcemanager.ha.rm-ids") {
    return AreIds(value) ? nullptr : "names of resource managers";
  }
  if (key.ends_with(".enabled") || key.ends_with(".embedded")) {
    return value == "true" || value == "false" ? nullptr : "true or false";
  }
  if (key.find("hostname") != key.npos) return IsHost(value) ? nullptr : "a host";
  if (key.find("address") != key.npos) return IsAddress(value) ? nullptr : "HOST:PORT";
  return nullptr;
}

bool IsGiven(const std::string& key, const HadoopConf& conf) {
  return conf.IsSet(key) && !conf.OriginOf(key).file.empty();
}

/// The configuration names a manager's address as the credential's file does, and none otherwise: another cluster's
/// manager is shown no secret of this one.
bool IsOfSameCluster(const HadoopConf& file, const HadoopConf& conf) {
  bool some = false;
  for (const auto& [key, value] : file.Explicit()) {
    if (!TellsOfACluster(key) || !IsGiven(key, conf)) continue;
    if (conf.String(key) != value) return false;
    some = true;
  }
  return some;
}

/// Looks at the file every ten seconds at most.
class Watched {
 public:
  Watched(std::string path, std::string credential) : path_(std::move(path)), credential_(std::move(credential)) {}
  std::optional<RpcToken> Now() {
    const auto now = std::chrono::steady_clock::now();
    if (!path_.empty() && now >= look_) {
      look_ = now + std::chrono::seconds(10);
      const auto conf = ReadCredentialFile(path_);
      if (conf.ok()) credential_ = conf->String(kCredential);
    }
    return CredentialToken(credential_);
  }

 private:
  const std::string path_;
  std::string credential_;
  std::chrono::steady_clock::time_point look_{};
};

}  // namespace

std::string CredentialFile(const std::string& credential, const std::string& kind, const std::string& about,
                           const std::vector<std::pair<std::string, std::string>>& settings) {
  std::string out = "# " + about + "\n# Whoever has this file is let in. Keep it, and revoke what is lost.\nhadoop:\n";
  out += "  " + std::string(kAuth) + ": credentials\n  " + kCredential + ": " + Quoted(credential) + "\n  " +
         kCredentialKind + ": " + kind + "\n";
  for (const auto& [key, value] : settings) out += "  " + key + ": " + Quoted(value) + "\n";
  return out;
}

bool TellsOfACluster(std::string_view key) {
  constexpr std::string_view kManager = "yarn.resourcemanager.";
  if (key.starts_with(kManager)) {
    return key.find("address") != key.npos || key.find("hostname") != key.npos ||
           key.starts_with("yarn.resourcemanager.ha.");
  }
  return key == "yarn.http.policy" || key == "hadoop.rpc.protection";
}

base::Result<HadoopConf> ParseCredentialFile(const std::string& path, std::string_view text) {
  config::Settings settings{HadoopConf(), std::nullopt};
  if (base::Status read = config::AddFairleadYaml(path, text, settings); !read.ok()) return read.error();
  for (const auto& [key, value] : settings.conf.Explicit()) {
    const bool own = key == kAuth || key == kCredential || key == kCredentialKind;
    if (!own && !TellsOfACluster(key)) {
      return base::Error{path + ": " + base::VisibleText(key) +
                         " is no address of a cluster; write it into the configuration"};
    }
    // The environment is its reader's.
    if (value.find("${") != value.npos) return base::Error{path + ": " + key + " has a variable; write the value"};
    if (const char* wanted = WantedInstead(key, value); wanted != nullptr) {
      return base::Error{path + ": " + key + ": '" + base::VisibleText(value.substr(0, 100)) + "' is not " + wanted};
    }
  }
  if (settings.queues) return base::Error{path + ": queues are no part of a credential's file"};
  ReadProtections(settings.conf);
  if (!settings.conf.errors().empty()) return base::Error{settings.conf.errors().front()};
  const std::string kind = settings.conf.String(kCredentialKind);
  if (!CredentialToken(settings.conf.String(kCredential)) || (kind != "node" && kind != "client")) {
    return base::Error{path + ": there is no credential in it; 'fairlead credentials make' writes such a file"};
  }
  return std::move(settings.conf);
}

base::Result<std::string> ReadCredentialText(const std::string& path) {
  const auto failed = [&path](int code) { return base::Error{path + ": " + std::strerror(code), code}; };
  // Judged as it is read: a name may lead elsewhere by then.
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return failed(errno);
  const std::unique_ptr<const int, void (*)(const int*)> closed(&file, [](const int* one) { ::close(*one); });
  struct stat found {};
  if (::fstat(file, &found) != 0) return failed(errno);
  if (!S_ISREG(found.st_mode)) return base::Error{path + ": that is no file that holds a credential"};
  if ((found.st_mode & 077) != 0) {
    return base::Error{path + ": others may read it, so it is no secret; chmod 600, and make the credential anew"};
  }
  std::string text(kFileMost + 1, '\0');
  size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(file, text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(errno);
    if (got == 0) break;
    length += static_cast<size_t>(got);
  }
  if (length > kFileMost) return base::Error{path + ": larger than a credential's file may be, 64 KiB"};
  text.resize(length);
  return text;
}

base::Result<HadoopConf> ReadCredentialFile(const std::string& path) {
  const base::Result<std::string> text = ReadCredentialText(path);
  if (!text.ok()) return text.error();
  return ParseCredentialFile(path, *text);
}

std::string CredentialPath(const std::string& kind) {
  const std::string name = kind + ".credential";
  if (::geteuid() == 0) return "/etc/fairlead/" + name;
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.fairlead/" + name;
}

base::Status AddCredential(const std::string& path, const SettingsSource& source, HadoopConf& conf) {
  const bool named = !source.hadoop_conf.empty() || !source.yaml.empty();
  if (path.empty() || conf.IsSet(kCredential) || ::access(path.c_str(), F_OK) != 0) return {};
  const std::string how = conf.String(kAuth);
  if (named && how == "simple") return {};
  const base::Result<HadoopConf> file = ReadCredentialFile(path);
  if (!file.ok()) return file.error();
  if (named && how.empty() && !IsOfSameCluster(*file, conf)) return {};
  for (const auto& [key, value] : file->Explicit()) {
    if (!IsGiven(key, conf)) conf.Set(key, value, file->OriginOf(key));
  }
  return {};
}

std::optional<RpcToken> CredentialToken(const std::string& credential) {
  const size_t dot = credential.rfind('.');
  if (!credential.starts_with(kMark) || dot < kMark.size() || credential.size() > kCredentialMost) return std::nullopt;
  if (!std::ranges::all_of(credential, [](char c) { return c == '.' || IsOfAName(c); })) return std::nullopt;
  RpcToken token;
  token.identifier = credential.substr(0, dot);
  token.password = credential.substr(dot + 1);
  token.kind = "FAIRLEAD_CREDENTIAL";
  return token;
}

std::function<std::optional<RpcToken>()> CredentialSource(const HadoopConf& conf, const std::string& path) {
  const std::string credential = conf.String(kCredential);
  if (credential.empty()) return {};
  const std::string file = conf.OriginOf(kCredential).file;
  const auto watched = std::make_shared<Watched>(file == path ? path : "", credential);
  return [watched] { return watched->Now(); };
}

}  // namespace fairlead::shell
