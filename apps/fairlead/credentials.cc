#include "credentials.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cluster_command.h"
#include "documents.h"
#include "env/net.h"
#include "env_posix/posix_loop.h"
#include "shell/callers/credential.h"
#include "table.h"

// credentials make, list, revoke; join: how other machines come into a cluster without a KDC.

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;

struct MakeOptions {
  std::string node;
  std::string client;
  std::string user;
  std::string host;
  std::string out;
};
struct RevokeOptions {
  std::string name;
};
struct ListOptions {};

/// What another machine needs to know of the cluster.
std::vector<std::pair<std::string, std::string>> ClusterSettings(const config::HadoopConf& conf) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [key, raw] : conf.Explicit()) {
    if (shell::TellsOfACluster(key)) out.emplace_back(key, conf.String(key));
  }
  return out;
}

/// A name becomes a file's and stands in an address: what would lead elsewhere is no name. The resource manager judges
/// the rest.
bool IsPath(const std::string& name) { return name.find('/') != std::string::npos || name.starts_with('.'); }

int RefusePath(const Command& command, const std::string& name) {
  return Complain(command.name, "'" + name + "' is a path and no name of a credential; write a name", kUsage);
}

int Make(const Command& command, Cluster& cluster, MakeOptions& options) {
  if (options.node.empty() == options.client.empty()) {
    return Complain(command.name, "write --node NAME or --client NAME", kUsage);
  }
  const bool node = !options.node.empty();
  const std::string& name = node ? options.node : options.client;
  if (IsPath(name)) return RefusePath(command, name);
  const std::string file = options.out.empty() ? name + ".credential" : options.out;
  std::error_code error;
  if (std::filesystem::exists(file, error) && !shell::ReadCredentialFile(file).ok()) {
    return Complain(command.name, file + " is there and is no credential; write another --out", kUsage);
  }
  ordered_json body = {{"kind", node ? "node" : "client"}};
  if (!node) body["user"] = options.user.empty() ? name : options.user;
  if (!options.host.empty()) body["host"] = options.host;
  const auto answer = AskFairlead(cluster, "credentials/" + name, "PUT", body.dump());
  if (!answer.ok()) return command.Fail(answer.error());
  const std::string about = node ? "Credential '" + name + "' of a node"
                                 : "Credential '" + name + "' of a client, who acts as " + body.value("user", "");
  const std::string text = shell::CredentialFile(answer->value("credential", ""), node ? "node" : "client", about,
                                                 ClusterSettings(cluster.settings.conf));
  if (const base::Status written = env_posix::MakePosixDisk()->WriteFileAtomically(file, text, 0600); !written.ok()) {
    return Complain(command.name, file + ": " + written.error().message, kFailed);
  }
  const auto host = cluster.settings.conf.String("yarn.resourcemanager.hostname");
  if (env::IsLoopback(host)) {
    std::fprintf(stderr,
                 "fairlead %s: the resource manager listens at %s, where other machines do not reach it; set "
                 "yarn.resourcemanager.hostname\n",
                 command.name.c_str(), host.c_str());
  }
  if (command.options.json) {
    PrintDocument(CredentialFileMade{name, file});
  } else {
    std::printf("%s\ncarry it to the other machine, and there: fairlead join %s\n", file.c_str(),
                std::filesystem::path(file).filename().c_str());
  }
  return kOk;
}

int List(const Command& command, Cluster& cluster, ListOptions&) {
  const auto answer = AskFairlead(cluster, "credentials");
  if (!answer.ok()) return command.Fail(answer.error());
  if (command.options.json) return PrintJson(*answer), kOk;
  Table table({"NAME", "KIND", "USER", "HOST", "MADE", "BY"});
  for (const auto& one : answer->value("credentials", ordered_json::array())) {
    table.Add({base::VisibleText(one.value("name", "")), one.value("kind", ""),
               base::VisibleText(one.value("user", "")), base::VisibleText(one.value("host", "")),
               TimeText(one.value("made_ms", int64_t{0})), base::VisibleText(one.value("made_by", ""))});
  }
  table.Print();
  return kOk;
}

int Revoke(const Command& command, Cluster& cluster, RevokeOptions& options) {
  if (IsPath(options.name)) return RefusePath(command, options.name);
  const auto answer = AskFairlead(cluster, "credentials/" + options.name, "DELETE");
  if (!answer.ok()) return command.Fail(answer.error());
  if (command.options.json) return PrintJson(*answer), kOk;
  std::printf("%s is revoked\n", options.name.c_str());
  return kOk;
}

