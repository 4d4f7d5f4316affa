#include "sim/cluster/audited_net.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "wire/hadoop_rpc/frames.h"
#include "wire/hadoop_rpc/headers.h"

namespace fairlead::sim {
namespace {

namespace h = wire::hadoop_rpc;

constexpr size_t kFrameMax = 64 << 20;

class AuditedStream final : public env::Stream, private env::StreamHandler {
 public:
  AuditedStream(std::unique_ptr<env::Stream> inner, Ledger& ledger, bool twice)
      : inner_(std::move(inner)), ledger_(ledger), twice_(twice) {}

  void Start(env::StreamHandler* handler) override {
    handler_ = handler;
    inner_->Start(this);
  }
  void Write(std::string bytes) override {
    const std::string again = twice_ && held_ ? FirstAnswer(bytes) : "";
    if (!again.empty()) held_ = false;
    Sent(bytes);
    inner_->Write(std::move(bytes));
    if (again.empty()) return;
    Sent(again);
    inner_->Write(again);
  }
  void PauseReading() override {
    held_ = true;
    inner_->PauseReading();
  }
  void SendFile(std::shared_ptr<env::File> file, uint64_t offset, uint64_t length) override {
    inner_->SendFile(std::move(file), offset, length);
  }
  size_t unsent() const override { return inner_->unsent(); }
  void SetHighWater(size_t bytes) override { inner_->SetHighWater(bytes); }
  void ResumeReading() override { inner_->ResumeReading(); }
  void CloseAfterFlush() override { inner_->CloseAfterFlush(); }
  void Close() override { inner_->Close(); }
  env::Endpoint peer() const override { return inner_->peer(); }
  env::Endpoint local() const override { return inner_->local(); }

 private:
  void OnData(std::string_view bytes) override {
    Received(bytes);
    handler_->OnData(bytes);
  }
  void OnClosed(const std::string& reason) override { handler_->OnClosed(reason); }
  void OnDrained() override { handler_->OnDrained(); }

  void Received(std::string_view bytes) {
    const size_t preamble = std::min(preamble_left_, bytes.size());
    preamble_left_ -= preamble;
    requests_.Push(bytes.substr(preamble));
    while (std::optional<std::string_view> frame = requests_.Next()) {
      const std::optional<std::string_view> header = h::TakeDelimited(*frame);
      h::RequestHeaderView request;
      if (header && h::ParseRequestHeader(*header, request) && request.call_id >= 0) open_.insert(request.call_id);
    }
    requests_.Keep();
  }

  void Sent(std::string_view bytes) {
    answers_.Push(bytes);
    while (const std::optional<std::string_view> frame = answers_.Next()) {
      const int32_t call = CallOf(*frame);
      if (call < 0 || open_.erase(call) > 0) continue;
      ledger_.Violation("call " + std::to_string(call) + " of " + peer().host + " at " + local().ToString() +
                        " was answered twice, or never made");
    }
    answers_.Keep();
  }

  /// Below 0: the frame answers no call.
  static int32_t CallOf(std::string_view frame) {
    const std::optional<std::string_view> header = h::TakeDelimited(frame);
    h::ResponseHeaderView response;
    return header && h::ParseResponseHeader(*header, response) ? response.call_id : -1;
  }

  /// The first answer to a call among whole frames, with its length.
  static std::string FirstAnswer(std::string_view bytes) {
    h::FrameReader reader(kFrameMax);
    reader.Push(bytes);
    for (size_t at = 0; const std::optional<std::string_view> frame = reader.Next();) {
      const size_t size = frame->size() + 4;
      if (CallOf(*frame) >= 0) return std::string(bytes.substr(at, size));
      at += size;
    }
    return "";
  }

  std::unique_ptr<env::Stream> inner_;
  Ledger& ledger_;
  const bool twice_;
  env::StreamHandler* handler_ = nullptr;
  size_t preamble_left_ = h::kPreambleBytes;
  h::FrameReader requests_{kFrameMax};
  h::FrameReader answers_{kFrameMax};
  std::set<int32_t> open_;  // calls that wait for their answers
  bool held_ = false;       // was not read from, since the last answer
};

class AuditedNet final : public env::Net {
 public:
  AuditedNet(env::Net& inner, Ledger& ledger, bool twice) : inner_(inner), ledger_(ledger), twice_(twice) {}
  using env::Net::Listen;
  base::Result<std::unique_ptr<env::Listener>> Listen(const env::Endpoint& endpoint, AcceptHandler on_accept,
                                                      CrowdHandler on_crowded) override {
    return inner_.Listen(
        endpoint,
        [ledger = &ledger_, twice = twice_, on_accept = std::move(on_accept)](std::unique_ptr<env::Stream> stream) {
          on_accept(std::make_unique<AuditedStream>(std::move(stream), *ledger, twice));
        },
        std::move(on_crowded));
  }
  void Adopt(std::unique_ptr<env::Stream> stream, AcceptHandler on_accept) override {
    inner_.Adopt(std::move(stream), std::move(on_accept));
  }
  void Connect(const env::Endpoint& endpoint, base::Duration timeout, ConnectHandler done) override {
    inner_.Connect(endpoint, timeout, std::move(done));
  }

 private:
  env::Net& inner_;
  Ledger& ledger_;
  const bool twice_;
};

}  // namespace

std::unique_ptr<env::Net> AuditAnswers(env::Net& inner, Ledger& ledger, bool twice) {
  return std::make_unique<AuditedNet>(inner, ledger, twice);
}

}  // namespace fairlead::sim
