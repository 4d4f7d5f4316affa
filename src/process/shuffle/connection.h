#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "endpoints/shuffle/session.h"
#include "env/local_net.h"
#include "env/net.h"
#include "process/shuffle/io_worker.h"
#include "wire/spark_transport/tls.h"

namespace fairlead::process::shuffle {

/// One client: its stream and its session. Small blocks are copied behind their headers into one buffer, so that many
/// of them leave in one write; long ones go by sendfile; on an encrypted connection the bytes are read and encrypted
/// piece by piece as the client takes them.
class Connection final : public env::StreamHandler, public endpoints::shuffle::SessionHost, public peers::Peer {
 public:
  /// The address of clients of local sockets.
  static constexpr const char* kThisHost = "this host";
  /// How often Overdue is asked.
  static constexpr base::Duration kTick = base::Duration::Seconds(1);

  Connection(uint64_t id, std::unique_ptr<env::Stream> stream, IoWorker& worker);
  /// Of a client on this host.
  Connection(uint64_t id, std::unique_ptr<env::LocalStream> stream, IoWorker& worker);
  ~Connection() override;
  void Start();

  /// Nothing has moved on it for too long, neither requests nor bytes of an answer, or it is not done with a first
  /// request or with a half one. To be asked about once a second.
  bool Overdue(base::Instant now);
  void Evict() override;
  size_t HeldBytes() const override;
  const std::string& app() const { return session_.app(); }
  endpoints::shuffle::Session& session() { return session_; }
  /// Sends what waited for a turn, at most about `bytes`; how many were sent.
  int64_t TakeTurn(int64_t bytes);

  // ---- env::StreamHandler
  void OnData(std::string_view bytes) override;
  void OnClosed(const std::string& reason) override;
  void OnDrained() override;

  // ---- endpoints::shuffle::SessionHost
  std::string& Output() override { return output_; }
  void SendFile(std::shared_ptr<endpoints::shuffle::BlockFile> file, int64_t offset, int64_t length) override;
  bool IsLocal() const override { return local_ != nullptr; }
  bool MayPassFile() const override;
  void PassFile(std::shared_ptr<endpoints::shuffle::BlockFile> file) override;
  void EncryptFromHere(wire::spark_transport::ChannelCipher* cipher) override;
  void CloseAfterFlush() override;
  bool Full() const override;
  endpoints::shuffle::BlockResult OpenBlock(endpoints::shuffle::BlockStream& stream,
                                            const endpoints::shuffle::BlockRef& block) override;
  void FindStream(int64_t stream_id) override;
  const model::shuffle::Executor* FindExecutor(std::string_view app, std::string_view executor) override;
  void RegisterExecutor(wire::spark_shuffle::RegisterExecutor request) override;
  void RemoveBlocks(const model::shuffle::Executor& executor, std::vector<std::string> files) override;
  void Diagnose(const model::shuffle::Executor& executor,
                const wire::spark_shuffle::DiagnoseCorruption& request) override;
  bool Merges() const override { return worker_.owner().merges() != nullptr; }
  void Push(endpoints::shuffle::PushPart part) override;
  const model::shuffle::Executor* FindMergeDirs(std::string_view app) override;
  void FindMergedMeta(const std::string& app, int32_t shuffle_id, int32_t merge_id, int32_t reduce_id) override;
  void FinalizeMerge(wire::spark_shuffle::FinalizeShuffleMerge request) override;
  void RemoveMerge(wire::spark_shuffle::RemoveShuffleMerge request) override;
  std::optional<std::string> SecretOf(std::string_view app) override { return worker_.SecretOf(app); }
  void RandomBytes(std::span<uint8_t> bytes) override { worker_.loop().RandomBytes(bytes); }
  void BelongsTo(const std::string& app) override;

  void FinishPushes(const std::vector<PushAnswered>& answers);
  /// Sends what was gathered and pauses or resumes reading; after every entry from outside.
  void Settle();

 private:
  /// To be sent, in order: encrypted piece by piece, or when this application has its turn.
  struct Item {
    std::string bytes;
    std::shared_ptr<OpenFile> file;
    int64_t offset = 0;
    int64_t length = 0;
    int64_t warm_until = 0;            // the file is in memory up to here
    std::shared_ptr<OpenFile> passed;  // goes to the client along with `bytes`
  };
  struct Removing;
  static void RemoveSome(IoWorker& worker, uint64_t id, const std::shared_ptr<Removing>& removing);
  void WarmThenFinish(endpoints::shuffle::BlockStream& stream, const endpoints::shuffle::BlockRef& block);
  void FinishBlock(const model::shuffle::Executor& executor, const endpoints::shuffle::BlockRef& block, bool answered);
  void FinishDiagnose(const fairlead::shuffle::Registry::ExecutorRef& executor,
                      const wire::spark_shuffle::DiagnoseCorruption& request, const endpoints::shuffle::BlockRef& block,
                      bool answered);
  endpoints::shuffle::BlockResult OpenMerged(endpoints::shuffle::BlockStream& stream,
                                             const endpoints::shuffle::BlockRef& block);
  void SendPushes();
  bool Encrypts() const { return cipher_ != nullptr || tls_.has_value(); }
  void ReceiveTls(std::string_view bytes);
  void WriteNow(std::string bytes);
  void FollowLimit();
  void FlushOutput();
  void SendQueued();
  bool HasFirst();
  void ContinueFile(int64_t warm_until, bool answered);
  void SendNext();
  bool MaySend() const;
  void AskForTurn();
  std::string Sealed(std::string bytes);
  bool CopyBlock(OpenFile& file, int64_t offset, int64_t length);
  void CountQueued();

  const uint64_t id_;
  IoWorker& worker_;
  const IoWorker::Seat seat_ = worker_.seat();
  std::unique_ptr<env::Stream> stream_;
  env::LocalStream* const local_ = nullptr;  // stream_, of a client on this host
  std::string output_;
  size_t last_output_ = 0;                                  // bytes
  wire::spark_transport::ChannelCipher* cipher_ = nullptr;  // of the authentication; inside of TLS where both are
  std::optional<wire::spark_transport::TlsServer> tls_;
  std::deque<Item> queue_;
  int64_t allowance_ = 0;  // bytes left in this turn, while applications contend
  bool asked_ = false;     // for a turn
  bool waits_for_disk_ = false;
  size_t high_water_ = 0;
  size_t counted_ = 0;        // of this connection in the worker's sum
  size_t memory_queued_ = 0;  // bytes written from memory and perhaps not yet taken
  bool closing_ = false;
  bool reading_ = true;
  bool belongs_ = false;  // to session_.app()
  base::Instant used_;
  peers::PeerTable::Seat seat_in_table_;
  size_t unsent_at_last_look_ = 0;
  const base::Instant opened_ = used_;
  base::Instant request_since_ = used_;  // of the request that is not whole
  uint64_t requests_at_last_look_ = 0;
  uint64_t noted_bytes_ = 0;
  std::shared_ptr<const model::shuffle::Executor> pinned_;  // what FindExecutor gave
  std::shared_ptr<const fairlead::shuffle::MergedApp> pinned_merges_;
  std::vector<endpoints::shuffle::PushPart> pushed_;  // not yet given to whoever merges
  endpoints::shuffle::Session session_;
};

}  // namespace fairlead::process::shuffle
