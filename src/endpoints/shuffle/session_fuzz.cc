#include <cstddef>
#include <cstdint>
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
      } else {
        session.Resume();
      }
    }
  }
  return 0;
}
