#include "oracle/shuffle_replay.h"

#include <deque>
#include <memory>
#include <regex>

#include "base/bytes.h"
#include "env_sim/world.h"
#include "process/shuffle/service.h"
#include "wire/digest_md5/digest_md5.h"
#include "wire/spark_shuffle/layout.h"
#include "wire/spark_transport/auth.h"
#include "wire/spark_transport/frames.h"
#include "wire/spark_transport/sasl.h"

namespace fairlead::oracle {
namespace {

namespace transport = wire::spark_transport;
namespace shuffle = process::shuffle;
using Kind = WireStep::Kind;

std::string HexOf(std::string_view bytes) {
  std::string out;
  char two[3];
  for (const char c : bytes.substr(0, 80)) {
    std::snprintf(two, sizeof two, "%02x", static_cast<uint8_t>(c));
    out += two;
  }
  return out + (bytes.size() > 80 ? "... (" + std::to_string(bytes.size()) + " bytes)" : "");
}

// ---- the service under test ----------------------------------------------------------------------------------------

/// The simulator's loop, but what a recorded server drew at random is drawn again.
class ReplayLoop final : public env::Loop {
 public:
  explicit ReplayLoop(env::Loop& loop) : loop_(loop) {}
  base::Instant Now() const override { return loop_.Now(); }
  base::WallTime Wall() const override { return loop_.Wall(); }
  TimerId At(base::Instant when, Callback callback) override { return loop_.At(when, std::move(callback)); }
  void Cancel(TimerId timer) override { loop_.Cancel(timer); }
  void Post(Callback callback) override { loop_.Post(std::move(callback)); }
  void Offload(Callback work, Callback done) override { loop_.Offload(std::move(work), std::move(done)); }
  void RandomBytes(std::span<uint8_t> bytes) override {
    if (!recorded_.empty() && recorded_.front().size() == bytes.size()) {
      std::copy(recorded_.front().begin(), recorded_.front().end(), bytes.begin());
      recorded_.pop_front();
    } else {
      loop_.RandomBytes(bytes);
    }
  }
  void WillDraw(std::string bytes) { recorded_.push_back(std::move(bytes)); }

 private:
  env::Loop& loop_;
  std::deque<std::string> recorded_;
};

/// The client's end of a connection.
class Client final : public env::StreamHandler {
 public:
  explicit Client(std::unique_ptr<env::Stream> stream) : stream_(std::move(stream)) { stream_->Start(this); }
  void OnData(std::string_view bytes) override { received_.append(bytes); }
  void OnClosed(const std::string&) override { server_closed_ = true; }
  void Send(const std::string& bytes, size_t piece) {
    if (server_closed_ || closed_) return;
    const size_t step = piece == 0 ? bytes.size() : piece;
    for (size_t at = 0; at < bytes.size(); at += step) stream_->Write(bytes.substr(at, step));
  }
  void Close() {
    if (!closed_ && !server_closed_) stream_->Close();
    closed_ = true;
  }
  std::string Take() { return std::exchange(received_, {}); }
  bool server_closed() const { return server_closed_; }
  bool closed() const { return closed_; }