int Join(const std::string& file) {
  // Read once: what is checked is what is kept.
  const auto text = shell::ReadCredentialText(file);
  if (!text.ok()) return Complain("join", text.error().message, text.error().code == ENOENT ? kNotFound : kFailed);
  const auto conf = shell::ParseCredentialFile(file, *text);
  if (!conf.ok()) return Complain("join", conf.error().message, kFailed);
  const bool node = conf->String(shell::kCredentialKind) == "node";
  const std::string path = shell::CredentialPath(node ? "node" : "client");
  if (path.empty()) return Complain("join", "HOME is not set: there is no place for the credential", kUsage);
  const auto disk = env_posix::MakePosixDisk();
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  struct stat earlier {};
  const bool renewed = ::lstat(path.c_str(), &earlier) == 0 && earlier.st_uid != ::geteuid();
  // A node agent that root has started and that runs as somebody else has made the file its own, to read it again: it
  // never finds one there that is root's.
  const std::string to = renewed ? path + ".new" : path;
  base::Status kept = disk->WriteFileAtomically(to, *text, 0600);
  if (kept.ok() && renewed && ::lchown(to.c_str(), earlier.st_uid, earlier.st_gid) != 0) {
    kept = base::Error{std::string("chown: ") + std::strerror(errno)};
  }
  if (kept.ok() && renewed) kept = disk->Rename(to, path);
  if (!kept.ok()) return Complain("join", to + ": " + kept.error().message, kFailed);
  std::printf("%s\n%s\n", path.c_str(),
              node ? "the node agent logs in with it: fairlead nm" : "commands log in with it: fairlead nodes");
  return kOk;
}

}  // namespace

void AddCredentials(CLI::App& app, int& exit_code) {
  CLI::App* credentials = app.add_subcommand("credentials", "Let other machines in where there is no Kerberos");
  credentials->require_subcommand(1);
  auto made = std::make_shared<MakeOptions>();
  CLI::App* make = AddClusterCommand<MakeOptions>(*credentials, exit_code, "make",
                                                  "Make a credential, or renew it, and write it to a file", made, Make);
  make->add_option("--node", made->node, "name of a node's credential");
  make->add_option("--client", made->client, "name of a client's");
  make->add_option("--as", made->user, "the user as whom the client acts (default: the credential's name)");
  make->add_option("--host", made->host, "the host that alone the node may be (default: the one that it first says)");
  make->add_option("--out", made->out, "the file (default: NAME.credential)");
  make->footer(
      "One that is made again replaces the one before, which is good for another day; a node's then is for any host\n"
      "again, or for --host, and for no other once its node has said one.\n"
      "Examples:\n  fairlead credentials make --node worker7\n  fairlead credentials make --client laptop --as alice");
  AddClusterCommand<ListOptions>(*credentials, exit_code, "list", "List the credentials of the cluster",
                                 std::make_shared<ListOptions>(), List)
      ->footer("Examples:\n  fairlead credentials list\n  fairlead credentials list --json");
  auto revoked = std::make_shared<RevokeOptions>();
  CLI::App* revoke =
      AddClusterCommand<RevokeOptions>(*credentials, exit_code, "revoke", "End a credential, at once", revoked, Revoke);
  revoke->add_option("name", revoked->name, "the credential's name")->required();
  revoke->footer("Examples:\n  fairlead credentials revoke laptop\n  fairlead credentials revoke worker7 --json");
}

void AddJoin(CLI::App& app, int& exit_code) {
  CLI::App* join = app.add_subcommand("join", "Let this machine into a cluster, with a credential's file");
  auto file = std::make_shared<std::string>();
  join->add_option("file", *file, "the file that 'fairlead credentials make' wrote")->required();
  join->callback([file, &exit_code] { exit_code = Join(*file); });
  join->footer(
      "It is kept, for its user alone, in /etc/fairlead (root) or ~/.fairlead; commands and 'fairlead nm' that are "
      "told\n"
      "of no other cluster then know this one. To leave it remove that file.\n"
      "Examples:\n  fairlead join laptop.credential\n  fairlead join worker7.credential");
}

}  // namespace fairlead::apps
