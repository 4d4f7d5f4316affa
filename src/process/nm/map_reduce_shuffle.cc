#include "process/nm/map_reduce_shuffle.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/bytes.h"
#include "base/text.h"
#include "endpoints/yarn/credentials.h"
#include "endpoints/yarn/tokens.h"
#include "env/timer.h"
#include "process/http/http.h"
#include "process/nm/layout.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::nm {

namespace ep = endpoints::yarn;

namespace {

constexpr size_t kHeaderBytesMax = 64 * 1024;
constexpr size_t kUnsentHigh = 1 << 20;
constexpr size_t kMapsMax = 10'000;
constexpr size_t kIndexEntryBytes = 24;
constexpr size_t kIndexChecksumBytes = 8;

/// WritableUtils.writeVLong.
void PutVLong(std::string& out, int64_t value) {
  if (value >= -112 && value <= 127) {
    out.push_back(static_cast<char>(value));
    return;
  }
  int length = -112;
  auto bits = static_cast<uint64_t>(value);
  if (value < 0) {
    bits = ~bits;
    length = -120;
  }
  int bytes = 0;
  for (uint64_t rest = bits; rest != 0; rest >>= 8) ++bytes;
  out.push_back(static_cast<char>(length - bytes));
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out.push_back(static_cast<char>(bits >> shift));
}

struct Head {
  std::string method;
  std::string target;
  http::Headers headers;
};

/// The text up to the empty line.
bool ParseHead(std::string_view text, Head& head) {
  const std::vector<std::string_view> lines = base::Split(text, '\n');
  const auto trimmed = [](std::string_view line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    return line;
  };
  const std::vector<std::string_view> first = base::Split(trimmed(lines[0]), ' ');
  if (first.size() != 3 || !first[2].starts_with("HTTP/1.")) return false;
  head.method = first[0];
  head.target = first[1];
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = trimmed(lines[i]);
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    head.headers.emplace_back(std::string(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1))));
  }
  return true;
}

}  // namespace

bool IsOutputName(std::string_view text) {
  constexpr size_t kLongest = 128;
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return text.starts_with("attempt_") && text.size() <= kLongest && std::all_of(text.begin(), text.end(), plain);
}

base::Result<MapOutputRequest> ParseMapOutputQuery(std::string_view query) {
  MapOutputRequest request;
  int jobs = 0, reduces = 0;
  for (const std::string_view pair : base::Split(query, '&')) {
    const size_t equals = pair.find('=');
    const std::string_view name = pair.substr(0, equals);
    const std::string value =
        http::PercentDecode(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), true);
    if (name == "job") {
      ++jobs;
      if (!value.starts_with("job_")) return base::Error{"Bad job parameter"};
      const base::Result<model::ApplicationId> app = model::ParseApplicationId("application_" + value.substr(4));
      if (!app) return base::Error{"Bad job parameter"};
      request.app = *app;
    } else if (name == "reduce") {
      ++reduces;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), request.reduce);
      if (error != std::errc() || end != value.data() + value.size() || request.reduce < 0)
        return base::Error{"Bad reduce parameter"};
    } else if (name == "map") {
      for (const std::string_view map : base::Split(value, ',')) {
        if (!IsOutputName(map)) return base::Error{"Bad map parameter"};
        request.maps.emplace_back(map);
      }
    } else if (name == "keepAlive") {
      request.keep_alive = value == "true";
    }
  }
  if (jobs == 0 || reduces == 0 || request.maps.empty()) return base::Error{"Required param job, map and reduce"};
  if (jobs > 1 || reduces > 1) return base::Error{"Too many job/reduce parameters"};
  if (request.maps.size() > kMapsMax) return base::Error{"Too many map parameters"};
  return request;
}

std::string ShuffleHeader(std::string_view map, int64_t part_length, int64_t raw_length, int32_t reduce) {
  std::string out;
  PutVLong(out, static_cast<int64_t>(map.size()));
  out += map;
  PutVLong(out, part_length);
  PutVLong(out, raw_length);
  PutVLong(out, reduce);
  return out;
}

/// One reducer's connection: requests one after the other.
class MapReduceShuffle::Connection : public env::StreamHandler, public peers::Peer {
 public:
  Connection(MapReduceShuffle& owner, uint64_t id, std::unique_ptr<env::Stream> stream)
      : owner_(owner), id_(id), stream_(std::move(stream)), seat_(owner.peers_, *this, stream_->peer().host) {
    stream_->Start(this);
    Count();
    Rearm();
  }
  ~Connection() override = default;

  void OnData(std::string_view bytes) override {
    input_ += bytes;
    seat_.Heard();
    ReadRequests();
  }
  void OnClosed(const std::string&) override { Drop(); }
  void OnDrained() override {
    seat_.Move();
    if (closing_) return;
    stream_->ResumeReading();
    ReadRequests();
  }
  void Evict() override {
    stream_->Close();
    Drop();
  }
  void OnOverhead() override { Count(); }
  size_t HeldBytes() const override { return input_.capacity() + stream_->overhead(); }