 private:
  std::unique_ptr<env::Stream> stream_;
  std::string received_;
  bool server_closed_ = false;
  bool closed_ = false;
};

base::Result<shuffle::Config> ConfigOf(const ShuffleRecording& recording) {
  shuffle::Config config;
  const bool old = recording.spark.starts_with("3.");
  config.session.answer_as = old ? endpoints::shuffle::AnswerAs::kSpark35 : endpoints::shuffle::AnswerAs::kSpark43;
  config.core.refuse_foreign_dirs = !old;
  config.core.local_roots = {recording.root};
  config.listen = {"server", 7337};
  auto& security = config.session.security;
  const std::string& mode = recording.mode;
  if (mode != "plain") {
    security.authenticate = true;
    config.cluster_secret = recording.secret;
  }
  security.crypto = mode.starts_with("crypto");
  if (mode == "crypto-v2" || mode == "crypto-gcm") security.version = transport::AuthVersion::kV2;
  if (mode == "crypto-gcm") security.cipher = transport::AuthCipher::kGcm;
  const bool known = mode == "plain" || mode == "sasl" || mode == "sasl-encrypt" || mode == "crypto-v1" ||
                     mode == "crypto-v2" || mode == "crypto-gcm";
  if (!known) return base::Error{"unknown mode '" + mode + "'"};
  return config;
}

class Bench {
 public:
  Bench(const shuffle::Config& config, const ShuffleRecording& recording, const ShuffleRecordings& all)
      : config_(config), server_(world_.AddMachine("server")), client_(world_.AddMachine("client")) {
    world_.faults().delay_min = base::Duration::Micros(1);
    world_.faults().delay_max = base::Duration::Micros(1);
    for (const auto& [path, bytes] : all.blocks) {
      const std::string whole = recording.root + "/" + path;
      static_cast<void>(server_.disk().MakeDirectories(whole.substr(0, whole.rfind('/'))));
      static_cast<void>(server_.disk().WriteFileAtomically(whole, bytes));
    }
    loop_ = std::make_unique<ReplayLoop>(server_.loop());
    service_ = std::make_unique<shuffle::Service>(*loop_, server_.disk(), &server_.store(), log_, config_);
    worker_ =
        std::make_unique<shuffle::IoWorker>(*loop_, server_.net(), server_.disk(), nullptr, log_, config_, *service_);
    service_->AddWorker(*worker_);
    static_cast<void>(worker_->Listen(config_.listen));
  }

  std::unique_ptr<Client> Connect() {
    std::unique_ptr<Client> out;
    client_.net().Connect(config_.listen, base::Duration::Seconds(1),
                          [&](base::Result<std::unique_ptr<env::Stream>> stream) {
                            if (stream.ok()) out = std::make_unique<Client>(*std::move(stream));
                          });
    Settle();
    return out;
  }

  /// Half a second, as the recorder waited.
  void Settle() {
    world_.RunUntil(world_.now() + base::Duration::Millis(500), [] { return false; });
  }
  ReplayLoop& loop() { return *loop_; }

 private:
  const shuffle::Config config_;
  env_sim::World world_{1};
  env_sim::Machine& server_;
  env_sim::Machine& client_;
  env::NullLog log_;
  std::unique_ptr<ReplayLoop> loop_;
  std::unique_ptr<shuffle::Service> service_;
  std::unique_ptr<shuffle::IoWorker> worker_;
};

// ---- recorded bytes as frames --------------------------------------------------------------------------------------

/// Length of the frame at the front, with its length field; nullopt: not a whole frame.
std::optional<size_t> FrameBytes(std::string_view bytes) {
  if (bytes.size() < 8) return std::nullopt;
  const int64_t length = base::BigEndian<int64_t>(bytes);
  if (length <= 8 || length > static_cast<int64_t>(bytes.size())) return std::nullopt;
  return static_cast<size_t>(length);
}

std::optional<transport::Frame> Decode(std::string_view frame) {
  if (frame.size() < 9) return std::nullopt;
  const auto decoded = transport::DecodeFrame(frame.substr(8));
  if (!decoded.ok()) return std::nullopt;
  return *decoded;
}

/// Splits clear text into frame steps; what is no whole frame stays as "incomplete".
void AppendFrames(const WireStep& piece, std::string& rest, std::vector<WireStep>& out) {
  rest += piece.bytes;
  while (const auto length = FrameBytes(rest)) {
    WireStep step = piece;
    step.bytes = rest.substr(0, *length);
    const auto frame = Decode(step.bytes);
    step.frame = frame ? std::string(transport::EnumName(frame->type)) : "unparsed";
    if (frame && frame->following_bytes > 0) step.frame += "+";  // not recorded this way
    const bool failure = frame && (frame->type == transport::FrameType::kRpcFailure ||
                                   frame->type == transport::FrameType::kChunkFetchFailure ||
                                   frame->type == transport::FrameType::kStreamFailure);
    if (failure) {
      const std::string_view text = frame->type == transport::FrameType::kStreamFailure ? frame->error : frame->text;
      step.error = std::string(text.substr(0, text.find('\n')));
    }
    out.push_back(std::move(step));
    rest.erase(0, *length);
  }
}

/// A recorded connection's secrets: how to read what was recorded, and to talk to the service under test.
struct Keys {
  std::unique_ptr<transport::ChannelCipher> recorded_to_server;  // reads recorded client bytes
  std::unique_ptr<transport::ChannelCipher> recorded_to_client;  // reads recorded server bytes
  std::unique_ptr<transport::ChannelCipher> live;                // client's cipher towards the service
};

// ---- one recording -------------------------------------------------------------------------------------------------

class Replayer {
 public:
  Replayer(const ShuffleRecording& recording, const ShuffleRecordings& all, const shuffle::Config& config, size_t piece)
      : recording_(recording), bench_(config, recording, all), piece_(piece) {}

