#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "endpoints/shuffle/session.h"

namespace {

using namespace fairlead::endpoints::shuffle;

/// A host that knows one executor, and answers some questions later.
class FuzzHost final : public SessionHost {
 public:
  std::string& Output() override { return out; }
  void SendFile(std::shared_ptr<BlockFile>, int64_t, int64_t length) override {
    out.append(static_cast<size_t>(length), 'x');
  }
  void EncryptFromHere(fairlead::wire::spark_transport::ChannelCipher*) override {}
  void CloseAfterFlush() override { closing = true; }
  bool Full() const override { return out.size() > full_at; }
  BlockResult OpenBlock(BlockStream&, const BlockRef& block) override {
    BlockResult result;
    result.kind = static_cast<BlockResult::Kind>(block.start & 3);
    result.length = block.end & 1023;
    result.available = result.length - ((block.start & 4) != 0 && result.length > 0 ? 1 : 0);
    if (result.kind == BlockResult::Kind::kLater) block_waits = true;
    return result;
  }
  void FindStream(int64_t) override { stream_waits = true; }
  const fairlead::model::shuffle::Executor* FindExecutor(std::string_view, std::string_view executor) override {
    return executor == "1" ? &executor_ : nullptr;
  }
  void RegisterExecutor(fairlead::wire::spark_shuffle::RegisterExecutor) override { rpc_waits = true; }
  void RemoveBlocks(const fairlead::model::shuffle::Executor&, std::vector<std::string>) override { rpc_waits = true; }
  void Diagnose(const fairlead::model::shuffle::Executor&,
                const fairlead::wire::spark_shuffle::DiagnoseCorruption&) override {
    rpc_waits = true;
  }
  bool Merges() const override { return merges; }
  /// What begins ends, or is cut, once; bytes are never more than were announced.
  void Push(PushPart part) override {
    if (part.begin) {
      if (pushing) std::abort();
      pushing = true;
    }
    if (!pushing) std::abort();
    if (part.end || part.cut) pushing = false;
    if (part.end) pushed.push_back(part.request);
  }
  const fairlead::model::shuffle::Executor* FindMergeDirs(std::string_view app) override {
    return app == "a" ? &executor_ : nullptr;
  }
  void FindMergedMeta(const std::string&, int32_t, int32_t, int32_t) override { meta_waits = true; }
  void FinalizeMerge(fairlead::wire::spark_shuffle::FinalizeShuffleMerge) override { rpc_waits = true; }
  void RemoveMerge(fairlead::wire::spark_shuffle::RemoveShuffleMerge) override { quiet_waits = true; }
  std::optional<std::string> SecretOf(std::string_view app) override {
    return app == "a" ? std::optional<std::string>("secret") : std::nullopt;
  }
  void RandomBytes(std::span<uint8_t> bytes) override {
    for (uint8_t& b : bytes) b = 7;
  }
  void BelongsTo(const std::string&) override {}

  std::string out;
  size_t full_at = 4096;
  bool closing = false;
  bool rpc_waits = false;
  bool block_waits = false;
  bool stream_waits = false;
  bool meta_waits = false;
  bool quiet_waits = false;
  bool merges = false;
  bool pushing = false;
  std::vector<int64_t> pushed;

 private:
  fairlead::model::shuffle::Executor executor_{{{"/r/a", 0, "a"}}, 64, "m", 1};
};

}  // namespace

// A session fed with anything, in pieces, whose host is at times full and at times late.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  SessionConfig config;
  config.answer_as = (data[0] & 1) != 0 ? AnswerAs::kSpark35 : AnswerAs::kSpark43;
  config.security.authenticate = (data[0] & 2) != 0;
  config.security.crypto = (data[0] & 4) != 0;
  config.request_bytes_max = 1 << 16;
  StreamTable streams(1, 1 << 20);
  SessionCounters counters;
  FuzzHost host;
  host.merges = (data[0] & 8) != 0;
  Session session(1, config, streams, counters, host);
  const size_t step = data[1] + size_t{1};
  for (size_t at = 2; at < size && !session.closed(); at += step) {
    const std::string piece(reinterpret_cast<const char*>(data) + at, std::min(step, size - at));
    session.OnBytes(piece);
    while (!session.WantsMore() && !session.closed()) {
      host.out.clear();
      if (std::exchange(host.rpc_waits, false)) {
        session.FinishRpc(std::string("body"));
      } else if (std::exchange(host.block_waits, false)) {
        session.FinishBlock({});
      } else if (std::exchange(host.stream_waits, false)) {
        session.FinishStream(std::nullopt);
      } else if (std::exchange(host.meta_waits, false)) {
        session.FinishMergedMeta(MergedMeta{1, "bits"});
      } else if (std::exchange(host.quiet_waits, false)) {
        session.FinishQuietly({});
      } else {
        session.Resume();
      }
    }
    for (const int64_t request : std::exchange(host.pushed, {})) {
      PushReply reply;
      reply.closes = request % 7 == 3;
      session.FinishPush(request, reply);
    }
  }
  session.Close();
  if (host.pushing) std::abort();
  return 0;
}
