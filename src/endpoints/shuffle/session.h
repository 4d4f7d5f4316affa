#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "endpoints/shuffle/streams.h"
#include "model/shuffle.h"
#include "wire/spark_shuffle/messages.h"
#include "wire/spark_transport/auth.h"
#include "wire/spark_transport/frames.h"
#include "wire/spark_transport/sasl.h"

// One connection of a client of the shuffle service: bytes in; answers, file ranges and questions to the host out.

namespace fairlead::endpoints::shuffle {

/// Which release's answers to give where they differ. Never widens what may be read or removed.
enum class AnswerAs : uint8_t { kSpark35, kSpark43 };

struct SecurityConfig {
  bool authenticate = false;  // spark.authenticate
  bool crypto = false;        // spark.network.crypto.enabled
  wire::spark_transport::AuthVersion version = wire::spark_transport::AuthVersion::kV1;
  wire::spark_transport::AuthCipher cipher = wire::spark_transport::AuthCipher::kCtr;
  bool sasl_fallback = true;          // spark.network.crypto.saslFallback
  bool always_encrypt = false;        // spark.network.sasl.serverAlwaysEncrypt
  size_t sasl_block_max = 64 * 1024;  // spark.network.sasl.maxEncryptedBlockSize
};

struct SessionConfig {
  AnswerAs answer_as = AnswerAs::kSpark43;
  SecurityConfig security;
  /// A request longer than this ends its connection.
  size_t request_bytes_max = 32 << 20;
};

/// What happened, for metrics. One per I/O thread.
struct SessionCounters {
  uint64_t open_block_requests = 0;
  uint64_t register_requests = 0;
  uint64_t remove_requests = 0;
  uint64_t local_dirs_requests = 0;
  uint64_t diagnose_requests = 0;
  uint64_t blocks = 0;
  uint64_t block_bytes = 0;
  uint64_t block_failures = 0;
  uint64_t rpc_failures = 0;
  uint64_t refused_frames = 0;
  uint64_t auth_successes = 0;
  uint64_t auth_failures = 0;
  uint64_t files_passed = 0;
  uint64_t push_requests = 0;
  uint64_t finalize_requests = 0;
  uint64_t merged_meta_requests = 0;
  uint64_t merged_chunks = 0;
};

/// An open file, whatever it is to the host.
class BlockFile {
 public:
  virtual ~BlockFile() = default;
};

/// Where a block's bytes are, or why there are none.
struct BlockResult {
  enum class Kind : uint8_t {
    kBytes,    // `length` bytes of `file` from `offset`
    kMissing,  // Spark's null buffer
    kFailed,   // `error`: first line of Spark's exception, more lines for people
    kLater,    // Session::FinishBlock will be called
  };
  Kind kind = Kind::kFailed;
  std::shared_ptr<BlockFile> file;
  int64_t offset = 0;
  int64_t length = 0;
  /// What the file really holds of it; with less than `length` the connection ends after them, as Spark's does.
  int64_t available = 0;
  std::string error;
};

/// A part of a pushed block, in the order of its bytes; a small block is one part.
struct PushPart {
  int64_t request = 0;
  std::optional<wire::spark_shuffle::PushBlockStream> begin;  // of the first part
  std::string bytes;
  bool end = false;  // the block is whole
  bool cut = false;  // the rest is not coming
};

/// The answer to a push: a BlockPushReturnCode, or a failure.
struct PushReply {
  uint8_t code = 0;
  std::string block_id;  // with a code besides success
  std::string failure;
  bool closes = false;
};

/// Which maps' blocks a merged partition's chunks have, as its meta file says.
struct MergedMeta {
  int32_t num_chunks = 0;
  std::string bitmaps;
};

/// What a session needs of the process that holds it. Questions without an answer in the call are answered by
/// Session::FinishRpc, FinishBlock or FinishStream, in a later turn.
class SessionHost {
 public:
  virtual ~SessionHost() = default;