  std::string Run(const Exchange& exchange) {
    difference_.clear();
    connections_.clear();
    name_ = exchange.name;
    const bool in_pieces = std::any_of(exchange.steps.begin(), exchange.steps.end(), [](const WireStep& step) {
      return (step.kind == Kind::kToServer || step.kind == Kind::kToClient) && step.frame.empty();
    });
    if (in_pieces) {
      RunAuthenticated(exchange.steps);
    } else {
      RunFrames(exchange.steps);
    }
    return difference_;
  }

 private:
  struct Connection {
    std::unique_ptr<Client> owned;
    Client* client = nullptr;
    Keys* keys = nullptr;  // set once the connection is encrypted
    std::string clear;     // received, decrypted, not yet compared
    bool prefix_is_enough = false;
    bool half_closed = false;  // the client's side was recorded as closed, answers followed
  };

  void Differ(const std::string& what) {
    if (difference_.empty()) difference_ = what;
  }

  Connection& Open(int number, const std::vector<WireStep>& steps) {
    const auto found = connections_.find(number);
    if (found != connections_.end()) return found->second;
    Connection& connection = connections_[number];
    // A stream that an earlier exchange opened can only be read from its connection.
    for (const WireStep& step : steps) {
      const auto frame = step.connection == number && step.kind == Kind::kToServer ? Decode(step.bytes) : std::nullopt;
      if (!frame || frame->type != transport::FrameType::kChunkFetchRequest) continue;
      const auto stream = streams_.find(frame->id);
      if (stream != streams_.end() && stream->second.exchange != name_) connection.client = stream->second.client;
    }
    if (connection.client == nullptr) {
      connection.owned = bench_.Connect();
      connection.client = connection.owned.get();
      if (connection.client == nullptr) Differ("cannot connect");
    }
    return connection;
  }

  /// Replays frames: sends what the client sent, compares what came back, in order on each connection.
  void RunFrames(const std::vector<WireStep>& steps) {
    for (size_t i = 0; i < steps.size() && difference_.empty(); ++i) {
      const WireStep& step = steps[i];
      Connection& connection = Open(step.connection, steps);
      if (connection.client == nullptr) return;
      switch (step.kind) {
        case Kind::kToServer:
          Send(connection, Translate(step.bytes));
          break;
        case Kind::kToClient:
          bench_.Settle();
          Compare(connection, step);
          break;
        case Kind::kClientClosed:
          OnClientClosed(connection, steps, i);
          break;
        case Kind::kServerClosed:
          bench_.Settle();
          if (connection.half_closed) connection.client->Close();
          if (!connection.client->server_closed() && !connection.client->closed()) {
            Differ("the connection stays open where the recorded service closed it");
          }
          break;
      }
    }
    bench_.Settle();
    for (auto& [number, connection] : connections_) Finish(number, connection, steps);
  }

