#include "shell/nm/web_hdfs.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "config/name_nodes.h"
#include "env/net.h"
#include "env_posix/host_names.h"
#include "process/http/failover.h"
#include "process/http/http.h"
#include "shell/base/hdfs_services.h"
#include "wire/json/json.h"

namespace fairlead::shell {
namespace {

using process::http::PercentEncode;
using process::http::Slashes;

constexpr long kOk = 200;
constexpr long kCreated = 201;
constexpr long kRedirected = 307;
constexpr long kNotFound = 404;

/// {"RemoteException":{"message":...}}, or the answer as it is.
base::Error Refusal(const std::string& path, const HttpTransferred& answer) {
  const auto exception = process::http::ReadRemoteException(answer.text);
  const std::string& why = exception && !exception->message.empty() ? exception->message : answer.text;
  return {path + ": WebHDFS answers " + std::to_string(answer.status) + " " + why};
}

/// How a scheme's tokens are called, and its port where a URL says none.
struct Scheme {
  const char* name;
  const char* kind;
  uint16_t port;
};
constexpr Scheme kSchemes[] = {
    {"hdfs", kHdfsTokenKind, 8020}, {"webhdfs", kWebHdfsTokenKind, 9870}, {"swebhdfs", kSwebHdfsTokenKind, 9871}};

}  // namespace

std::string TokenFor(const std::vector<process::nm::FileSystemToken>& tokens, const std::string& scheme,
                     const std::string& authority) {
  const auto* known =
      std::find_if(std::begin(kSchemes), std::end(kSchemes), [&](const Scheme& one) { return one.name == scheme; });
  if (known == std::end(kSchemes)) return "";
  const auto find = [&](const std::string& service) -> std::string {
    for (const process::nm::FileSystemToken& token : tokens) {
      if (token.kind == known->kind && token.service == service) return token.text;
    }
    return "";
  };
  const std::string logical = find("ha-" + scheme + ":" + config::ServiceNameOf(authority));
  if (!logical.empty() || tokens.empty()) return logical;
  base::Result<env::Endpoint> at = env::ParseEndpoint(authority, known->port);
  if (!at.ok()) return "";
  for (char& c : at->host) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::string named = find(at->ToString()); !named.empty()) return named;
  at->host = env_posix::Ipv4Of(at->host);
  return find(at->ToString());
}

std::string WebHdfs::Operation(const std::string& path, const std::string& query) const {
  return "/webhdfs/v1" + PercentEncode(path, Slashes::kKept) + "?op=" + query +
         (caller_.token.empty() ? "&user.name=" + PercentEncode(caller_.user) : "&delegation=" + caller_.token);
}

// What was sent may have been done: only what changes nothing is asked again where an answer is lost.
base::Result<HttpTransferred> WebHdfs::Ask(const HttpTransfer& order) const {
  process::http::Failover turns(addresses_.size(), serves_);
  while (true) {
    HttpTransfer asked = order;
    asked.url = addresses_[turns.at()] + order.url;
    asked.by_ticket = caller_.by_ticket;
    base::Result<HttpTransferred> answer = Transfer(asked);
    const auto exception = answer ? process::http::ReadRemoteException(answer->text) : std::nullopt;
    const bool serves = answer ? !exception || !exception->is_standby()
                               : order.method != "GET" && answer.error().code != process::http::kNotConnected;
    const std::optional<base::Duration> wait = serves ? std::nullopt : turns.Next();
    if (serves) serves_ = turns.at();
    if (!wait) return answer;
    std::this_thread::sleep_for(std::chrono::nanoseconds(wait->ns));
  }
}

base::Status WebHdfs::Get(const std::string& path, int to, int64_t bytes_max) const {
  const auto got = Ask({.url = Operation(path, "OPEN"), .follow = true, .to = to, .to_bytes_max = bytes_max});
  if (!got) return got.error();
  return got->status == kOk ? base::Status() : Refusal(path, *got);
}

