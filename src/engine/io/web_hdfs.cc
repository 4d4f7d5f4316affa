#include "engine/io/web_hdfs.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/text.h"
#include "engine/io/hdfs_tokens.h"
#include "engine/io/job_files.h"
#include "engine/records/errors.h"
#include "env_posix/posix_loop.h"
#include "process/http/client.h"
#include "process/http/failover.h"
#include "wire/json/json.h"

namespace fairlead::engine {

namespace {

namespace http = process::http;
using nlohmann::json;

constexpr base::Duration kSilenceMax = base::Duration::Seconds(60);
constexpr uint64_t kAnswerMax = 64 << 20;  // of the NameNode: a listing

/// A path without its scheme, and its NameNodes.
struct Place {
  std::string service;  // "": none was named
  std::vector<env::Endpoint> name_nodes;
  std::string path;
};

Place PlaceOf(const std::string& path) {
  const base::Error wrong{path + ": not of the form webhdfs://HOST:PORT/PATH"};
  if (!path.starts_with(WebHdfs::kScheme)) throw TaskError(wrong.message);
  const std::string rest = path.substr(WebHdfs::kScheme.size());
  std::string authority = rest.substr(0, rest.find('/'));
  Place place{"", {}, rest.substr(authority.size())};
  if (const size_t at = authority.find('@'); at != std::string::npos) {
    place.service = authority.substr(0, at);
    authority.erase(0, at + 1);
  }
  for (const std::string& name_node : SplitCommas(authority)) {
    const auto parsed = http::ParseUrl(std::string(WebHdfs::kScheme) + name_node, WebHdfs::kScheme, 0);
    if (!parsed.ok()) throw TaskError(wrong.message);
    place.name_nodes.push_back(parsed->endpoint);
  }
  if (place.name_nodes.empty()) throw TaskError(wrong.message);
  return place;
}

/// Which of a HDFS's NameNodes serves, as far as this process knows.
class Serving {
 public:
  size_t Of(const env::Endpoint& first) {
    const std::lock_guard lock(mutex_);
    return serves_[first];
  }
  void Set(const env::Endpoint& first, size_t which) {
    const std::lock_guard lock(mutex_);
    serves_[first] = which;
  }

 private:
  std::mutex mutex_;
  std::map<env::Endpoint, size_t> serves_;
};

/// As whom this process asks a NameNode: by a token of it, else as a user whom it believes.
std::string Caller(const std::string& service, const std::string& host) {
  if (const std::string token = DelegationFor(service, host); !token.empty()) return "&delegation=" + token;
  const std::string user = Environment("HADOOP_USER_NAME", Environment("USER", ""));
  return user.empty() ? "" : "&user.name=" + http::PercentEncode(user);
}

/// An operation on a path, for one of its NameNodes.
http::ClientRequest Operation(const char* method, const Place& place, size_t name_node, const std::string& operation) {
  http::ClientRequest request;
  request.endpoint = place.name_nodes[name_node];
  request.method = method;
  const std::string path = place.path.empty() ? "/" : place.path;
  request.target = "/webhdfs/v1" + http::PercentEncode(path, http::Slashes::kKept) + "?op=" + operation +
                   Caller(place.service, request.endpoint.host);
  return request;
}

/// A peer that did not answer.
class NoAnswer : public TaskError {
 public:
  NoAnswer(const std::string& what, const base::Error& why)
      : TaskError("cannot " + what + ": " + why.message), reached_(why.code != http::kNotConnected) {}
  /// It may have done what was asked.
  bool reached() const { return reached_; }

 private:
  bool reached_;
};

/// One request, for which the calling thread turns a loop of its own: a turn ends with whatever comes, so that a peer
/// sends no faster than is read.
class Exchange {
 public:
  Exchange(http::ClientRequest request, const std::string& what) : what_(what) {
    request.timeout = kSilenceMax;
    request.body_bytes_max = std::numeric_limits<size_t>::max();
    http::Flow flow;
    flow.on_body = [this](int status, std::string_view bytes) {
      status_ = status;
      body_ += bytes;
      loop_->Stop();
    };
    flow.on_sent = [this] {
      sent_ = true;
      loop_->Stop();
    };
    exchange_ = http::Open(*loop_, *loop_, std::move(request), std::move(flow), [this](auto answer) {
      ended_ = std::move(answer);
      if (ended_->ok()) status_ = (*ended_)->status;
      loop_->Stop();
    });
  }