  void OnClientClosed(Connection& connection, const std::vector<WireStep>& steps, size_t at) {
    bench_.Settle();
    for (size_t i = 0; i < at; ++i) {
      if (steps[i].connection == steps[at].connection && steps[i].kind == Kind::kServerClosed) return;
    }
    if (connection.client->server_closed()) Differ("the service closed a connection that was recorded as open");
    // The simulator has no half-close: answers that were recorded after it are awaited before.
    for (size_t i = at + 1; i < steps.size(); ++i) {
      if (steps[i].connection != steps[at].connection || steps[i].kind != Kind::kToClient) continue;
      connection.half_closed = true;
      return;
    }
    Receive(connection);
    connection.client->Close();
  }

  void Finish(int number, Connection& connection, const std::vector<WireStep>& steps) {
    if (connection.client == nullptr) return;
    bool recorded_closed = false;
    for (const WireStep& step : steps) {
      recorded_closed |=
          step.connection == number && (step.kind == Kind::kServerClosed || step.kind == Kind::kClientClosed);
    }
    if (!recorded_closed && connection.client->server_closed()) {
      Differ("the service closed a connection that was recorded as open");
    }
    Receive(connection);
    if (!connection.clear.empty() && !connection.prefix_is_enough) {
      Differ("more was answered than recorded: " + HexOf(connection.clear));
    }
    if (connection.owned) kept_.push_back(std::move(connection.owned));
  }

  void Send(Connection& connection, const std::string& bytes) {
    if (connection.keys == nullptr) return connection.client->Send(bytes, piece_);
    std::string sealed;
    connection.keys->live->Encrypt(bytes, sealed);
    connection.client->Send(sealed, piece_);
  }

  void Receive(Connection& connection) {
    const std::string bytes = connection.client->Take();
    if (connection.keys == nullptr) {
      connection.clear += bytes;
    } else if (!connection.keys->live->Decrypt(bytes, connection.clear).ok()) {
      Differ("what was answered cannot be decrypted");
    }
  }

  // ---- stream ids

  struct Stream {
    int64_t live = 0;
    Client* client = nullptr;
    std::string exchange;  // that opened it
  };

  /// The client's frame with the stream ids that the service under test gave out.
  std::string Translate(const std::string& bytes) {
    const auto frame = Decode(bytes);
    if (!frame || FrameBytes(bytes) != bytes.size()) return bytes;
    std::string out;
    if (frame->type == transport::FrameType::kChunkFetchRequest) {
      if (Needs(frame->id)) bench_.Settle();
      transport::AppendChunkFetchRequest(out, LiveId(frame->id), frame->chunk_index);
      return out;
    }
    if (frame->type == transport::FrameType::kStreamRequest) {
      transport::AppendStreamRequest(out, TranslateText(std::string(frame->text)));
      return out;
    }
    return bytes;
  }

  bool Needs(int64_t id) const { return !streams_.contains(id); }
  int64_t LiveId(int64_t recorded) const {
    const auto found = streams_.find(recorded);
    return found == streams_.end() ? recorded : found->second.live;
  }

  /// Every recorded stream id in a text becomes the live one.
  std::string TranslateText(std::string text) const {
    for (const auto& [recorded, stream] : streams_) {
      const std::string from = std::to_string(recorded);
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
        const std::string to = std::to_string(stream.live);
        text.replace(at, from.size(), to);
        at += to.size();
      }
    }
    return text;
  }

  // ---- comparing

  /// Takes from what was received as much as the step says and compares it.
  void Compare(Connection& connection, const WireStep& step) {
    Receive(connection);
    std::string& clear = connection.clear;
    if (step.frame == "incomplete" || step.frame == "raw bytes of StreamResponse") {
      const size_t size = std::min(step.bytes.size(), clear.size());
      CompareBytes(step.bytes, clear.substr(0, size), step.frame == "incomplete");
      clear.erase(0, size);
      return;
    }
    const auto length = FrameBytes(clear);
    if (!length) {
      return Differ("expected " + step.frame + " " + HexOf(step.bytes) + ", got " +
                    (clear.empty() ? "nothing" : HexOf(clear)));
    }
    const std::string bytes = clear.substr(0, *length);
    clear.erase(0, *length);
    if (step.error) {
      CompareFailure(step, bytes);
    } else {
      LearnStream(connection, step.bytes, bytes);
      CompareBytes(step.bytes, bytes, true);
    }
  }

