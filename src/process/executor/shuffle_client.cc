#include "process/executor/shuffle_client.h"

#include <algorithm>
#include <deque>

#include "env/alive.h"
#include "env/timer.h"
#include "wire/spark_shuffle/messages.h"
#include "wire/spark_shuffle/passed_block.h"
#include "wire/spark_transport/frames.h"
#include "wire/spark_transport/handshake.h"

namespace fairlead::process::executor {

namespace st = wire::spark_transport;
namespace ss = wire::spark_shuffle;

namespace {

/// Who serves merged blocks, as BlockManagerId.SHUFFLE_MERGER_IDENTIFIER names it.
constexpr const char* kMerger = "shuffle-push-merger";
constexpr int32_t kMergeId = 0;

base::Error Refused(std::string_view why) {
  return {std::string(why.substr(0, why.find('\n'))), static_cast<int>(FetchError::kRefused)};
}
}  // namespace

/// A connection and the requests on it. After it broke its requests end with kConnection; the next one connects again.
class ShuffleClient::Connection : public env::StreamHandler, public ShuffleClient::Stream {
 public:
  Connection(ShuffleClient& client, env::Endpoint service) : client_(client), service_(std::move(service)) {}
  ~Connection() override = default;

  struct Answer {
    std::string body;
    int32_t chunks = 0;  // of a merged partition
  };
  using RpcDone = std::function<void(base::Result<Answer>)>;
  void Rpc(const ss::Message& message, RpcDone done) {
    std::string frame;
    st::AppendRpcRequest(frame, Expect(std::move(done)), ss::EncodeMessage(message));
    Send(std::move(frame));
  }
  void AskMerged(int32_t shuffle, int32_t reduce, RpcDone done) {
    std::string frame;
    st::AppendMergedBlockMetaRequest(frame, Expect(std::move(done)), client_.app_id_, shuffle, kMergeId, reduce);
    Send(std::move(frame));
  }
  void Tell(const ss::Message& message) {
    std::string frame;
    st::AppendOneWayMessage(frame, ss::EncodeMessage(message));
    Send(std::move(frame));
  }

  void Push(int32_t app_attempt, int32_t shuffle, const std::vector<PushedBlock>& blocks,
            std::function<void(size_t i, base::Result<uint8_t> code)> answered) {
    auto shared = std::make_shared<decltype(answered)>(std::move(answered));
    std::string frames;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const int64_t id = Expect([shared, i](base::Result<Answer> answer) {
        if (!answer) return (*shared)(i, answer.error());
        const base::Result<ss::Message> message = ss::DecodeMessage(answer->body);
        const auto* const code = message.ok() ? std::get_if<ss::BlockPushReturnCode>(&*message) : nullptr;
        if (code == nullptr) return (*shared)(i, Refused("the shuffle service answered a push with something else"));
        (*shared)(i, code->code);
      });
      const ss::PushBlockStream push{
          client_.app_id_, app_attempt, shuffle, kMergeId, blocks[i].map, blocks[i].reduce, static_cast<int32_t>(i)};
      st::AppendUploadStream(frames, id, ss::EncodeMessage(ss::Message(push)),
                             static_cast<int64_t>(blocks[i].bytes.size()));
      frames += blocks[i].bytes;
    }
    Send(std::move(frames));
  }

  /// A request that opens a stream of as many chunks as `order` has.
  void Fetch(const ss::Message& request, std::vector<size_t> order, FetchCallbacks callbacks) {
    auto shared = std::make_shared<FetchCallbacks>(std::move(callbacks));
    auto places = std::make_shared<std::vector<size_t>>(std::move(order));
    Rpc(request, [this, shared, places](base::Result<Answer> answer) {
      if (!answer) return shared->on_end(answer.error());
      const base::Result<ss::Message> message = ss::DecodeMessage(answer->body);
      const ss::StreamHandle* const handle = message.ok() ? std::get_if<ss::StreamHandle>(&*message) : nullptr;
      if (handle == nullptr || handle->num_chunks != static_cast<int32_t>(places->size())) {
        return shared->on_end(Refused("the shuffle service answered a fetch with something else"));
      }
      if (places->empty()) return shared->on_end({});
      if (streams_.count(handle->stream_id) != 0) return shared->on_end(Refused("stream id is used twice"));
      streams_[handle->stream_id] = Incoming{shared, places, 0};
      std::string frames;
      for (int32_t chunk = 0; chunk < handle->num_chunks; ++chunk) {
        st::AppendChunkFetchRequest(frames, handle->stream_id, chunk);
      }
      Send(std::move(frames));
    });
  }