base::Result<std::optional<WebHdfs::Status>> WebHdfs::StatusOf(const std::string& path) const {
  const auto answer = Ask({.url = Operation(path, "GETFILESTATUS"), .follow = true});
  if (!answer) return answer.error();
  if (answer->status == kNotFound) return std::optional<Status>();
  if (answer->status != kOk) return Refusal(path, *answer);
  const auto file = wire::json::Parse(answer->text, wire::json::kAnswer);
  if (!file) return base::Error{path + ": WebHDFS gave no file status: " + file.error().message};
  const auto info = file->is_object() ? file->find("FileStatus") : file->end();
  if (info == file->end() || !info->is_object() ||
      !info->value("modificationTime", nlohmann::json()).is_number_integer())
    return base::Error{path + ": WebHDFS gave no file status"};
  const auto text = [&](const char* name) {
    const nlohmann::json value = info->value(name, nlohmann::json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  return std::optional(Status{info->at("modificationTime").get<int64_t>(), text("owner"), text("type") == "DIRECTORY"});
}

base::Result<std::vector<std::string>> WebHdfs::List(const std::string& path) const {
  constexpr int64_t kMost = 64 << 20;
  const auto answer = Ask({.url = Operation(path, "LISTSTATUS"), .follow = true, .to_bytes_max = kMost});
  if (!answer) return answer.error();
  if (answer->status != kOk) return Refusal(path, *answer);
  const auto json = wire::json::Parse(answer->text, wire::json::kAnswer);
  const auto part = [](const nlohmann::json& of, const char* name) {
    return of.is_object() ? of.value(name, nlohmann::json()) : nlohmann::json();
  };
  const nlohmann::json files = json ? part(part(*json, "FileStatuses"), "FileStatus") : nlohmann::json();
  if (!files.is_array()) return base::Error{path + ": WebHDFS gave no list"};
  std::vector<std::string> names;
  for (const nlohmann::json& file : files) {
    const nlohmann::json name = part(file, "pathSuffix");
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

base::Status WebHdfs::Order(const std::string& method, const std::string& path, const std::string& query) const {
  const auto answer = Ask({.method = method, .url = Operation(path, query)});
  if (!answer) return answer.error();
  if (answer->status != kOk) return Refusal(path, *answer);
  if (answer->text.empty()) return {};
  const auto said = wire::json::Parse(answer->text, wire::json::kAnswer);
  if (!said.ok() || !said->is_object() || said->value("boolean", nlohmann::json()) != true)
    return base::Error{path + ": the name node did not do " + query.substr(0, query.find('&'))};
  return {};
}

base::Status WebHdfs::MakeDirectory(const std::string& path, const std::string& mode) const {
  const base::Status made = Order("PUT", path, "MKDIRS&permission=" + mode);
  return made.ok() ? Order("PUT", path, "SETPERMISSION&permission=" + mode) : made;
}

base::Status WebHdfs::Put(const std::string& path, int file, int64_t bytes, const std::string& mode) const {
  const std::string url = Operation(path, "CREATE&overwrite=true&permission=" + mode);
  const auto where = Ask({.method = "PUT", .url = url});
  if (!where) return where.error();
  if (where->status != kRedirected || where->redirect.empty()) return Refusal(path, *where);
  const auto written = Transfer(
      {.method = "PUT", .url = where->redirect, .from = file, .from_bytes = bytes, .by_ticket = caller_.by_ticket});
  if (!written) return written.error();
  if (written->status != kCreated && written->status != kOk) return Refusal(path, *written);
  return {};
}

base::Status WebHdfs::Rename(const std::string& from, const std::string& to) const {
  const std::string query = "RENAME&destination=" + PercentEncode(to, Slashes::kKept);
  return Order("PUT", from, query + "&renameoptions=OVERWRITE");
}

base::Status WebHdfs::Remove(const std::string& path) const { return Order("DELETE", path, "DELETE"); }

}  // namespace fairlead::shell