  /// Returns when the kernel has all, or with the early answer of a peer that wants no more.
  void Send(std::string_view bytes) {
    exchange_->Send(bytes);
    sent_ = false;
    while (!sent_ && !ended_) Turn();
  }
  void SendLast() { exchange_->SendLast(); }
  int AwaitStatus() {
    while (status_ == 0) Turn();
    return status_;
  }
  /// Fills up to `n` bytes of the answer's body; 0 only at its end.
  size_t Read(char* out, size_t n) {
    if (read_ == body_.size()) {
      body_.clear();
      read_ = 0;
      while (body_.empty() && !ended_) Turn();
    }
    const size_t given = body_.copy(out, n, read_);
    read_ += given;
    return given;
  }
  std::string ReadAll() {
    while (!ended_) {
      Turn();
      if (body_.size() > kAnswerMax) throw TaskError("cannot " + what_ + ": the answer is too long");
    }
    return std::move(body_);
  }
  /// Set once the answer is whole.
  const http::Response* answer() const { return ended_ ? &**ended_ : nullptr; }

 private:
  void Turn() {
    loop_->Run();
    if (ended_ && !ended_->ok()) throw NoAnswer(what_, ended_->error());
  }

  const std::string what_;
  const std::unique_ptr<env_posix::PosixLoop> loop_ = env_posix::MakePosixLoop();
  int status_ = 0;
  bool sent_ = false;
  std::string body_;  // what has come since it was read to its end
  size_t read_ = 0;   // of it
  std::optional<base::Result<http::Response>> ended_;
  std::shared_ptr<http::Exchange> exchange_;
};

/// What the server says went wrong, as Hadoop's RemoteException.
[[noreturn]] void Refuse(const std::string& what, int status, const std::string& body) {
  std::string why = "HTTP status " + std::to_string(status);
  if (const auto remote = http::ReadRemoteException(body)) {
    why = remote->name + ": " + remote->message;
    why = why.substr(0, why.find('\n'));
  }
  throw TaskError("cannot " + what + ": " + why);
}

/// Of the NameNode that serves. What was sent may have been done: only what changes nothing is asked again where an
/// answer is lost.
http::Response AskNameNode(const std::string& method, const std::string& path, const std::string& operation,
                           const std::string& what) {
  static Serving serving;
  const Place place = PlaceOf(path);
  http::Failover turns(place.name_nodes.size(), serving.Of(place.name_nodes.front()));
  while (true) {
    std::optional<base::Duration> wait;
    try {
      Exchange exchange(Operation(method.c_str(), place, turns.at(), operation), what);
      std::string body = exchange.ReadAll();
      http::Response answer = *exchange.answer();
      answer.body = std::move(body);
      const auto exception = answer.status == 403 ? http::ReadRemoteException(answer.body) : std::nullopt;
      const bool serves = !exception || !exception->is_standby();
      if (serves) serving.Set(place.name_nodes.front(), turns.at());
      if (!serves) wait = turns.Next();
      if (!wait) return answer;
    } catch (const NoAnswer& error) {
      if (!error.reached() || method == "GET") wait = turns.Next();
      if (!wait) throw;
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds(wait->ns));
  }
}

struct Answer {
  int status = 0;
  json body;
};

/// An operation that the NameNode answers itself. 404 is given back, other failures are thrown.
Answer Ask(const char* method, const std::string& path, const std::string& operation, const std::string& what) {
  const http::Response said = AskNameNode(method, path, operation, what);
  if (said.status == 404) return {404, {}};
  if (said.status != 200) Refuse(what, said.status, said.body);
  auto answer = wire::json::Parse(said.body, wire::json::kAnswer);
  if (!answer) throw TaskError("cannot " + what + ": the answer: " + answer.error().message);
  if (!answer->is_object()) throw TaskError("cannot " + what + ": the answer is no JSON object");
  return {200, std::move(*answer)};
}

/// A request to the DataNode to which the NameNode sends who wants a file's bytes.
http::ClientRequest Redirect(const char* method, const std::string& path, const std::string& operation,
                             const std::string& what) {
  const http::Response answer = AskNameNode(method, path, operation, what);
  if (answer.status != 307) Refuse(what, answer.status, answer.body);
  const std::string location(http::FindHeader(answer.headers, "Location"));
  base::Result<http::ClientRequest> request = http::ParseUrl(location);
  if (!request.ok()) throw TaskError("cannot " + what + ": sent to '" + location + "'");
  request->method = method;
  return std::move(*request);
}

/// True when the NameNode did it.
bool Did(const Answer& answer) { return answer.status == 200 && answer.body.value("boolean", json()) == json(true); }

FileStatus ParseStatus(const json& status, const std::string& path, const std::string& what) {
  if (!status.is_object() || !status.contains("type") || !status["type"].is_string() || !status.contains("length") ||
      !status["length"].is_number_unsigned()) {
    throw TaskError("cannot " + what + ": the answer holds no file status");
  }
  return {path, status["type"] == "DIRECTORY", status["length"].get<uint64_t>()};
}

/// A NameNode that does not say where blocks lie still sends readers to a host that has the byte they ask for.
constexpr uint64_t kRedirectStep = 64 << 20;
constexpr int kRedirectsMax = 1000;

std::vector<FileBlock> BlocksByRedirects(const std::string& path, uint64_t size) {
  std::vector<FileBlock> blocks;
  const uint64_t step = std::max(kRedirectStep, size / kRedirectsMax + 1);
  for (uint64_t at = 0; at < size; at += step) {
    const std::string operation = "OPEN&offset=" + std::to_string(at);
    const http::ClientRequest to = Redirect("GET", path, operation, "find the blocks of " + path);
    blocks.push_back({at, std::min(step, size - at), {to.endpoint.host}, {}, {}});
  }
  return blocks;
}

/// The names in a list of them; what else stands there is passed over.
std::vector<std::string> NamesIn(const json& list) {
  constexpr size_t kNameMax = 1000;
  std::vector<std::string> names;
  if (!list.is_array()) return names;
  for (const json& name : list) {
    if (!name.is_string()) continue;
    names.push_back(name.get<std::string>().substr(0, kNameMax));
  }
  return names;
}

FileBlock ParseBlock(const json& block) {
  const auto number = [&](const char* name) {
    const json value = block.value(name, json());
    if (!value.is_number_unsigned()) throw TaskError(std::string("a block without ") + name);
    return value.get<uint64_t>();
  };
  if (!block.is_object()) throw TaskError("a block that is no object");
  FileBlock parsed{number("offset"), number("length"), NamesIn(block.value("hosts", json())), {}, {}};
  parsed.cached_hosts = NamesIn(block.value("cachedHosts", json()));
  // "/RACK/NAME:PORT" of each host (NetworkTopology).
  for (const std::string& path : NamesIn(block.value("topologyPaths", json()))) {
    parsed.racks.push_back(path.substr(0, path.rfind('/')));
  }
  if (parsed.racks.size() != parsed.hosts.size()) parsed.racks.clear();
  return parsed;
}

class HdfsStream : public ByteStream {
 public:
  HdfsStream(http::ClientRequest request, const std::string& path) : exchange_(std::move(request), "read " + path) {
    if (const int status = exchange_.AwaitStatus(); status != 200) Refuse("read " + path, status, exchange_.ReadAll());
  }
  size_t Read(char* out, size_t n) override { return exchange_.Read(out, n); }