  void StreamBlock(ss::OpenBlocks request, StreamCallbacks callbacks) {
    auto shared = std::make_shared<StreamCallbacks>(std::move(callbacks));
    Rpc(ss::Message(std::move(request)), [this, shared](base::Result<Answer> answer) {
      if (!answer) return shared->on_end(answer.error());
      const base::Result<ss::Message> message = ss::DecodeMessage(answer->body);
      const ss::StreamHandle* const handle = message.ok() ? std::get_if<ss::StreamHandle>(&*message) : nullptr;
      if (handle == nullptr || handle->num_chunks != 1) {
        return shared->on_end(Refused("the shuffle service answered a fetch with something else"));
      }
      std::string frame;
      if (local_ != nullptr) {  // as a file, which is no longer than it is
        streams_[handle->stream_id] = Incoming{AsFetch(shared), std::make_shared<std::vector<size_t>>(1, 0), 0};
        st::AppendChunkFetchRequest(frame, handle->stream_id, 0);
      } else {
        streaming_ = shared;
        st::AppendStreamRequest(frame, std::to_string(handle->stream_id) + "_0");
      }
      Send(std::move(frame));
    });
  }

  void Pause() override {
    if (!std::exchange(paused_, true) && stream_) stream_->PauseReading();
  }
  void Resume() override {
    if (!std::exchange(paused_, false)) return;
    last_progress_ = client_.loop_.Now();
    if (stream_) stream_->ResumeReading();
  }

  void OnData(std::string_view bytes) override {
    last_progress_ = client_.loop_.Now();
    if (cipher_) {
      plain_.clear();
      if (const base::Status read = cipher_->Decrypt(bytes, plain_); !read.ok()) return Break(read.error().message);
      bytes = plain_;
    }
    reader_->Feed(bytes);
    const env::Alive::Watch alive = alive_.watch();
    for (;;) {
      const st::FrameReader::Outcome outcome = reader_->Next();
      if (outcome == st::FrameReader::Outcome::kNeedMore) return;
      if (outcome == st::FrameReader::Outcome::kError) return Break("not Spark's transport: " + reader_->error());
      if (outcome == st::FrameReader::Outcome::kFrame) {
        if (handshake_) {
          OnHandshakeAnswer(reader_->frame());
        } else {
          OnFrame(reader_->frame());
        }
      }
      if (outcome == st::FrameReader::Outcome::kRaw) OnRaw(reader_->raw(), reader_->raw_left());
      if (!alive || !stream_) return;
    }
  }
  void OnClosed(const std::string& reason) override {
    // A service that does not take the secret says so, and may not wait for another kind of handshake.
    if (handshake_ && !handshake_->refusal().empty()) return Break(handshake_->refusal(), FetchError::kRefused);
    Break(reason.empty() ? "the shuffle service closed the connection" : reason);
  }

 private:
  struct Incoming {
    std::shared_ptr<FetchCallbacks> callbacks;
    std::shared_ptr<std::vector<size_t>> order;  // chunk -> block of the request
    size_t next = 0;
  };

  static std::shared_ptr<FetchCallbacks> AsFetch(const std::shared_ptr<StreamCallbacks>& to) {
    auto callbacks = std::make_shared<FetchCallbacks>();
    callbacks->on_block = [to](size_t, std::string_view bytes) {
      to->on_size(static_cast<int64_t>(bytes.size()));
      if (!bytes.empty()) to->on_bytes(bytes);
    };
    callbacks->on_file = [to](size_t, std::shared_ptr<env::File> file, int64_t offset, int64_t length) {
      to->on_file(std::move(file), offset, length);
    };
    callbacks->on_end = [to](base::Status status) { to->on_end(std::move(status)); };
    return callbacks;
  }