  /// A recorded StreamHandle tells which live id stands for the recorded one.
  void LearnStream(Connection& connection, const std::string& recorded, const std::string& live) {
    const auto a = Decode(recorded);
    const auto b = Decode(live);
    const bool handles = a && b && a->type == transport::FrameType::kRpcResponse && b->type == a->type &&
                         a->body.size() == 13 && b->body.size() == 13 && a->body[0] == 3 && b->body[0] == 3;
    if (!handles) return;
    streams_[base::BigEndian<int64_t>(a->body.substr(1))] = {base::BigEndian<int64_t>(b->body.substr(1)),
                                                             connection.client, name_};
  }

  /// The recorded frame as the service under test has to write it: with the live stream ids.
  std::string Expected(const std::string& recorded) const {
    const auto frame = Decode(recorded);
    std::string out = recorded;
    const auto put = [&](size_t at, int64_t id) {
      std::string bytes;
      base::ByteWriter(bytes).I64(id);
      out.replace(at, 8, bytes);
    };
    if (!frame) {  // the header of a chunk whose body never came
      if (recorded.size() >= 17 && recorded[8] == 1)
        put(9, LiveId(base::BigEndian<int64_t>(std::string_view(recorded).substr(9))));
      return out;
    }
    if (frame->type == transport::FrameType::kChunkFetchSuccess) put(9, LiveId(frame->id));
    if (frame->type == transport::FrameType::kRpcResponse && frame->body.size() == 13 && frame->body[0] == 3) {
      put(22, LiveId(base::BigEndian<int64_t>(frame->body.substr(1))));
    }
    if (frame->type == transport::FrameType::kStreamResponse) {
      out.clear();
      transport::AppendStreamResponse(out, TranslateText(std::string(frame->text)), frame->following_bytes);
    }
    return out;
  }

  void CompareBytes(const std::string& recorded, const std::string& live, bool is_frame) {
    const std::string expected = is_frame ? Expected(recorded) : recorded;
    if (expected == live) return;
    size_t at = 0;
    while (at < expected.size() && at < live.size() && expected[at] == live[at]) ++at;
    Differ("byte " + std::to_string(at) + " differs\n    recorded " + HexOf(expected) + "\n    answered " +
           HexOf(live));
  }

  /// Type, id, first line of the text.
  void CompareFailure(const WireStep& step, const std::string& live) {
    const auto frame = Decode(live);
    if (!frame || transport::EnumName(frame->type) != step.frame) {
      return Differ("expected " + step.frame + " '" + *step.error + "', got " + HexOf(live));
    }
    if (frame->type == transport::FrameType::kStreamFailure) {
      const int32_t size = base::BigEndian<int32_t>(std::string_view(step.bytes).substr(9));
      const std::string stream = TranslateText(step.bytes.substr(13, static_cast<size_t>(size)));
      if (stream != frame->text)
        Differ("failure of stream '" + std::string(frame->text) + "', recorded '" + stream + "'");
    } else {
      const int64_t recorded = base::BigEndian<int64_t>(std::string_view(step.bytes).substr(9));
      const bool chunk = frame->type == transport::FrameType::kChunkFetchFailure;
      if ((chunk ? LiveId(recorded) : recorded) != frame->id) Differ("failure with another id");
      if (chunk && base::BigEndian<int32_t>(std::string_view(step.bytes).substr(17)) != frame->chunk_index) {
        Differ("failure of another chunk");
      }
    }
    const std::string_view text = frame->type == transport::FrameType::kStreamFailure ? frame->error : frame->text;
    // An object's identity hash differs from run to run.
    static const std::regex kHash("@[0-9a-f]+$");
    const std::string expected = std::regex_replace(TranslateText(*step.error), kHash, "@");
    const std::string got = std::regex_replace(std::string(text.substr(0, text.find('\n'))), kHash, "@");
    if (expected != got) Differ("failure says\n    recorded " + expected + "\n    answered " + got);
  }

