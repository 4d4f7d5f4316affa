#include "endpoints/shuffle/session.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "wire/spark_shuffle/passed_block.h"
#include "wire/spark_transport/java_text.h"

namespace fairlead::endpoints::shuffle {
namespace {

namespace transport = wire::spark_transport;
namespace messages = wire::spark_shuffle;

constexpr std::string_view kMergerId = "shuffle-push-merger";
constexpr const char* kUnknownStream = "java.lang.IllegalArgumentException: Unknown stream ID.";
constexpr std::string_view kNoMerge = "java.lang.UnsupportedOperationException: Cannot handle shuffle block merge";
constexpr std::string_view kUnauthenticated = "java.lang.SecurityException: Unauthenticated call to ";
/// ChunkFetchSuccess counts its body in the frame's length.
constexpr int64_t kChunkBytesMax = transport::kPayloadLimit - 14;

/// The longest frame: a request for a quarter of a million blocks.
constexpr size_t kRequestMax = 5 << 20;
constexpr size_t kAppIdMax = 1024;
/// Local directories in an answer; those of a host's executors take some hundred KiB.
constexpr size_t kAnswerMax = 4 << 20;

std::string NotRegistered(const std::string& app, const std::string& executor) {
  return "java.lang.RuntimeException: Executor is not registered (appId=" + app + ", execId=" + executor + ")";
}

/// Of the HashSet in which the release puts so many ids: 4.3 by its constructor, 3.5 by Guava 14's Sets.newHashSet.
size_t SetCapacity(AnswerAs answer_as, size_t count) {
  const bool by_guava = answer_as == AnswerAs::kSpark35;
  const size_t guava_wants = count < 3 ? count + 1 : count + count / 3;
  size_t capacity = by_guava ? 1 : 16;
  while (by_guava ? capacity < guava_wants : capacity * 3 < count * 4) capacity *= 2;
  return capacity;
}

messages::Dialect DialectOf(AnswerAs answer_as) {
  return answer_as == AnswerAs::kSpark35 ? messages::Dialect::kSpark35 : messages::Dialect::kSpark43;
}

}  // namespace

Session::Session(uint64_t id, const SessionConfig& config, StreamTable& streams, SessionCounters& counters,
                 SessionHost& host)
    : id_(id),
      config_(config),
      streams_(streams),
      counters_(counters),
      host_(host),
      reader_(std::min(config.request_bytes_max, kRequestMax)),
      authenticated_(!config.security.authenticate) {}

void Session::Close() {
  if (closed_) return;
  closed_ = true;
  if (std::exchange(pushing_, false)) {
    part_.cut = true;
    host_.Push(std::move(part_));
  }
  for (const int64_t stream_id : own_streams_) streams_.Remove(stream_id);
  own_streams_.clear();
}

void Session::OnBytes(std::string_view bytes) {
  if (closed_) return;
  if (cipher_) {
    decrypted_.clear();
    if (!cipher_->Decrypt(bytes, decrypted_).ok()) return Refuse();
    bytes = decrypted_;
  }
  reader_.Feed(bytes);
  Pump();
}

void Session::Resume() {
  if (held_) Pump();
}

/// Reads requests until there are no more, one waits for its answer, or enough is queued.
void Session::Pump() {
  using Outcome = transport::FrameReader::Outcome;
  if (pumping_) return;
  pumping_ = true;
  held_ = false;
  while (!closed_) {
    if (waiting_ != Waiting::kNothing || host_.Full()) {
      reader_.Hold();
      held_ = true;
      break;
    }
    const Outcome outcome = reader_.Next();
    if (outcome == Outcome::kNeedMore) break;
    if (outcome == Outcome::kFrame) {
      ++frames_taken_;
      OnFrame(reader_.frame());
    } else if (outcome == Outcome::kRaw) {
      OnPushedBytes();
    } else if (outcome == Outcome::kError) {
      Refuse();
    }
  }
  if (pushing_) SendPushPart();
  pumping_ = false;
}

/// Not a client of this protocol: ends the connection without a word, as Spark's does.
void Session::Refuse() {
  ++counters_.refused_frames;
  Close();
  host_.CloseAfterFlush();
}

void Session::OnFrame(const Frame& frame) {
  using transport::FrameType;
  switch (frame.type) {
    case FrameType::kChunkFetchRequest:
      return OnChunk(frame.id, frame.chunk_index);
    case FrameType::kStreamRequest:
      return OnStream(frame.text);
    case FrameType::kRpcRequest:
      return OnRpc(frame.id, frame.body);
    case FrameType::kUploadStream:
      return OnUpload(frame);
    case FrameType::kMergedBlockMetaRequest:
      return OnMergedMeta(frame);
    case FrameType::kOneWayMessage:
      request_id_.reset();
      if (authenticated_) OnMessage(frame.body);
      return;
    case FrameType::kChunkFetchSuccess:
    case FrameType::kChunkFetchFailure:
    case FrameType::kRpcResponse:
    case FrameType::kRpcFailure:
    case FrameType::kStreamResponse:
    case FrameType::kStreamFailure:
    case FrameType::kMergedBlockMetaSuccess:
      reader_.IgnoreFollowing();  // an answer to nothing
      return;
  }
}

// ---- requests ------------------------------------------------------------------------------------------------------

void Session::OnRpc(int64_t request_id, std::string_view body) {
  request_id_ = request_id;
  if (!authenticated_) return OnHandshake(body);
  OnMessage(body);
}

/// A message is handled alike whether it is to be answered or, without a request id, not.
void Session::OnMessage(std::string_view body) {
  auto message = messages::DecodeMessage(body, DialectOf(config_.answer_as));
  if (message.ok()) return Dispatch(*std::move(message));
  if (message.error().code == static_cast<int>(messages::DecodeError::kOutOfMemory)) return Refuse();
  Fail(message.error().message);
}

void Session::OnUpload(const Frame& frame) {
  request_id_ = frame.id;
  if (!authenticated_) {
    Fail(std::string(kUnauthenticated) + "receiveStream().");
    return Refuse();
  }
  const auto message = messages::DecodeMessage(frame.body, DialectOf(config_.answer_as));
  if (!message.ok()) {
    const bool without_a_word = message.error().code == static_cast<int>(messages::DecodeError::kOutOfMemory);
    if (!without_a_word) Fail(message.error().message);
  } else if (const auto* push = std::get_if<messages::PushBlockStream>(&*message)) {
    if (MayUse(push->app_id)) {
      ++counters_.push_requests;
      if (host_.Merges()) return BeginPush(frame, *push);
      Fail(kNoMerge);
    }
  } else {
    Fail("java.lang.UnsupportedOperationException: Unexpected message with #receiveStream: " +
         messages::ToJavaString(*message, DialectOf(config_.answer_as)));
  }
  Refuse();
}

/// Requests behind it are read on: a client has many small blocks on their way.
void Session::BeginPush(const Frame& frame, messages::PushBlockStream push) {
  ++pushes_;
  pusher_ = true;
  pushing_ = true;
  part_ = {frame.id, std::move(push), {}, false, false};
  if (frame.following_bytes <= 0) OnPushedBytes();
}

/// The next bytes of a pushed block; of anything else nobody wants them.
void Session::OnPushedBytes() {
  if (!pushing_) return;
  if (reader_.frame().following_bytes > 0) part_.bytes.append(reader_.raw());
  if (reader_.raw_left() > 0) return;
  part_.end = true;
  pushing_ = false;
  SendPushPart();
}

void Session::SendPushPart() {
  const int64_t request = part_.request;
  if (!part_.begin && part_.bytes.empty() && !part_.end) return;
  host_.Push(std::exchange(part_, PushPart{request, {}, {}, false, false}));
}

void Session::FinishPush(int64_t request, const PushReply& reply) {
  if (closed_) return;
  FL_CHECK(pushes_ > 0, "an answer to a push that does not wait");
  --pushes_;
  if (!reply.failure.empty()) {
    ++counters_.rpc_failures;
    transport::AppendRpcFailure(host_.Output(), request, reply.failure);
  } else {
    transport::AppendRpcResponse(host_.Output(), request,
                                 messages::EncodeMessage(messages::BlockPushReturnCode{reply.code, reply.block_id}));
  }
  if (!reply.closes) return;
  Close();
  host_.CloseAfterFlush();
}

void Session::OnMergedMeta(const Frame& frame) {
  request_id_ = frame.id;
  ++counters_.merged_meta_requests;
  if (!authenticated_) return Fail(std::string(kUnauthenticated) + "receiveMergeBlockMetaReq().");
  const std::string app(transport::JavaText(frame.text));
  if (app.size() > kAppIdMax)
    return Fail("java.lang.IllegalArgumentException: an appId of " + std::to_string(app.size()) + " bytes");
  if (!MayUse(app)) return;
  if (!host_.Merges()) return Fail(kNoMerge);
  waiting_ = Waiting::kRpc;
  host_.FindMergedMeta(app, frame.shuffle_id, frame.shuffle_merge_id, frame.reduce_id);
}

void Session::FinishMergedMeta(base::Result<MergedMeta> meta) {
  if (closed_) return;
  FL_CHECK(waiting_ == Waiting::kRpc, "an answer to an RPC that does not wait");
  waiting_ = Waiting::kNothing;
  if (meta.ok() && request_id_) {
    transport::AppendMergedBlockMetaSuccess(host_.Output(), *request_id_, meta->num_chunks, meta->bitmaps);
  } else if (!meta.ok()) {
    Fail(meta.error().message);
  }
  Pump();
}

void Session::FinishQuietly(const base::Status& status) {
  if (closed_) return;
  FL_CHECK(waiting_ == Waiting::kRpc, "an answer to an RPC that does not wait");
  waiting_ = Waiting::kNothing;
  if (!status.ok()) Fail(status.error().message);
  Pump();
}

void Session::Dispatch(messages::Message message) {
  std::visit(
      [&](auto& m) {
        if constexpr (requires { this->Handle(m); }) {
          Handle(m);
        } else {
          Fail("java.lang.UnsupportedOperationException: Unexpected message: " +
               messages::ToJavaString(message, DialectOf(config_.answer_as)));
        }
      },
      message);
}

/// checkAuth of ExternalBlockHandler; answers when it fails.
bool Session::MayUse(const std::string& app) {
  if (!app_known_) {
    app_known_ = true;
    app_ = app;
    host_.BelongsTo(app_);
  }
  if (!client_id_ || *client_id_ == app) return true;
  Fail("java.lang.SecurityException: Client for " + *client_id_ + " not authorized for application " + app + ".");
  return false;
}

void Session::Handle(messages::OpenBlocks& m) {
  ++counters_.open_block_requests;
  if (!MayUse(m.app_id)) return;
  auto stream = BlockStream::Parse(m);
  if (!stream.ok()) return Fail(stream.error().message);
  AddStream(*std::move(stream));
}

void Session::Handle(messages::FetchShuffleBlocks& m) {
  ++counters_.open_block_requests;
  if (MayUse(m.app_id)) AddStream(BlockStream(std::move(m)));
}

void Session::Handle(messages::FetchShuffleBlockChunks& m) {
  ++counters_.open_block_requests;
  if (MayUse(m.app_id)) AddStream(BlockStream(std::move(m)));
}

void Session::AddStream(BlockStream stream) {
  const int32_t num_chunks = stream.num_chunks();
  stream.owner = id_;
  const auto stream_id = streams_.Add(std::move(stream));
  if (!stream_id) return Fail("java.lang.IllegalStateException: too many open streams");
  if (own_streams_.size() >= 64 && own_streams_.size() == own_streams_.capacity()) {
    std::erase_if(own_streams_, [&](int64_t id) { return streams_.Find(id) == nullptr; });
  }
  own_streams_.push_back(*stream_id);
  Succeed(messages::EncodeMessage(messages::StreamHandle{*stream_id, num_chunks}));
}

void Session::Handle(messages::RegisterExecutor& m) {
  ++counters_.register_requests;
  if (!MayUse(m.app_id)) return;
  waiting_ = Waiting::kRpc;
  host_.RegisterExecutor(std::move(m));
}

void Session::Handle(messages::RemoveBlocks& m) {
  ++counters_.remove_requests;
  if (!MayUse(m.app_id)) return;
  const model::shuffle::Executor* executor = host_.FindExecutor(m.app_id, m.exec_id);
  if (executor == nullptr) return Fail(NotRegistered(m.app_id, m.exec_id));
  // Java divides by both to find the first file.
  const bool nowhere = executor->dirs.empty() || executor->sub_dirs_per_local_dir == 0;
  if (nowhere && !m.block_ids.empty()) return Fail("java.lang.ArithmeticException: / by zero");
  waiting_ = Waiting::kRpc;
  host_.RemoveBlocks(*executor, std::move(m.block_ids));
}

void Session::Handle(messages::GetLocalDirsForExecutors& m) {
  ++counters_.local_dirs_requests;
  if (!MayUse(m.app_id)) return;
  if (config_.answer_as == AnswerAs::kSpark43) {  // Set.of
    std::set<std::string_view> seen;
    for (const std::string& id : m.exec_ids) {
      if (!seen.insert(id).second) return Fail("java.lang.IllegalArgumentException: duplicate element: " + id);
    }
  }
  // A HashSet of the ids fills a HashMap, whose order the answer has.
  std::vector<std::string> wanted = JavaHashOrder(m.exec_ids, SetCapacity(config_.answer_as, m.exec_ids.size()));
  const bool merged = std::erase(wanted, kMergerId) > 0;
  for (const std::string& executor : wanted) {
    if (host_.FindExecutor(m.app_id, executor) == nullptr) return Fail(NotRegistered(m.app_id, executor));
  }
  if (merged && !host_.Merges()) return Fail(kNoMerge);
  if (merged && host_.FindMergeDirs(m.app_id) == nullptr) {
    return Fail("java.lang.IllegalArgumentException: application " + m.app_id +
                " is not registered or NM was restarted.");
  }
  messages::LocalDirsForExecutors reply;
  size_t bytes = 0;
  reply.exec_ids = JavaHashOrder(wanted, 16);
  if (merged) {  // put into the map behind them
    reply.exec_ids.emplace_back(kMergerId);
    reply.exec_ids = JavaHashOrder(reply.exec_ids, 16);
  }
  for (const std::string& id : reply.exec_ids) {
    const model::shuffle::Executor* executor =
        id == kMergerId ? host_.FindMergeDirs(m.app_id) : host_.FindExecutor(m.app_id, id);
    const auto& dirs = executor->dirs;
    reply.num_dirs_by_exec.push_back(static_cast<int32_t>(dirs.size()));
    for (const auto& dir : dirs) {
      bytes += sizeof dir.path + dir.path.size();
      if (bytes > kAnswerMax)
        return Fail("java.lang.IllegalArgumentException: local directories of too many executors");
      reply.all_dirs.push_back(dir.path);
    }
  }
  Succeed(messages::EncodeMessage(reply));
}

void Session::Handle(messages::DiagnoseCorruption& m) {
  ++counters_.diagnose_requests;
  if (!MayUse(m.app_id)) return;
  const model::shuffle::Executor* executor = host_.FindExecutor(m.app_id, m.exec_id);
  if (executor == nullptr) {
    return Fail("java.lang.NullPointerException: Cannot read field \"localDirs\" because \"executor\" is null");
  }
  waiting_ = Waiting::kRpc;
  host_.Diagnose(*executor, m);
}

void Session::Handle(messages::FinalizeShuffleMerge& m) {
  ++counters_.finalize_requests;
  if (!MayUse(m.app_id)) return;
  if (!host_.Merges()) return Fail(kNoMerge);
  waiting_ = Waiting::kRpc;
  host_.FinalizeMerge(std::move(m));
}

void Session::Handle(messages::RemoveShuffleMerge& m) {
  if (!MayUse(m.app_id)) return;
  if (!host_.Merges()) return Fail("java.lang.UnsupportedOperationException: Cannot handle merged shuffle remove");
  waiting_ = Waiting::kRpc;
  host_.RemoveMerge(std::move(m));
}

void Session::Succeed(std::string_view body) {
  if (request_id_) transport::AppendRpcResponse(host_.Output(), *request_id_, body);
}

void Session::Fail(std::string_view error) {
  if (!request_id_) return;
  ++counters_.rpc_failures;
  transport::AppendRpcFailure(host_.Output(), *request_id_, error);
}

void Session::FinishRpc(base::Result<std::string> body) {
  if (closed_) return;
  FL_CHECK(waiting_ == Waiting::kRpc, "an answer to an RPC that does not wait");
  waiting_ = Waiting::kNothing;
  if (body.ok()) {
    Succeed(*body);
  } else {
    Fail(body.error().message);
  }
  Pump();
}

// ---- blocks --------------------------------------------------------------------------------------------------------

void Session::OnChunk(int64_t stream_id, int32_t chunk_index) {
  asked_as_stream_ = false;
  ServeBlock(stream_id, chunk_index);
}

/// "<stream>_<chunk>", as parsed by OneForOneStreamManager.parseStreamChunkId.
void Session::OnStream(std::string_view text) {
  asked_as_stream_ = true;
  stream_text_ = transport::JavaText(text);
  const auto parts = JavaSplit(stream_text_);
  if (parts.empty()) return FailBlock(ArrayIndexError(0, 0).message);
  const auto stream_id = JavaParseLong(parts[0]);
  if (!stream_id.ok()) return FailBlock(stream_id.error().message);
  if (parts.size() < 2) return FailBlock(ArrayIndexError(1, 1).message);
  const auto chunk_index = JavaParseInt(parts[1]);
  if (!chunk_index.ok()) return FailBlock(chunk_index.error().message);
  ServeBlock(*stream_id, *chunk_index);
}

/// A stream of another application or connection.
std::string Session::NotYours(const std::string& app) const {
  const std::string stream = std::to_string(stream_id_);
  if (client_id_ && *client_id_ != app) {
    return "java.lang.SecurityException: Client " + *client_id_ + " not authorized to read stream " + stream +
           " (app " + app + ").";
  }
  return "java.lang.SecurityException: Channel not authorized to read stream " + stream +
         ": streams may only be read from the connection that registered them.";
}

/// A stream that this thread does not know. In 4.3's way another one may, which is said in other words.
void Session::MissStream() {
  if (config_.answer_as == AnswerAs::kSpark43) {
    waiting_ = Waiting::kBlock;
    return host_.FindStream(stream_id_);
  }
  if (client_id_) return FailBlock(kUnknownStream);
  FailBlock("java.lang.IllegalStateException: Requested chunk not available since streamId " +
            std::to_string(stream_id_) + " is closed");
}

/// checkAuthorization and the first half of getChunk, of the block being served.
base::Status Session::CheckStream(const BlockStream& stream) const {
  const bool of_others = client_id_ && *client_id_ != stream.app();
  const bool elsewhere = config_.answer_as == AnswerAs::kSpark43 && stream.owner != id_;
  if (of_others || elsewhere) return base::Error{NotYours(stream.app())};
  if (chunk_index_ != stream.next_chunk) {
    return base::Error{"java.lang.IllegalStateException: Received out-of-order chunk index " +
                       std::to_string(chunk_index_) + " (expected " + std::to_string(stream.next_chunk) + ")"};
  }
  const auto more = stream.HasNext();
  if (!more.ok()) return more.error();
  if (!*more) {
    return base::Error{"java.lang.IllegalStateException: Requested chunk index beyond end " +
                       std::to_string(chunk_index_)};
  }
  return {};
}

void Session::ServeBlock(int64_t stream_id, int32_t chunk_index) {
  stream_id_ = stream_id;
  chunk_index_ = chunk_index;
  BlockStream* const found = streams_.Find(stream_id);
  if (found == nullptr) return MissStream();
  BlockStream& stream = *found;
  if (const base::Status checked = CheckStream(stream); !checked.ok()) return FailBlock(checked.error().message);
  ++stream.next_chunk;
  const auto block = stream.Peek();
  if (!block.ok()) return FailBlock(block.error().message);
  if (block->kind == BlockRef::Kind::kMerged) {
    if (!host_.Merges()) return FailBlock(kNoMerge);
    ++counters_.merged_chunks;
  }
  BlockResult result = host_.OpenBlock(stream, *block);
  if (result.kind == BlockResult::Kind::kLater) {
    waiting_ = Waiting::kBlock;
    return;
  }
  SendBlock(std::move(result));
}

void Session::FinishBlock(BlockResult result) {
  if (closed_) return;
  FL_CHECK(waiting_ == Waiting::kBlock, "a block that was not waited for");
  waiting_ = Waiting::kNothing;
  SendBlock(std::move(result));
  Pump();
}

void Session::FinishStream(const std::optional<std::string>& app) {
  BlockResult refused;
  refused.error = app ? NotYours(*app) : kUnknownStream;
  FinishBlock(std::move(refused));
}

void Session::SendBlock(BlockResult result) {
  if (result.kind == BlockResult::Kind::kFailed) return FailBlock(result.error);
  BlockStream* stream = streams_.Find(stream_id_);
  if (stream != nullptr) {
    stream->Advance();
    const auto more = stream->HasNext();
    // Spark finds lists of different lengths here, after it has found the block.
    if (!more.ok()) return FailBlock(more.error().message);
    if (!*more) streams_.Remove(stream_id_);
  }
  if (result.kind == BlockResult::Kind::kMissing) {
    return FailBlock(!asked_as_stream_ ? std::string("java.lang.IllegalStateException: Chunk was not found")
                                       : "Stream '" + stream_text_ + "' was not found.");
  }
  // Netty's DefaultFileRegion; the encoder answers with the bare message.
  if (result.offset < 0) return FailBlock("position : " + std::to_string(result.offset) + " (expected: >= 0)");
  if (result.length < 0) return FailBlock("count : " + std::to_string(result.length) + " (expected: >= 0)");
  if (MayPass(result)) return PassBlock(std::move(result));
  if (asked_as_stream_) {
    transport::AppendStreamResponse(host_.Output(), stream_text_, result.length);
  } else {
    const int64_t mark = host_.IsLocal() ? 1 : 0;
    if (result.length + mark > kChunkBytesMax) {
      return FailBlock("java.lang.IllegalArgumentException: Too large frame: " + std::to_string(result.length) +
                       "; ask for it as a stream (spark.network.maxRemoteBlockSizeFetchToMem)");
    }
    transport::AppendChunkFetchSuccessHeader(host_.Output(), stream_id_, chunk_index_, result.length + mark);
    if (mark > 0) host_.Output().push_back(messages::kPassedAsBytes);
  }
  ++counters_.blocks;
  counters_.block_bytes += static_cast<uint64_t>(result.available);
  if (result.available > 0) host_.SendFile(std::move(result.file), result.offset, result.available);
  if (result.available < result.length) {
    ++counters_.block_failures;
    Close();
    host_.CloseAfterFlush();
  }
}

/// A long block that is whole goes to a reader of this host as an open file.
bool Session::MayPass(const BlockResult& result) const {
  return host_.IsLocal() && !asked_as_stream_ && result.length >= messages::kPassedFileMin &&
         result.available == result.length && host_.MayPassFile();
}

void Session::PassBlock(BlockResult result) {
  const std::string body = messages::EncodePassedFile(result.offset, result.length);
  transport::AppendChunkFetchSuccessHeader(host_.Output(), stream_id_, chunk_index_, static_cast<int64_t>(body.size()));
  host_.Output().append(body);
  ++counters_.blocks;
  ++counters_.files_passed;
  counters_.block_bytes += static_cast<uint64_t>(result.length);
  host_.PassFile(std::move(result.file));
}

void Session::FailBlock(std::string_view error) {
  ++counters_.block_failures;
  if (!asked_as_stream_) {
    transport::AppendChunkFetchFailure(host_.Output(), stream_id_, chunk_index_, error);
  } else {
    transport::AppendStreamFailure(host_.Output(), stream_text_, error);
  }
}

// ---- handshakes ----------------------------------------------------------------------------------------------------

/// AuthRpcHandler, with SaslRpcHandler behind it.
void Session::OnHandshake(std::string_view body) {
  const SecurityConfig& security = config_.security;
  const bool is_auth_message = !body.empty() && static_cast<uint8_t>(body[0]) == transport::AuthMessage::kTag;
  if (!security.crypto || sasl_) return OnSasl(body);
  if (!is_auth_message) {
    if (security.sasl_fallback) return OnSasl(body);
    ++counters_.auth_failures;
    Fail("java.lang.IllegalArgumentException: Unknown challenge message.");
    return Refuse();
  }
  const auto challenge = transport::DecodeAuthMessage(body);
  const auto secret = challenge.ok() ? host_.SecretOf(challenge->app_id) : std::nullopt;
  transport::AuthRandom random;
  host_.RandomBytes(random.private_key);
  host_.RandomBytes(random.salt);
  host_.RandomBytes(random.nonce);
  auto answer = secret ? transport::AnswerAuthChallenge(body, *secret, security.version, random)
                       : base::Result<transport::AuthAnswer>(base::Error{"no secret"});
  if (!answer.ok()) {
    ++counters_.auth_failures;
    Fail("java.lang.IllegalArgumentException: Authentication failed.");
    return Refuse();
  }
  Succeed(answer->response);
  cipher_ = transport::MakeServerCipher(answer->keys, security.cipher,
                                        [this](std::span<uint8_t> bytes) { host_.RandomBytes(bytes); });
  host_.EncryptFromHere(cipher_.get());
  Authenticated(challenge->app_id);
}

void Session::OnSasl(std::string_view body) {
  const SecurityConfig& security = config_.security;
  const auto message = transport::DecodeSaslMessage(body);
  if (!message.ok()) return Fail(message.error().message);
  if (!sasl_) {
    std::string nonce(transport::kSaslNonceBytes, '\0');
    host_.RandomBytes({reinterpret_cast<uint8_t*>(nonce.data()), nonce.size()});
    sasl_app_ = message->app_id;
    sasl_ = std::make_unique<transport::SaslServer>(transport::Base64(nonce), host_.SecretOf(sasl_app_).value_or(""),
                                                    security.always_encrypt);
  }
  const auto token = sasl_->Respond(message->token);
  if (!token.ok()) {
    ++counters_.auth_failures;
    return Fail(token.error().message);
  }
  Succeed(*token);
  if (!sasl_->complete()) return;
  if (sasl_->sealed()) {
    cipher_ = transport::MakeSealingCipher(sasl_->sealing_keys(), true, security.sasl_block_max);
    host_.EncryptFromHere(cipher_.get());
  }
  Authenticated(sasl_app_);
}

/// What came in the clear behind the handshake, nobody vouches for: a recorded handshake can be sent again.
void Session::Authenticated(std::string app) {
  if (cipher_ && !reader_.at_end()) return Refuse();
  ++counters_.auth_successes;
  authenticated_ = true;
  client_id_ = app;
  app_known_ = true;
  app_ = std::move(app);
  host_.BelongsTo(app_);
  sasl_.reset();
}

}  // namespace fairlead::endpoints::shuffle