  /// The id of a request whose answer `done` gets.
  int64_t Expect(RpcDone done) {
    const int64_t id = client_.next_request_++;
    rpcs_[id] = std::move(done);
    return id;
  }

  void Send(std::string frame) {
    last_progress_ = client_.loop_.Now();
    StartTimer();
    if (stream_ && !handshake_) return Write(std::move(frame));
    waiting_ += frame;
    if (stream_) return;
    if (connecting_) return;
    connecting_ = true;
    client_.net_.Connect(service_, client_.limits_.connect,
                         alive_([this](base::Result<std::unique_ptr<env::Stream>> connected) {
                           if (connected) return OnConnected(std::move(*connected));
                           connecting_ = false;
                           Break(connected.error().message);
                         }));
  }

  void Write(std::string frame) {
    if (!cipher_) return stream_->Write(std::move(frame));
    std::string encrypted;
    cipher_->Encrypt(frame, encrypted);
    stream_->Write(std::move(encrypted));
  }

  /// A service on this host may have a local socket; its name tells where it listens: on this address, or on all.
  void OnConnected(std::unique_ptr<env::Stream> stream) {
    const env::Endpoint peer = stream->peer();
    const bool here = peer.host == stream->local().host || env::IsLoopback(peer.host);
    const st::Security& security = client_.security_;
    const bool encrypts = security.authenticates() && (security.crypto || security.encrypt_sasl);
    const bool may_try = here && client_.local_net_ != nullptr && !encrypts;
    if (!may_try || std::exchange(avoid_local_once_, false)) return Use(std::move(stream));
    TryLocal({ss::LocalServiceName(peer.host, peer.port), ss::LocalServiceName("", peer.port)}, std::move(stream));
  }

  void TryLocal(std::vector<std::string> names, std::shared_ptr<env::Stream> over_tcp) {
    const std::string name = std::move(names.front());
    names.erase(names.begin());
    client_.local_net_->ConnectLocal(name,
                                     alive_([this, names = std::move(names), over_tcp = std::move(over_tcp)](
                                                base::Result<std::unique_ptr<env::LocalStream>> connected) mutable {
                                       const bool good = connected && IsBelieved((*connected)->peer_user());
                                       if (!good && !names.empty())
                                         return TryLocal(std::move(names), std::move(over_tcp));
                                       if (!good) return Use(std::move(over_tcp));
                                       local_ = connected->get();
                                       Use(std::move(*connected));
                                     }));
  }

  bool IsBelieved(uint32_t user) const { return user == 0 || user == client_.own_user_; }

  void Use(std::shared_ptr<env::Stream> stream) {
    connecting_ = false;
    stream_ = std::move(stream);
    reader_ = std::make_unique<st::FrameReader>(client_.limits_.frame_max);
    stream_->Start(this);
    if (client_.security_.authenticates()) {
      handshake_ = std::make_unique<st::ClientHandshake>(
          client_.security_, [&loop = client_.loop_](std::span<uint8_t> bytes) { loop.RandomBytes(bytes); });
      return AskHandshake(handshake_->first());
    }
    Begin();
  }

  /// What waited for the connection is sent.
  void Begin() {
    if (paused_) stream_->PauseReading();
    Write(std::exchange(waiting_, {}));
  }

  void AskHandshake(std::string_view body) {
    std::string frame;
    handshake_request_ = client_.next_request_++;
    st::AppendRpcRequest(frame, handshake_request_, body);
    stream_->Write(std::move(frame));
  }