 private:
  Exchange exchange_;
};

class HdfsOutput : public OutputFile {
 public:
  HdfsOutput(http::ClientRequest request, const std::string& path)
      : path_(path), exchange_(Chunked(std::move(request)), "write " + path) {}
  void Write(std::string_view bytes) override {
    if (bytes.empty()) return;
    exchange_.Send(bytes);
    if (exchange_.answer() != nullptr) Refuse("write " + path_, exchange_.answer()->status, exchange_.ReadAll());
  }
  void Close() override {
    exchange_.SendLast();
    const std::string body = exchange_.ReadAll();
    if (const int status = exchange_.answer()->status; status != 201) Refuse("write " + path_, status, body);
  }

 private:
  static http::ClientRequest Chunked(http::ClientRequest request) {
    request.chunked = true;
    request.headers = {{"Content-Type", "application/octet-stream"}};
    return request;
  }

  const std::string path_;
  Exchange exchange_;
};

}  // namespace

std::string ResolveHdfsPath(const std::string& path, const std::string& name_nodes) {
  const size_t begin = path.find("://") + 3;
  std::string authority = path.substr(begin, path.find('/', begin) - begin);
  const std::string rest = path.substr(begin + authority.size());
  const std::vector<std::string> all = base::SplitTrimmed(name_nodes, ';');
  if (authority.empty() && !all.empty() && all.front().starts_with('=')) authority = all.front().substr(1);
  for (const std::string& named : all) {
    const std::string name = named.substr(0, named.find('='));
    if (name == named || (name != authority && name + ":8020" != authority)) continue;
    return std::string(WebHdfs::kScheme) + name + "@" + named.substr(name.size() + 1) + rest;
  }
  if (path.starts_with(WebHdfs::kScheme)) return path;
  throw JobError(path + ": where the NameNodes of this HDFS serve WebHDFS is not known; submit the job with the " +
                 "--hadoop-conf that says it (dfs.namenode.http-address), or write webhdfs://HOST:PORT[,HOST:PORT]" +
                 rest);
}

std::optional<FileStatus> WebHdfs::Status(const std::string& path) {
  const std::string what = "read " + path;
  const Answer answer = Ask("GET", path, "GETFILESTATUS", what);
  if (answer.status == 404) return std::nullopt;
  return ParseStatus(answer.body.value("FileStatus", json()), path, what);
}

std::vector<FileStatus> WebHdfs::List(const std::string& directory) {
  const std::string what = "read directory " + directory;
  const Answer answer = Ask("GET", directory, "LISTSTATUS", what);
  if (answer.status == 404) throw TaskError("cannot " + what + ": no such file or directory");
  const json statuses = answer.body.value("FileStatuses", json());
  if (!statuses.is_object() || !statuses.contains("FileStatus") || !statuses["FileStatus"].is_array()) {
    throw TaskError("cannot " + what + ": the answer holds no list");
  }
  std::vector<FileStatus> found;
  for (const json& status : statuses["FileStatus"]) {
    const json name = status.is_object() ? status.value("pathSuffix", json()) : json();
    if (!name.is_string() || name.get_ref<const std::string&>().find('/') != std::string::npos) {
      throw TaskError("cannot " + what + ": the answer holds a file without a name");
    }
    found.push_back(ParseStatus(status, directory + "/" + name.get<std::string>(), what));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return found;
}

std::vector<FileBlock> WebHdfs::Blocks(const std::string& path, uint64_t size) try {
  try {
    const std::string operation = "GETFILEBLOCKLOCATIONS&offset=0&length=" + std::to_string(size);
    const Answer answer = Ask("GET", path, operation, "find the blocks of " + path);
    const json list = answer.body.value("BlockLocations", json::object()).value("BlockLocation", json());
    std::vector<FileBlock> blocks;
    for (const json& block : list) blocks.push_back(ParseBlock(block));
    if (!blocks.empty()) return blocks;
  } catch (const std::exception&) {
    // A release that does not know the question.
  }
  return BlocksByRedirects(path, size);
} catch (const std::exception&) {
  return {};
}

std::unique_ptr<ByteStream> WebHdfs::Open(const std::string& path, uint64_t offset) {
  const std::string operation = "OPEN&offset=" + std::to_string(offset);
  return std::make_unique<HdfsStream>(Redirect("GET", path, operation, "read " + path), path);
}

std::unique_ptr<OutputFile> WebHdfs::Create(const std::string& path) {
  return std::make_unique<HdfsOutput>(
      Redirect("PUT", path, "CREATE&overwrite=true&createparent=false", "create " + path), path);
}

void WebHdfs::MakeDirectories(const std::string& path) {
  const std::string what = "create directory " + path;
  if (!Did(Ask("PUT", path, "MKDIRS", what))) throw TaskError("cannot " + what);
}

void WebHdfs::Rename(const std::string& from, const std::string& to) {
  const std::string what = "rename " + from + " to " + to;
  const std::string operation = "RENAME&destination=" + http::PercentEncode(PlaceOf(to).path, http::Slashes::kKept);
  if (Did(Ask("PUT", from, operation, what))) return;
  // HDFS does not replace a file.
  const std::optional<FileStatus> there = Status(to);
  if (there && !there->directory) Remove(to);
  if (!Did(Ask("PUT", from, operation, what))) throw TaskError("cannot " + what);
}

void WebHdfs::Remove(const std::string& path) noexcept {
  try {
    Ask("DELETE", path, "DELETE&recursive=true", "remove " + path);
  } catch (const std::exception&) {
    // Best effort.
  }
}

void WebHdfs::RemoveEmpty(const std::string& directory) noexcept {
  try {
    Ask("DELETE", directory, "DELETE&recursive=false", "remove " + directory);
  } catch (const std::exception&) {
    // Not empty, or out of reach.
  }
}

}  // namespace fairlead::engine
