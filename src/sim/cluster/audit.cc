#include "sim/cluster/audit.h"

#include <map>
#include <string>
#include <utility>
#include <variant>

namespace fairlead::sim {
namespace {

namespace ev = model::scheduler;

class AuditedScheduler final : public scheduler::Scheduler {
 public:
  AuditedScheduler(std::unique_ptr<scheduler::Scheduler> inner, Ledger& ledger)
      : inner_(std::move(inner)), ledger_(ledger) {}

  void Step(base::Instant now, std::span<const ev::Event> events, scheduler::EffectSink& out) override {
    for (const ev::Event& event : events) {
      if (const auto* added = std::get_if<ev::NodeAdded>(&event)) hosts_[added->node] = added->host;
      if (const auto* recovered = std::get_if<ev::ContainerRecovered>(&event)) {
        booked_[recovered->container] = {recovered->node, recovered->resources};
      }
    }
    const size_t before = out.size();
    inner_->Step(now, events, out);
    for (size_t i = before; i < out.size(); ++i) {
      if (const auto* granted = std::get_if<ev::Granted>(&out[i])) Judge(*granted);
      if (const auto* finished = std::get_if<ev::Finished>(&out[i])) booked_.erase(finished->container);
    }
  }
  base::Instant NextDeadline() const override { return inner_->NextDeadline(); }
  std::string CheckInvariants() const override { return inner_->CheckInvariants(); }
  uint64_t StateHash() const override { return inner_->StateHash(); }
  std::unique_ptr<scheduler::Scheduler> Fork() const override { return inner_->Fork(); }
  std::string State() const override { return inner_->State(); }
  bool ReadState(std::string_view bytes) override { return inner_->ReadState(bytes); }
  scheduler::View GetView() const override { return inner_->GetView(); }
  scheduler::View GetQueues() const override { return inner_->GetQueues(); }
  int64_t PendingContainers(model::AppIndex app) const override { return inner_->PendingContainers(app); }
  std::vector<ev::Pending> Why(model::AppIndex app, base::Instant now) const override { return inner_->Why(app, now); }

 private:
  struct Booked {
    model::NodeIndex node;
    model::Resources resources;
  };

  void Judge(const ev::Granted& granted) {
    booked_[granted.container] = {granted.node, granted.resources};
    model::Resources used;
    for (const auto& [id, booked] : booked_) {
      if (booked.node == granted.node) used += booked.resources;
    }
    const std::string& host = hosts_[granted.node];
    if (used.FitsIn(ledger_.capacity(host))) return;
    ledger_.Violation(host + " has " + ToString(used) + " granted of " + ToString(ledger_.capacity(host)) + " since " +
                      ToString(granted.container) + " was granted: room was granted twice");
  }

  std::unique_ptr<scheduler::Scheduler> inner_;
  Ledger& ledger_;
  std::map<model::NodeIndex, std::string> hosts_;
  std::map<model::ContainerId, Booked> booked_;
};

}  // namespace

std::unique_ptr<scheduler::Scheduler> Audit(std::unique_ptr<scheduler::Scheduler> inner, Ledger& ledger) {
  return std::make_unique<AuditedScheduler>(std::move(inner), ledger);
}

}  // namespace fairlead::sim