  void OnHandshakeAnswer(const st::Frame& frame) {
    const bool refused = frame.type == st::FrameType::kRpcFailure;
    if ((!refused && frame.type != st::FrameType::kRpcResponse) || frame.id != handshake_request_) {
      return Break("a message of a service that has not authenticated");
    }
    using Body = base::Result<std::string_view>;
    auto step = handshake_->Take(refused ? Body(Refused(frame.text)) : Body(frame.body));
    if (!step.ok()) return Break(step.error().message, FetchError::kRefused);
    if (!step->done) return AskHandshake(step->body);
    // What came in the clear behind the handshake, nobody vouches for.
    if (step->cipher && !reader_->at_end()) return Break("bytes in the clear behind a handshake");
    handshake_.reset();
    cipher_ = std::move(step->cipher);
    Begin();
  }

  void OnFrame(const st::Frame& frame) {
    const bool meta = frame.type == st::FrameType::kMergedBlockMetaSuccess;
    if (meta || frame.type == st::FrameType::kRpcResponse || frame.type == st::FrameType::kRpcFailure) {
      const auto found = rpcs_.find(frame.id);
      if (found == rpcs_.end()) return;
      const RpcDone done = std::move(found->second);
      rpcs_.erase(found);
      if (frame.type == st::FrameType::kRpcFailure) {
        done(Refused(frame.text));
      } else {
        done(Answer{std::string(frame.body), frame.num_chunks});
      }
    } else if (frame.type == st::FrameType::kChunkFetchSuccess) {
      OnChunk(frame);
    } else if (frame.type == st::FrameType::kChunkFetchFailure) {
      const auto found = streams_.find(frame.id);
      if (found == streams_.end()) return;
      const std::shared_ptr<FetchCallbacks> callbacks = found->second.callbacks;
      streams_.erase(found);
      callbacks->on_end(Refused(frame.text));
    } else if (frame.type == st::FrameType::kStreamResponse) {
      OnStreamBegins(frame.following_bytes);
    } else if (frame.type == st::FrameType::kStreamFailure) {
      EndStreaming(Refused(frame.error));
    }
  }

  void OnStreamBegins(int64_t length) {
    if (streaming_ == nullptr || length < 0) return Break("a stream that nobody asked for");
    const std::shared_ptr<StreamCallbacks> callbacks = streaming_;
    callbacks->on_size(length);
    if (length == 0) EndStreaming({});
  }
  void OnRaw(std::string_view bytes, int64_t left) {
    if (streaming_ == nullptr) return;
    const std::shared_ptr<StreamCallbacks> callbacks = streaming_;
    callbacks->on_bytes(bytes);
    if (left == 0) EndStreaming({});
  }
  void EndStreaming(base::Status status) {
    if (const auto callbacks = std::exchange(streaming_, nullptr)) callbacks->on_end(std::move(status));
  }

  void OnChunk(const st::Frame& frame) {
    ss::PassedBlock block;
    block.bytes = frame.body;
    std::shared_ptr<env::File> file;
    if (local_ != nullptr) {
      auto passed = ss::DecodePassedBlock(frame.body);
      if (!passed) return Break(passed.error().message);
      block = *passed;
      if (block.in_file && (file = local_->TakeFile()) == nullptr) return Break("an open file did not arrive");
    }
    const auto found = streams_.find(frame.id);
    if (found == streams_.end()) return;  // one that has failed already
    Incoming& incoming = found->second;
    if (frame.chunk_index != static_cast<int32_t>(incoming.next)) return Break("chunks came out of order");
    const size_t place = (*incoming.order)[incoming.next++];
    const std::shared_ptr<FetchCallbacks> callbacks = incoming.callbacks;
    const bool last = incoming.next == incoming.order->size();
    if (last) streams_.erase(found);
    if (file) {
      callbacks->on_file(place, std::move(file), block.offset, block.length);
    } else {
      callbacks->on_block(place, block.bytes);
    }
    if (last) callbacks->on_end({});
  }