  // ---- towards the client, in this order on the wire
  /// Bytes to be sent are appended here.
  virtual std::string& Output() = 0;
  virtual void SendFile(std::shared_ptr<BlockFile> file, int64_t offset, int64_t length) = 0;
  /// A local socket, on which a chunk is a wire::spark_shuffle::PassedBlock.
  virtual bool IsLocal() const { return false; }
  /// Whether the client may be given an open file now; else it gets bytes.
  virtual bool MayPassFile() const { return false; }
  /// Sends what Output() holds, and the open file with it.
  virtual void PassFile(std::shared_ptr<BlockFile>) {}
  /// What is sent after this call goes through the cipher, which lives as long as the session.
  virtual void EncryptFromHere(wire::spark_transport::ChannelCipher* cipher) = 0;
  virtual void CloseAfterFlush() = 0;
  /// Enough is queued: the session stops reading requests until Session::Resume().
  virtual bool Full() const = 0;

  // ---- questions
  virtual BlockResult OpenBlock(BlockStream& stream, const BlockRef& block) = 0;
  /// Whose stream it is that this session's StreamTable does not know; answered by FinishStream.
  virtual void FindStream(int64_t stream_id) = 0;
  virtual const model::shuffle::Executor* FindExecutor(std::string_view app, std::string_view executor) = 0;
  /// Answered by FinishRpc with an empty body once stored.
  virtual void RegisterExecutor(wire::spark_shuffle::RegisterExecutor request) = 0;
  /// Answered by FinishRpc with BlocksRemoved.
  virtual void RemoveBlocks(const model::shuffle::Executor& executor, std::vector<std::string> files) = 0;
  /// Answered by FinishRpc with CorruptionCause.
  virtual void Diagnose(const model::shuffle::Executor& executor,
                        const wire::spark_shuffle::DiagnoseCorruption& request) = 0;
  // ---- merges; a host that does not merge is asked no more than Merges()
  virtual bool Merges() const { return false; }
  /// Answered by FinishPush, in any order.
  virtual void Push(PushPart) {}
  /// Where the application's merged files lie; nullptr: it did not register that.
  virtual const model::shuffle::Executor* FindMergeDirs(std::string_view) { return nullptr; }
  /// Answered by FinishMergedMeta.
  virtual void FindMergedMeta(const std::string& /*app*/, int32_t /*shuffle_id*/, int32_t /*merge_id*/,
                              int32_t /*reduce_id*/) {}
  /// Answered by FinishRpc with MergeStatuses.
  virtual void FinalizeMerge(wire::spark_shuffle::FinalizeShuffleMerge) {}
  /// Answered by FinishQuietly.
  virtual void RemoveMerge(wire::spark_shuffle::RemoveShuffleMerge) {}

  /// The application's secret; nullopt: it has none.
  virtual std::optional<std::string> SecretOf(std::string_view app) = 0;
  virtual void RandomBytes(std::span<uint8_t> bytes) = 0;
  /// The session now knows whose it is: the application of its first request.
  virtual void BelongsTo(const std::string& app) = 0;
};

/// State machine of one connection; requests are handled one after another. Memory: an incomplete request, and what it
/// opened in the StreamTable. Close() or the destructor drops its streams.
class Session {
 public:
  Session(uint64_t id, const SessionConfig& config, StreamTable& streams, SessionCounters& counters, SessionHost& host);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { Close(); }

  /// The next bytes from the client. Must not be called while WantsMore() is false.
  void OnBytes(std::string_view bytes);
  /// Goes on with held requests, after Full() became false.
  void Resume();
  /// False: requests are held; reading from the client should pause.
  bool WantsMore() const { return !held_; }
  /// True: it holds requests only because the host was full; Resume() when it is not.
  bool CanResume() const { return held_ && waiting_ == Waiting::kNothing && !closed_; }
  /// Answers the waiting RPC: the response's body, or the first line of the failure.
  void FinishRpc(base::Result<std::string> body);
  void FinishBlock(BlockResult result);
  void FinishMergedMeta(base::Result<MergedMeta> meta);
  /// The waiting RPC has no answer but a failure.
  void FinishQuietly(const base::Status& status);
  void FinishPush(int64_t request, const PushReply& reply);
  /// Pushes whose answers are to come.
  size_t pushes() const { return pushes_; }
  /// It has pushed something.
  bool pusher() const { return pusher_; }
  /// Answers FindStream: nullopt where nobody knows the stream.
  void FinishStream(const std::optional<std::string>& app);
  /// The connection is gone.
  void Close();
  bool closed() const { return closed_; }
  /// Requests that were whole, from the first.
  uint64_t frames_taken() const { return frames_taken_; }
  /// Bytes of one that is not, and the memory that they take.
  size_t buffered_bytes() const { return reader_.buffered_bytes(); }
  size_t held_bytes() const { return reader_.held_bytes(); }
  bool authenticated() const { return authenticated_; }
  const std::string& app() const { return app_; }

