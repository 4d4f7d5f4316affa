#include "engine/io/web_hdfs.h"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/io/job_files.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using nlohmann::json;

constexpr std::chrono::seconds kSilenceMax{60};
constexpr uint64_t kAnswerMax = 64 << 20;  // of the NameNode: a listing

/// Where a request goes.
struct Address {
  std::string host;
  std::string port;
  std::string target;
};

/// HOST:PORT/TARGET behind `scheme`.
std::optional<Address> Parse(std::string_view url, std::string_view scheme) {
  if (!url.starts_with(scheme)) return std::nullopt;
  url.remove_prefix(scheme.size());
  const size_t slash = std::min(url.find('/'), url.size());
  const std::string_view authority = url.substr(0, slash);
  const size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == authority.size()) return std::nullopt;
  std::string target(url.substr(slash));
  return Address{std::string(authority.substr(0, colon)), std::string(authority.substr(colon + 1)),
                 target.empty() ? "/" : target};
}

std::string Escape(std::string_view text, bool slashes) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || (slashes && c == '/');
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += plain ? std::string(1, c) : std::string(code);
  }
  return out;
}

/// The NameNode's address of an operation on a path.
Address AddressOf(const std::string& path, const std::string& operation) {
  std::optional<Address> address = Parse(path, WebHdfs::kScheme);
  if (!address) throw TaskError(path + ": not of the form webhdfs://HOST:PORT/PATH");
  const std::string user = Environment("HADOOP_USER_NAME", Environment("USER", ""));
  address->target = "/webhdfs/v1" + Escape(address->target, true) + "?op=" + operation +
                    (user.empty() ? "" : "&user.name=" + Escape(user, false));
  return *address;
}

/// The path without its scheme and NameNode.
std::string BarePath(const std::string& path) {
  const std::optional<Address> address = Parse(path, WebHdfs::kScheme);
  return address ? address->target : path;
}

/// One connection with one request. Blocking, but no peer can hold it for longer than kSilenceMax without a byte.
class Exchange {
 public:
  Exchange(const Address& address, const std::string& what) : address_(address), what_(what), stream_(context_) {
    error_code error;
    asio::ip::tcp::resolver resolver(context_);
    const auto found = resolver.resolve(address.host, address.port, error);
    Check(error);
    Check(Await(
        [&](auto done) { stream_.async_connect(found, [done](error_code failed, const auto&) { done(failed); }); }));
  }

  void SendHeader(http::verb verb, bool chunked) {
    http::request<http::empty_body> request{verb, address_.target, 11};
    request.set(http::field::host, address_.host + ":" + address_.port);
    request.set(http::field::connection, "close");
    if (chunked) {
      request.chunked(true);
      request.set(http::field::content_type, "application/octet-stream");
    } else if (verb != http::verb::get) {
      request.content_length(0);
    }
    http::request_serializer<http::empty_body> serializer(request);
    Check(Await([&](auto done) {
      http::async_write_header(stream_, serializer, [done](error_code failed, size_t) { done(failed); });
    }));
  }
  template <class Buffers>
  void Send(const Buffers& buffers) {
    Check(Await(
        [&](auto done) { asio::async_write(stream_, buffers, [done](error_code failed, size_t) { done(failed); }); }));
  }
  /// Of the final answer: a DataNode says 100 Continue before it, unasked.
  void ReadHeader() {
    do {
      parser_.emplace();
      parser_->body_limit(std::numeric_limits<uint64_t>::max());
      Check(Await([&](auto done) {
        http::async_read_header(stream_, buffer_, *parser_, [done](error_code failed, size_t) { done(failed); });
      }));
    } while (status() / 100 == 1);
  }
  /// Fills up to `n` bytes of the answer's body; 0 only at its end.
  size_t Read(char* out, size_t n) {
    auto& body = parser_->get().body();
    while (!parser_->is_done()) {
      body.data = out;
      body.size = n;
      error_code error = Await([&](auto done) {
        http::async_read_some(stream_, buffer_, *parser_, [done](error_code failed, size_t) { done(failed); });
      });
      if (error == http::error::need_buffer) error = {};
      Check(error);
      if (body.size < n) return n - body.size;
    }
    return 0;
  }
  std::string ReadAll() {
    std::string all;
    char piece[16 << 10];
    while (const size_t n = Read(piece, sizeof piece)) {
      if (all.size() + n > kAnswerMax) throw TaskError("cannot " + what_ + ": the answer is too long");
      all.append(piece, n);
    }
    return all;
  }
  int status() const { return static_cast<int>(parser_->get().result_int()); }
  std::string location() const { return std::string(parser_->get()[http::field::location]); }

 private:
  template <class Start>
  error_code Await(Start start) {
    error_code result = asio::error::operation_aborted;
    stream_.expires_after(kSilenceMax);
    start([&result](error_code error) { result = error; });
    context_.restart();
    context_.run();
    return result;
  }
  void Check(error_code error) const {
    if (error) {
      throw TaskError("cannot " + what_ + ": " + address_.host + ":" + address_.port + ": " + error.message());
    }
  }

  const Address address_;
  const std::string what_;
  asio::io_context context_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{256 << 10};
  std::optional<http::response_parser<http::buffer_body>> parser_;
};