  /// `why` is a copy: it may be what the handshake said, which ends here.
  void Break(std::string why, FetchError kind = FetchError::kConnection) {
    // Whatever was wrong with the local socket: the next try does without.
    if (std::exchange(local_, nullptr) != nullptr) avoid_local_once_ = true;
    stream_.reset();
    handshake_.reset();
    cipher_.reset();
    waiting_.clear();
    StopTimer();
    std::map<int64_t, RpcDone> rpcs;
    std::map<int64_t, Incoming> streams;
    rpcs.swap(rpcs_);
    streams.swap(streams_);
    const std::shared_ptr<StreamCallbacks> streaming = std::exchange(streaming_, nullptr);
    const base::Error error{service_.ToString() + ": " + why, static_cast<int>(kind)};
    for (auto& [id, done] : rpcs) done(error);
    for (auto& [id, incoming] : streams) incoming.callbacks->on_end(error);
    if (streaming) streaming->on_end(error);
  }

  void StartTimer() {
    if (timer_.waits()) return;
    timer_.After(base::Duration::Seconds(5), [this] {
      const base::Duration quiet = client_.loop_.Now() - last_progress_;
      const bool busy = !rpcs_.empty() || !streams_.empty() || connecting_ || streaming_ != nullptr;
      if (paused_) return StartTimer();  // its reader takes its time
      if (busy && quiet > client_.limits_.silence) return Break("no answer");
      if (!busy && quiet > client_.limits_.idle) {
        stream_.reset();
        cipher_.reset();
        local_ = nullptr;
        return;
      }
      StartTimer();
    });
  }
  void StopTimer() { timer_.Stop(); }

  ShuffleClient& client_;
  const env::Endpoint service_;
  std::shared_ptr<env::Stream> stream_;
  env::LocalStream* local_ = nullptr;  // stream_, when it is the service's local socket
  bool avoid_local_once_ = false;
  std::unique_ptr<st::FrameReader> reader_;
  bool connecting_ = false;
  std::unique_ptr<st::ClientHandshake> handshake_;  // until the service has taken it
  int64_t handshake_request_ = 0;
  std::unique_ptr<st::ChannelCipher> cipher_;
  std::string plain_;    // what is being read, decrypted
  std::string waiting_;  // to be sent once connected
  std::map<int64_t, RpcDone> rpcs_;
  std::map<int64_t, Incoming> streams_;
  std::shared_ptr<StreamCallbacks> streaming_;  // what comes outside of frames
  bool paused_ = false;
  base::Instant last_progress_;
  env::Timer timer_{client_.loop_};
  env::Alive alive_;
};

ShuffleClient::ShuffleClient(env::Loop& loop, env::Net& net, std::string app_id, Limits limits)
    : loop_(loop), net_(net), app_id_(std::move(app_id)), limits_(limits) {}

void ShuffleClient::UseLocalSockets(env::LocalNet& net, uint32_t own_user) {
  local_net_ = &net;
  own_user_ = own_user;
}

ShuffleClient::~ShuffleClient() = default;

ShuffleClient::Connection& ShuffleClient::To(const env::Endpoint& service) {
  std::unique_ptr<Connection>& connection = connections_[service];
  if (!connection) connection = std::make_unique<Connection>(*this, service);
  return *connection;
}

void ShuffleClient::Register(const env::Endpoint& service, const std::string& executor_id,
                             const std::vector<std::string>& local_directories,
                             std::function<void(base::Status)> done) {
  ss::RegisterExecutor message;
  message.app_id = app_id_;
  message.exec_id = executor_id;
  message.local_dirs = local_directories;
  message.shuffle_manager = "org.apache.spark.shuffle.sort.SortShuffleManager";  // the layout of our files
  if (!merged_directory_.empty()) {
    message.shuffle_manager +=
        R"(:{"mergeDir": ")" + merged_directory_ + R"(", "attemptId": ")" + std::to_string(app_attempt_) + "\"}";
  }
  To(service).Rpc(ss::Message(std::move(message)), [done = std::move(done)](const auto& answer) {
    if (answer) return done({});
    done(answer.error());
  });
}

void ShuffleClient::AskWhetherItMerges(const env::Endpoint& service, std::function<void(bool)> done) {
  To(service).Rpc(ss::Message(ss::GetLocalDirsForExecutors{app_id_, {kMerger}}),
                  [done = std::move(done)](const auto& answer) { done(answer.ok()); });
}

