#include "engine/io/web_hdfs.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/io/hdfs_tokens.h"
#include "engine/io/job_files.h"
#include "engine/records/errors.h"
#include "env_posix/posix_loop.h"
#include "process/http/client.h"
#include "wire/json/json.h"

namespace fairlead::engine {

namespace {

namespace http = process::http;
using nlohmann::json;

constexpr base::Duration kSilenceMax = base::Duration::Seconds(60);
constexpr uint64_t kAnswerMax = 64 << 20;  // of the NameNode: a listing

base::Result<http::ClientRequest> Parse(const std::string& path) { return http::ParseUrl(path, WebHdfs::kScheme, 0); }

/// As whom this process asks a NameNode: by a token of it, else as a user whom it believes.
std::string Caller(const std::string& host) {
  if (const std::string token = DelegationFor(host); !token.empty()) return "&delegation=" + token;
  const std::string user = Environment("HADOOP_USER_NAME", Environment("USER", ""));
  return user.empty() ? "" : "&user.name=" + http::PercentEncode(user);
}

/// An operation on a path, for the NameNode.
http::ClientRequest Operation(const char* method, const std::string& path, const std::string& operation) {
  base::Result<http::ClientRequest> request = Parse(path);
  if (!request.ok()) throw TaskError(path + ": not of the form webhdfs://HOST:PORT/PATH");
  request->method = method;
  request->target = "/webhdfs/v1" + http::PercentEncode(request->target, http::Slashes::kKept) + "?op=" + operation +
                    Caller(request->endpoint.host);
  return std::move(*request);
}

/// The path without its scheme and NameNode.
std::string BarePath(const std::string& path) {
  const base::Result<http::ClientRequest> parsed = Parse(path);
  return parsed.ok() ? parsed->target : path;
}

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
    if (ended_ && !ended_->ok()) throw TaskError("cannot " + what_ + ": " + ended_->error().message);
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
  const auto answer = wire::json::Parse(body, wire::json::kAnswer);
  std::string why = "HTTP status " + std::to_string(status);
  if (answer && answer->is_object() && answer->contains("RemoteException") &&
      answer->at("RemoteException").is_object()) {
    const json& remote = answer->at("RemoteException");
    why = remote.value("exception", "") + ": " + remote.value("message", "");
    why = why.substr(0, why.find('\n'));
  }
  throw TaskError("cannot " + what + ": " + why);
}

struct Answer {
  int status = 0;
  json body;
};

/// An operation that the NameNode answers itself. 404 is given back, other failures are thrown.
Answer Ask(const char* method, const std::string& path, const std::string& operation, const std::string& what) {
  Exchange exchange(Operation(method, path, operation), what);
  const std::string body = exchange.ReadAll();
  const int status = exchange.answer()->status;
  if (status == 404) return {404, {}};
  if (status != 200) Refuse(what, status, body);
  auto answer = wire::json::Parse(body, wire::json::kAnswer);
  if (!answer) throw TaskError("cannot " + what + ": the answer: " + answer.error().message);
  if (!answer->is_object()) throw TaskError("cannot " + what + ": the answer is no JSON object");
  return {200, std::move(*answer)};
}

/// A request to the DataNode to which the NameNode sends who wants a file's bytes.
http::ClientRequest Redirect(const char* method, const std::string& path, const std::string& operation,
                             const std::string& what) {
  Exchange exchange(Operation(method, path, operation), what);
  const std::string body = exchange.ReadAll();
  if (const int status = exchange.answer()->status; status != 307) Refuse(what, status, body);
  const std::string location(http::FindHeader(exchange.answer()->headers, "Location"));
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
  const std::string operation = "RENAME&destination=" + http::PercentEncode(BarePath(to), http::Slashes::kKept);
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