 private:
  /// The next request is looked at when most of the last answer is taken.
  void ReadRequests() {
    while (!closing_ && stream_->unsent() <= kUnsentHigh) {
      const size_t end = input_.find("\r\n\r\n");
      if (end == std::string::npos) {
        if (input_.size() > kHeaderBytesMax) return Refuse(400, "Bad Request", "the request's head is too long");
        break;
      }
      const std::string head = input_.substr(0, end);
      input_.erase(0, end + 4);
      Answer(head);
      if (closing_) return;
      seat_.Become(peers::Standing::kIdle);
      Rearm();
    }
    if (closing_) return;
    if (stream_->unsent() > kUnsentHigh && input_.size() > kHeaderBytesMax) stream_->PauseReading();
    if (input_.empty()) std::string().swap(input_);
    Count();
  }
  void Count() {
    seat_.Count();
    owner_.peers_.Relieve(&seat_);
  }
  void Rearm() {
    timer_.Stop();
    const bool stranger = stream_->unsent() == 0 && !answered_;
    timer_.After(stranger ? owner_.options_.head : owner_.options_.idle, [this] {
      if (stream_->unsent() != last_unsent_) {  // a slow reader that still moves
        last_unsent_ = stream_->unsent();
        return Rearm();
      }
      Drop();
    });
  }
  /// Later, since it may be called from the stream itself.
  void Drop() {
    closing_ = true;
    owner_.loop_.Post(owner_.alive_([&owner = owner_, id = id_] { owner.connections_.erase(id); }));
  }
  void Refuse(int status, const char* phrase, const std::string& why, const std::string& more = {}) {
    const std::string body = why + "\n";
    stream_->Write("HTTP/1.1 " + std::to_string(status) + " " + phrase +
                   "\r\nContent-Type: text/plain; charset=UTF-8\r\nname: mapreduce\r\nversion: 1.0.0\r\n" + more +
                   "Connection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    closing_ = true;
    stream_->CloseAfterFlush();
    // The stream closes itself; the object goes a little later, when what it holds has been sent.
    owner_.loop_.After(base::Duration::Seconds(2),
                       owner_.alive_([&owner = owner_, id = id_] { owner.connections_.erase(id); }));
  }

  void Answer(const std::string& text) {
    Head head;
    if (!ParseHead(text, head)) return Refuse(400, "Bad Request", "malformed request");
    if (head.method != "GET") return Refuse(405, "Method Not Allowed", "only GET is served");
    if (http::FindHeader(head.headers, "name") != "mapreduce" || http::FindHeader(head.headers, "version") != "1.0.0")
      return Refuse(400, "Bad Request", "Incompatible shuffle request version");
    const size_t question = head.target.find('?');
    if (question == std::string::npos || head.target.substr(0, question) != "/mapOutput")
      return Refuse(400, "Bad Request", "Required param job, map and reduce");
    const base::Result<MapOutputRequest> request =
        ParseMapOutputQuery(std::string_view(head.target).substr(question + 1));
    if (!request) return Refuse(400, "Bad Request", request.error().message);
    const auto job = owner_.jobs_.find(request->app);
    if (job == owner_.jobs_.end()) return Refuse(401, "Unauthorized", "unknown job");
    const std::string_view signature = http::FindHeader(head.headers, "UrlHash");
    const std::string message = std::to_string(owner_.local().port) + head.target;
    const auto given = wire::hadoop_rpc::DecodeBase64(signature);
    if (!given || !ep::SameSecret(*given, ep::TokenPassword(job->second.secret, message)))
      return Refuse(401, "Unauthorized", "fetcher cannot be authenticated");
    Send(*request, job->second, signature);
  }

  void Send(const MapOutputRequest& request, const Job& job, std::string_view signature) {
    std::vector<Output> outputs;
    int64_t length = 0;
    for (const std::string& map : request.maps) {
      base::Result<Output> output = owner_.Find(job.user, request.app, map, request.reduce);
      if (!output) {
        owner_.log_.Warn("map output cannot be served", {{"map", map}, {"why", output.error().message}});
        return Refuse(500, "Internal Server Error", output.error().message);
      }
      length +=
          static_cast<int64_t>(ShuffleHeader(map, output->part_length, output->raw_length, request.reduce).size()) +
          output->part_length;
      outputs.push_back(std::move(*output));
    }
    answered_ = true;
    const std::string reply_hash = wire::hadoop_rpc::EncodeBase64(ep::TokenPassword(job.secret, signature));
    std::string head = "HTTP/1.1 200 OK\r\nReplyHash: " + reply_hash + "\r\nname: mapreduce\r\nversion: 1.0.0\r\n";
    head += "Content-Length: " + std::to_string(length) + "\r\n";
    head +=
        request.keep_alive ? "Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n" : "Connection: close\r\n\r\n";
    stream_->Write(std::move(head));
    for (Output& output : outputs) {
      stream_->Write(ShuffleHeader(output.map, output.part_length, output.raw_length, request.reduce));
      if (output.part_length > 0)
        stream_->SendFile(std::move(output.file), static_cast<uint64_t>(output.start),
                          static_cast<uint64_t>(output.part_length));
    }
    if (request.keep_alive) return;
    closing_ = true;
    stream_->CloseAfterFlush();
  }

  MapReduceShuffle& owner_;
  const uint64_t id_;
  std::unique_ptr<env::Stream> stream_;
  std::string input_;
  env::Timer timer_{owner_.loop_};
  peers::PeerTable::Seat seat_;
  size_t last_unsent_ = 0;
  bool answered_ = false;  // a signed request
  bool closing_ = false;
};

base::Result<std::unique_ptr<MapReduceShuffle>> MapReduceShuffle::Start(env::Loop& loop, env::Net& net, env::Disk& disk,
                                                                        env::Log& log, const NodeDirs& dirs,
                                                                        Options options) {
  const env::Endpoint endpoint = options.listen;
  std::unique_ptr<MapReduceShuffle> service(new MapReduceShuffle(loop, disk, log, dirs, std::move(options)));
  auto listener = net.Listen(
      endpoint, [raw = service.get()](std::unique_ptr<env::Stream> stream) { raw->Accept(std::move(stream)); },
      [raw = service.get()] { raw->peers_.Thin(); });
  if (!listener) return base::Error{"cannot listen: " + listener.error().message};
  service->listener_ = std::move(*listener);
  return service;
}

MapReduceShuffle::MapReduceShuffle(env::Loop& loop, env::Disk& disk, env::Log& log, const NodeDirs& dirs,
                                   Options options)
    : loop_(loop), disk_(disk), log_(log), dirs_(dirs), options_(std::move(options)), peers_(options_.peers) {}

MapReduceShuffle::~MapReduceShuffle() = default;

std::string MapReduceShuffle::MetaData() const {
  std::string meta;
  base::ByteWriter(meta).U32(listener_->local().port);
  return meta;
}

void MapReduceShuffle::InitializeApplication(const std::string& user, const model::ApplicationId& app,
                                             const std::string& data) {
  const base::Result<ep::RpcToken> token = ep::ParseWritableToken(data);
  if (!token) {
    log_.Warn("a job's token cannot be read", {{"app", model::ToString(app)}, {"why", token.error().message}});
    return;
  }
  jobs_[app] = {user, token->password};
}

void MapReduceShuffle::Accept(std::unique_ptr<env::Stream> stream) {
  if (!peers_.MakeRoom(stream->peer().host)) {
    stream->Write("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    stream->CloseAfterFlush();
    return;
  }
  const uint64_t id = next_connection_++;
  connections_[id] = std::make_unique<Connection>(*this, id, std::move(stream));
}

base::Result<MapReduceShuffle::Output> MapReduceShuffle::Find(const std::string& user, const model::ApplicationId& app,
                                                              const std::string& map, int32_t reduce) const {
  for (const std::string& local : dirs_.all_local()) {
    // From the administrator's directory on: all below it is the user's, who may have put links there.
    const std::string relative = AppDir(local, user, app).substr(local.size() + 1) + "/output/" + map + "/file.out";
    const base::Result<std::shared_ptr<env::File>> index = disk_.OpenBeneath(local, relative + ".index");
    if (!index) continue;
    const base::Result<uint64_t> index_size = (*index)->Size();
    const uint64_t offset = static_cast<uint64_t>(reduce) * kIndexEntryBytes;
    if (!index_size || offset + kIndexEntryBytes + kIndexChecksumBytes > *index_size)
      return base::Error{"the index of " + map + " has no partition " + std::to_string(reduce)};
    std::array<char, kIndexEntryBytes> entry{};
    const base::Result<size_t> got = (*index)->ReadAt(offset, entry);
    if (!got || *got != entry.size()) return base::Error{"the index of " + map + " cannot be read"};
    const std::string_view numbers(entry.data(), entry.size());
    Output output;
    output.map = map;
    output.start = base::BigEndian<int64_t>(numbers);
    output.raw_length = base::BigEndian<int64_t>(numbers.substr(8));
    output.part_length = base::BigEndian<int64_t>(numbers.substr(16));
    base::Result<std::shared_ptr<env::File>> file = disk_.OpenBeneath(local, relative);
    if (!file) return base::Error{"the output of " + map + " cannot be opened: " + file.error().message};
    const base::Result<uint64_t> size = (*file)->Size();
    if (!size || output.start < 0 || output.part_length < 0 || output.raw_length < 0 ||
        static_cast<uint64_t>(output.start) > *size ||
        static_cast<uint64_t>(output.part_length) > *size - static_cast<uint64_t>(output.start))
      return base::Error{"the index of " + map + " points outside of its file"};
    output.file = std::move(*file);
    return output;
  }
  return base::Error{"Could not find output/" + map + "/file.out.index in any of the configured local directories"};
}

}  // namespace fairlead::process::nm