void ShuffleClient::Push(const env::Endpoint& service, int32_t app_attempt, int32_t shuffle,
                         const std::vector<PushedBlock>& blocks,
                         std::function<void(size_t i, base::Result<uint8_t> code)> answered) {
  To(service).Push(app_attempt, shuffle, blocks, std::move(answered));
}

void ShuffleClient::FinalizeMerge(const env::Endpoint& service, int32_t app_attempt, int32_t shuffle,
                                  std::function<void(base::Result<std::vector<ss::MergeStatus>>)> done) {
  To(service).Rpc(ss::Message(ss::FinalizeShuffleMerge{app_id_, app_attempt, shuffle, kMergeId}),
                  [done = std::move(done)](const auto& answer) {
                    if (!answer) return done(answer.error());
                    const base::Result<ss::Message> message = ss::DecodeMessage(answer->body);
                    const auto* const merged = message.ok() ? std::get_if<ss::MergeStatuses>(&*message) : nullptr;
                    if (merged == nullptr) return done(Refused("the shuffle service told nothing of its merges"));
                    done(ss::ReadMergeStatuses(*merged));
                  });
}

void ShuffleClient::RemoveMerge(const env::Endpoint& service, int32_t app_attempt, int32_t shuffle) {
  To(service).Tell(ss::Message(ss::RemoveShuffleMerge{app_id_, app_attempt, shuffle, kMergeId}));
}

void ShuffleClient::AskMergedChunks(const env::Endpoint& service, int32_t shuffle, int32_t reduce,
                                    std::function<void(base::Result<std::vector<ss::MapBitmap>>)> done) {
  To(service).AskMerged(shuffle, reduce, [done = std::move(done)](const auto& answer) {
    if (!answer) return done(answer.error());
    done(ss::ReadChunkMaps(answer->body, static_cast<size_t>(std::max(0, answer->chunks))));
  });
}

void ShuffleClient::FetchChunks(const env::Endpoint& service, int32_t shuffle, int32_t reduce,
                                const std::vector<int32_t>& chunks, FetchCallbacks callbacks) {
  ss::FetchShuffleBlockChunks request;
  request.app_id = app_id_;
  request.exec_id = kMerger;
  request.shuffle_id = shuffle;
  request.shuffle_merge_id = kMergeId;
  request.reduce_ids = {reduce};
  request.chunk_ids.Add(chunks);
  std::vector<size_t> order(chunks.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  To(service).Fetch(ss::Message(std::move(request)), std::move(order), std::move(callbacks));
}

std::unique_ptr<ShuffleClient::Stream> ShuffleClient::OpenStream(const env::Endpoint& service,
                                                                 const std::string& executor_id,
                                                                 const std::string& block, StreamCallbacks callbacks) {
  auto connection = std::make_unique<Connection>(*this, service);
  connection->StreamBlock(ss::OpenBlocks{app_id_, executor_id, {block}}, std::move(callbacks));
  return connection;
}

void ShuffleClient::Fetch(const env::Endpoint& service, const std::string& executor_id, int32_t shuffle,
                          std::vector<Block> blocks, FetchCallbacks callbacks) {
  // The service answers map by map: group the request so, and remember where each chunk belongs.
  std::vector<size_t> order(blocks.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return blocks[a].map_task < blocks[b].map_task; });
  ss::FetchShuffleBlocks request;
  request.app_id = app_id_;
  request.exec_id = executor_id;
  request.shuffle_id = shuffle;
  for (size_t i = 0; i < order.size(); ++i) {
    const Block& block = blocks[order[i]];
    if (i == 0 || blocks[order[i - 1]].map_task != block.map_task) {
      if (i != 0) request.reduce_ids.CloseList();
      request.map_ids.push_back(block.map_task);
    }
    request.reduce_ids.AddValue(block.reduce);
  }
  if (!order.empty()) request.reduce_ids.CloseList();
  To(service).Fetch(ss::Message(std::move(request)), std::move(order), std::move(callbacks));
}

}  // namespace fairlead::process::executor