  // ---- connections with a handshake

  /// Pieces as read from the socket: the handshake's frames go first, then what the recorded keys decrypt.
  void RunAuthenticated(const std::vector<WireStep>& pieces) {
    std::map<int, std::string> to_server, to_client;
    std::map<int, std::unique_ptr<Keys>> keys;
    std::vector<WireStep> steps;
    std::map<int, std::string> challenge, response;  // bodies of the AuthMessages, or SASL's challenge
    for (const WireStep& piece : pieces) {
      const bool from_client = piece.kind == Kind::kToServer;
      if (!from_client && piece.kind != Kind::kToClient) {
        steps.push_back(piece);
        continue;
      }
      Keys* cipher = keys[piece.connection].get();
      WireStep clear = piece;
      if (cipher != nullptr) {
        clear.bytes.clear();
        auto& reader = from_client ? cipher->recorded_to_server : cipher->recorded_to_client;
        if (!reader->Decrypt(piece.bytes, clear.bytes).ok()) return Differ("the recording cannot be decrypted");
      }
      const size_t first = steps.size();
      AppendFrames(clear, from_client ? to_server[piece.connection] : to_client[piece.connection], steps);
      for (size_t i = first; i < steps.size() && keys[piece.connection] == nullptr; ++i) {
        const auto frame = Decode(steps[i].bytes);
        if (!frame) continue;
        if (from_client) {
          NoteClientHandshake(*frame, challenge[piece.connection], response[piece.connection]);
        } else {
          keys[piece.connection] = NoteServerHandshake(*frame, challenge[piece.connection], response[piece.connection]);
        }
      }
    }
    RunHandshakenFrames(steps, keys);
  }

  void NoteClientHandshake(const transport::Frame& frame, std::string& challenge, std::string& response) {
    if (frame.type != transport::FrameType::kRpcRequest || frame.body.empty()) return;
    if (static_cast<uint8_t>(frame.body[0]) == transport::AuthMessage::kTag) challenge = frame.body;
    if (static_cast<uint8_t>(frame.body[0]) == transport::SaslMessage::kTag) {
      const auto sasl = transport::DecodeSaslMessage(frame.body);
      if (sasl.ok() && !sasl->token.empty()) response = sasl->token;
    }
  }

  /// Keys, once the server's answer makes them known.
  std::unique_ptr<Keys> NoteServerHandshake(const transport::Frame& frame, std::string& challenge,
                                            const std::string& response) {
    if (frame.type != transport::FrameType::kRpcResponse) return nullptr;
    if (recording_.mode.starts_with("crypto")) return CryptoKeys(challenge, std::string(frame.body));
    if (frame.body.starts_with("realm=")) {
      challenge = frame.body;
      const auto fields = wire::digest_md5::ParseFields(challenge);
      if (fields) bench_.loop().WillDraw(FromBase64(fields->at("nonce")));
      return nullptr;
    }
    if (!frame.body.starts_with("rspauth=") || response.find("qop=auth-conf") == std::string::npos) return nullptr;
    const auto fields = wire::digest_md5::ParseFields(response);
    if (!fields) return nullptr;
    transport::SaslClient client(fields->at("cnonce"), recording_.secret, true);
    if (const auto again = client.Respond(challenge); !again.ok() || *again != response) {
      Differ("the recorded SASL response cannot be made again");
      return nullptr;
    }
    auto keys = std::make_unique<Keys>();
    keys->recorded_to_server = transport::MakeSealingCipher(client.sealing_keys(), true, 65536);
    keys->recorded_to_client = transport::MakeSealingCipher(client.sealing_keys(), false, 65536);
    keys->live = transport::MakeSealingCipher(client.sealing_keys(), false, 65536);
    return keys;
  }