 private:
  using Frame = wire::spark_transport::Frame;
  enum class Waiting : uint8_t { kNothing, kRpc, kBlock };

  void Pump();
  void OnFrame(const Frame& frame);
  void Refuse();

  // ---- requests
  void OnRpc(int64_t request_id, std::string_view body);
  void OnMessage(std::string_view body);
  void OnUpload(const Frame& frame);
  void OnMergedMeta(const Frame& frame);
  void Dispatch(wire::spark_shuffle::Message message);
  void Handle(wire::spark_shuffle::OpenBlocks& m);
  void Handle(wire::spark_shuffle::FetchShuffleBlocks& m);
  void Handle(wire::spark_shuffle::FetchShuffleBlockChunks& m);
  void Handle(wire::spark_shuffle::RegisterExecutor& m);
  void Handle(wire::spark_shuffle::RemoveBlocks& m);
  void Handle(wire::spark_shuffle::GetLocalDirsForExecutors& m);
  void Handle(wire::spark_shuffle::DiagnoseCorruption& m);
  void Handle(wire::spark_shuffle::FinalizeShuffleMerge& m);
  void Handle(wire::spark_shuffle::RemoveShuffleMerge& m);
  void BeginPush(const Frame& frame, wire::spark_shuffle::PushBlockStream push);
  void OnPushedBytes();
  void SendPushPart();
  void AddStream(BlockStream stream);
  bool MayUse(const std::string& app);
  void Succeed(std::string_view body);
  void Fail(std::string_view error);

  // ---- blocks
  void OnChunk(int64_t stream_id, int32_t chunk_index);
  void OnStream(std::string_view text);
  void ServeBlock(int64_t stream_id, int32_t chunk_index);
  std::string NotYours(const std::string& app) const;
  void MissStream();
  base::Status CheckStream(const BlockStream& stream) const;
  void SendBlock(BlockResult result);
  bool MayPass(const BlockResult& result) const;
  void PassBlock(BlockResult result);
  void FailBlock(std::string_view error);

  // ---- handshakes
  void OnHandshake(std::string_view body);
  void OnSasl(std::string_view body);
  void Authenticated(std::string app);

  const uint64_t id_;
  const SessionConfig& config_;
  StreamTable& streams_;
  SessionCounters& counters_;
  SessionHost& host_;
  wire::spark_transport::FrameReader reader_;
  bool held_ = false;
  bool closed_ = false;
  bool pumping_ = false;
  uint64_t frames_taken_ = 0;
  Waiting waiting_ = Waiting::kNothing;
  std::optional<int64_t> request_id_;  // of the RPC being answered; none: nobody waits for the answer
  int64_t stream_id_ = 0;              // of the block being served
  int32_t chunk_index_ = 0;            // of the block being served
  bool asked_as_stream_ = false;       // by StreamRequest, with this id:
  std::string stream_text_;
  std::vector<int64_t> own_streams_;
  PushPart part_;         // not yet given to the host
  bool pushing_ = false;  // a pushed block is coming
  bool pusher_ = false;
  size_t pushes_ = 0;

  bool authenticated_;
  std::string app_;  // of the first request
  bool app_known_ = false;
  std::optional<std::string> client_id_;  // authenticated as
  std::unique_ptr<wire::spark_transport::SaslServer> sasl_;
  std::string sasl_app_;
  std::unique_ptr<wire::spark_transport::ChannelCipher> cipher_;
  std::string decrypted_;
};

}  // namespace fairlead::endpoints::shuffle