/// What the server says went wrong, as Hadoop's RemoteException.
[[noreturn]] void Refuse(const std::string& what, int status, const std::string& body) {
  const json answer = json::parse(body, nullptr, false);
  std::string why = "HTTP status " + std::to_string(status);
  if (answer.is_object() && answer.contains("RemoteException") && answer["RemoteException"].is_object()) {
    const json& remote = answer["RemoteException"];
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
Answer Ask(http::verb verb, const std::string& path, const std::string& operation, const std::string& what) {
  Exchange exchange(AddressOf(path, operation), what);
  exchange.SendHeader(verb, false);
  exchange.ReadHeader();
  const std::string body = exchange.ReadAll();
  if (exchange.status() == 404) return {404, {}};
  if (exchange.status() != 200) Refuse(what, exchange.status(), body);
  Answer answer{200, json::parse(body, nullptr, false)};
  if (!answer.body.is_object()) throw TaskError("cannot " + what + ": the answer is no JSON object");
  return answer;
}

/// The DataNode's address, to which the NameNode sends who wants a file's bytes.
Address Redirect(http::verb verb, const std::string& path, const std::string& operation, const std::string& what) {
  Exchange exchange(AddressOf(path, operation), what);
  exchange.SendHeader(verb, false);
  exchange.ReadHeader();
  if (exchange.status() != 307) Refuse(what, exchange.status(), exchange.ReadAll());
  const std::optional<Address> address = Parse(exchange.location(), "http://");
  if (!address) throw TaskError("cannot " + what + ": sent to '" + exchange.location() + "'");
  return *address;
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
    const Address address = Redirect(http::verb::get, path, operation, "find the blocks of " + path);
    blocks.push_back({at, std::min(step, size - at), {address.host}, {}, {}});
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
  HdfsStream(const Address& address, const std::string& path) : exchange_(address, "read " + path) {
    exchange_.SendHeader(http::verb::get, false);
    exchange_.ReadHeader();
    if (exchange_.status() != 200) Refuse("read " + path, exchange_.status(), exchange_.ReadAll());
  }
  size_t Read(char* out, size_t n) override { return exchange_.Read(out, n); }

 private:
  Exchange exchange_;
};

class HdfsOutput : public OutputFile {
 public:
  HdfsOutput(const Address& address, const std::string& path) : path_(path), exchange_(address, "write " + path) {
    exchange_.SendHeader(http::verb::put, true);
  }
  void Write(std::string_view bytes) override {
    if (!bytes.empty()) exchange_.Send(http::make_chunk(asio::buffer(bytes.data(), bytes.size())));
  }
  void Close() override {
    exchange_.Send(http::make_chunk_last());
    exchange_.ReadHeader();
    if (exchange_.status() != 201) Refuse("write " + path_, exchange_.status(), exchange_.ReadAll());
  }

 private:
  const std::string path_;
  Exchange exchange_;
};

}  // namespace

std::optional<FileStatus> WebHdfs::Status(const std::string& path) {
  const std::string what = "read " + path;
  const Answer answer = Ask(http::verb::get, path, "GETFILESTATUS", what);
  if (answer.status == 404) return std::nullopt;
  return ParseStatus(answer.body.value("FileStatus", json()), path, what);
}

std::vector<FileStatus> WebHdfs::List(const std::string& directory) {
  const std::string what = "read directory " + directory;
  const Answer answer = Ask(http::verb::get, directory, "LISTSTATUS", what);
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
    const Answer answer = Ask(http::verb::get, path, operation, "find the blocks of " + path);
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
  return std::make_unique<HdfsStream>(Redirect(http::verb::get, path, operation, "read " + path), path);
}

std::unique_ptr<OutputFile> WebHdfs::Create(const std::string& path) {
  return std::make_unique<HdfsOutput>(Redirect(http::verb::put, path, "CREATE&overwrite=true", "create " + path), path);
}

void WebHdfs::MakeDirectories(const std::string& path) {
  const std::string what = "create directory " + path;
  if (!Did(Ask(http::verb::put, path, "MKDIRS", what))) throw TaskError("cannot " + what);
}

void WebHdfs::Rename(const std::string& from, const std::string& to) {
  const std::string what = "rename " + from + " to " + to;
  const std::string operation = "RENAME&destination=" + Escape(BarePath(to), true);
  if (Did(Ask(http::verb::put, from, operation, what))) return;
  // HDFS does not replace a file.
  const std::optional<FileStatus> there = Status(to);
  if (there && !there->directory) Remove(to);
  if (!Did(Ask(http::verb::put, from, operation, what))) throw TaskError("cannot " + what);
}

void WebHdfs::Remove(const std::string& path) noexcept {
  try {
    Ask(http::verb::delete_, path, "DELETE&recursive=true", "remove " + path);
  } catch (const std::exception&) {
    // Best effort.
  }
}

void WebHdfs::RemoveEmpty(const std::string& directory) noexcept {
  try {
    Ask(http::verb::delete_, directory, "DELETE&recursive=false", "remove " + directory);
  } catch (const std::exception&) {
    // Not empty, or out of reach.
  }
}

}  // namespace fairlead::engine