  static std::string FromBase64(const std::string& text) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
      if (c == '=') break;
      bits = (bits << 6) | static_cast<uint32_t>(digits.find(c));
      count += 6;
      if (count >= 8) out.push_back(static_cast<char>(bits >> (count -= 8)));
    }
    return out;
  }

  /// The recorded client again, with the private key, salt and nonce it drew.
  std::unique_ptr<transport::AuthClient> RecordedClient(const std::string& challenge) {
    const auto message = transport::DecodeAuthMessage(challenge);
    const auto key = recording_.session_keys.find("clientPrivateKey");
    if (!message.ok() || key == recording_.session_keys.end() || message->ciphertext.size() < 12) return nullptr;
    transport::AuthRandom random;
    std::copy_n(key->second.begin(), 32, random.private_key.begin());
    std::copy_n(message->salt.begin(), 16, random.salt.begin());
    std::copy_n(message->ciphertext.begin(), 12, random.nonce.begin());
    return std::make_unique<transport::AuthClient>(message->app_id, recording_.secret, Version(), random);
  }

  transport::AuthVersion Version() const {
    return recording_.mode == "crypto-v1" ? transport::AuthVersion::kV1 : transport::AuthVersion::kV2;
  }
  transport::AuthCipher Cipher() const {
    return recording_.mode == "crypto-gcm" ? transport::AuthCipher::kGcm : transport::AuthCipher::kCtr;
  }
  static transport::RandomFill Zeros() {
    return [](std::span<uint8_t> bytes) { std::fill(bytes.begin(), bytes.end(), uint8_t{7}); };
  }

  std::unique_ptr<Keys> CryptoKeys(const std::string& challenge, const std::string& answer) {
    const auto client = RecordedClient(challenge);
    if (client == nullptr || client->challenge() != challenge) return nullptr;
    const auto derived = client->Finish(answer);
    if (!derived.ok()) {
      Differ("the recorded handshake cannot be opened: " + derived.error().message);
      return nullptr;
    }
    for (const auto& [name, value] : recording_.session_keys) {
      const std::string* own = name == "key" || name == "aesKey" ? &derived->key
                               : name == "inIv"                  ? &derived->input_iv
                               : name == "outIv"                 ? &derived->output_iv
                                                                 : nullptr;
      if (own != nullptr && *own != value) Differ("derived " + name + " is not the recorded one");
    }
    auto keys = std::make_unique<Keys>();
    keys->recorded_to_server = transport::MakeServerCipher(*derived, Cipher(), Zeros());
    keys->recorded_to_client = transport::MakeClientCipher(*derived, Cipher(), Zeros());
    return keys;  // `live` follows when the service under test has answered
  }

  /// As RunFrames, with the switch to encryption after the handshake.
  void RunHandshakenFrames(const std::vector<WireStep>& steps, std::map<int, std::unique_ptr<Keys>>& keys) {
    std::map<int, bool> shaken;
    std::vector<WireStep> part;
    for (const WireStep& step : steps) {
      Keys* cipher = keys[step.connection].get();
      const auto frame = step.kind == Kind::kToClient ? Decode(step.bytes) : std::nullopt;
      const bool last_of_handshake = cipher != nullptr && !shaken[step.connection] && frame &&
                                     frame->type == transport::FrameType::kRpcResponse &&
                                     !frame->body.starts_with("realm=");
      if (!last_of_handshake) {
        part.push_back(step);
        continue;
      }
      shaken[step.connection] = true;
      if (recording_.mode.starts_with("crypto")) {
        RunPart(part, steps);
        FinishCrypto(step, part, *cipher);
      } else {
        part.push_back(step);
        RunPart(part, steps);
        connections_[step.connection].keys = cipher;
      }
      part.clear();
      if (!difference_.empty()) return;
    }
    RunFrames(part);
    for (auto& [number, key] : keys) {
      if (key != nullptr) kept_keys_.push_back(std::move(key));
    }
  }

  /// Steps up to here, without the final checks.
  void RunPart(const std::vector<WireStep>& part, const std::vector<WireStep>& all) {
    for (const WireStep& step : part) {
      if (!difference_.empty()) return;
      Connection& connection = Open(step.connection, all);
      if (connection.client == nullptr) return;
      if (step.kind == Kind::kToServer) Send(connection, Translate(step.bytes));
      bench_.Settle();
      if (step.kind == Kind::kToClient) Compare(connection, step);
    }
  }

  /// The service's own answer to the recorded challenge: same shape, other random parts.
  void FinishCrypto(const WireStep& recorded, const std::vector<WireStep>& before, Keys& keys) {
    Connection& connection = connections_[recorded.connection];
    Receive(connection);
    const auto length = FrameBytes(connection.clear);
    const std::string live = connection.clear.substr(0, length.value_or(0));
    connection.clear.erase(0, live.size());
    const auto frame = Decode(live);
    const auto sent = Decode(before.back().bytes);
    if (!frame || !sent || frame->type != transport::FrameType::kRpcResponse || live.size() != recorded.bytes.size() ||
        live.substr(0, 21) != recorded.bytes.substr(0, 21)) {
      return Differ("handshake answered with " + HexOf(live) + ", recorded " + HexOf(recorded.bytes));
    }
    const auto client = RecordedClient(std::string(sent->body));
    const auto derived = client->Finish(frame->body);
    if (!derived.ok()) return Differ("the handshake's answer cannot be opened: " + derived.error().message);
    keys.live = transport::MakeClientCipher(*derived, Cipher(), Zeros());
    connection.keys = &keys;
    // Spark 3.5's GCM falls silent after its first answer; a service without that fault goes on.
    connection.prefix_is_enough = Cipher() == transport::AuthCipher::kGcm && recording_.spark.starts_with("3.");
  }

  const ShuffleRecording& recording_;
  Bench bench_;
  const size_t piece_;
  std::string name_;
  std::string difference_;
  std::map<int, Connection> connections_;
  std::map<int64_t, Stream> streams_;  // by recorded id
  std::vector<std::unique_ptr<Client>> kept_;
  std::vector<std::unique_ptr<Keys>> kept_keys_;
};

}  // namespace

std::vector<ExchangeOutcome> ReplayShuffle(const ShuffleRecording& recording, const ShuffleRecordings& all,
                                           size_t piece) {
  std::vector<ExchangeOutcome> out;
  const auto config = ConfigOf(recording);
  if (!config.ok() || recording.exchanges.empty()) {
    return {{recording.name, config.ok() ? "no exchange" : config.error().message}};
  }
  Replayer replayer(recording, all, *config, piece);
  for (const Exchange& exchange : recording.exchanges) {
    out.push_back({recording.name + "/" + exchange.name, replayer.Run(exchange)});
  }
  return out;
}

ExchangeOutcome CheckPathVectors(const ShuffleRecordings& all) {
  ExchangeOutcome out{"file-paths", ""};
  for (const std::string& line : all.path_vectors) {
    const size_t a = line.find('\t'), b = line.find('\t', a + 1), c = line.find('\t', b + 1);
    if (c == std::string::npos) {
      out.difference = "not a vector: " + line;
      continue;
    }
    std::vector<std::string> dirs(std::stoul(line.substr(0, a)));
    for (size_t i = 0; i < dirs.size(); ++i) dirs[i] = "/d" + std::to_string(i);
    const std::string path =
        wire::spark_shuffle::FilePath(dirs, std::stoi(line.substr(a + 1, b - a - 1)), line.substr(b + 1, c - b - 1));
    if (path != line.substr(c + 1)) out.difference = line + " but got " + path;
  }
  return out;
}

}  // namespace fairlead::oracle
