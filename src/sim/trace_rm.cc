#include "sim/trace_rm.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace fairlead::sim {

namespace mr = model::rm;
namespace ms = model::scheduler;

namespace {

constexpr int64_t kTimestamp = 1;  // of application ids, as TraceRun makes them
constexpr base::Duration kNever = base::Duration::Seconds(100LL * 365 * 24 * 3600);

/// Traces ask for what they ask for: no rounding, no cap but the nodes themselves, as many attempts as it takes.
fairlead::rm::Config RmConfig() {
  fairlead::rm::Config config;
  config.max_attempts = config.global_max_attempts = INT32_MAX;
  config.master_expiry = config.node_expiry = config.grant_expiry = kNever;
  config.minimum = {};
  config.increment = {};
  for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) config.maximum[type] = INT64_MAX / 4;
  config.node_labels = true;
  return config;
}

}  // namespace

/// Hands on, keeps a copy of what is decided, and leaves jobs in the queues that the trace names.
class RmTarget::Tap final : public scheduler::Scheduler {
 public:
  Tap(std::unique_ptr<scheduler::Scheduler> scheduler, std::vector<ms::Effect>& decided)
      : scheduler_(std::move(scheduler)), decided_(decided) {}

  void Step(base::Instant now, std::span<const ms::Event> events, scheduler::EffectSink& out) override {
    const size_t before = out.size();
    const auto arrives = [](const ms::Event& event) { return std::holds_alternative<ms::AppAdded>(event); };
    if (std::any_of(events.begin(), events.end(), arrives)) {
      std::vector<ms::Event> placed(events.begin(), events.end());
      for (ms::Event& event : placed) {
        if (auto* added = std::get_if<ms::AppAdded>(&event)) added->place = false;
      }
      scheduler_->Step(now, placed, out);
    } else {
      scheduler_->Step(now, events, out);
    }
    decided_.insert(decided_.end(), out.begin() + static_cast<ptrdiff_t>(before), out.end());
  }
  base::Instant NextDeadline() const override { return scheduler_->NextDeadline(); }
  std::string CheckInvariants() const override { return scheduler_->CheckInvariants(); }
  uint64_t StateHash() const override { return scheduler_->StateHash(); }
  std::unique_ptr<scheduler::Scheduler> Fork() const override { return scheduler_->Fork(); }
  scheduler::View GetView() const override { return scheduler_->GetView(); }
  std::vector<ms::Pending> Why(model::AppIndex app, base::Instant now) const override {
    return scheduler_->Why(app, now);
  }

 private:
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::vector<ms::Effect>& decided_;
};

RmTarget::RmTarget(std::unique_ptr<scheduler::Scheduler> scheduler)
    : machine_(RmConfig(), std::make_unique<Tap>(std::move(scheduler), decided_)) {
  mr::Started started;
  started.cluster_timestamp = kTimestamp;
  batch_.push_back(started);
  Flush();
}

RmTarget::~RmTarget() = default;

void RmTarget::Step(base::Instant now, std::span<const ms::Event> events, scheduler::EffectSink& out) {
  now_ = now;
  // A master unregisters before its process ends.
  for (const ms::Event& event : events) {
    if (const auto* removed = std::get_if<ms::AppRemoved>(&event)) Finish(removed->app);
  }
  for (const ms::Event& event : events) {
    std::visit([this](const auto& one) { On(one); }, event);
  }
  Flush();
  std::move(decided_.begin(), decided_.end(), std::back_inserter(out));
  decided_.clear();
}

void RmTarget::Flush() {
  do {
    ++batches_;
    effects_.clear();
    machine_.Step(now_, base::WallTime{now_.ns / 1'000'000}, batch_, effects_);
    TakeBack();
    batch_.clear();
    for (const mr::OuterEffect& effect : effects_) {
      std::visit([this](const auto& one) { Answer(one); }, effect);
    }
  } while (!batch_.empty());
}

void RmTarget::TakeBack() {
  for (const Lent& lent : lent_) {
    std::vector<mr::NodeContainer>& containers = std::get<mr::Heartbeat>(batch_[lent.position]).containers;
    containers.resize(lent.count);
    nodes_[lent.node].running = std::move(containers);
  }
  lent_.clear();
}

// What the machine waits for.

void RmTarget::Answer(const mr::Persist& effect) { batch_.push_back(mr::Persisted{effect.txn, true, ""}); }

void RmTarget::Answer(const mr::LaunchMaster& effect) {
  batch_.push_back(mr::MasterLaunched{effect.attempt, ""});
  mr::RegisterMaster call;
  call.call = ++calls_;
  call.attempt = effect.attempt;
  call.host = effect.container.address.host;
  batch_.push_back(std::move(call));
}

void RmTarget::Answer(const mr::CallRefused& effect) {
  decided_.push_back(ms::CallFailed{effect.exception, effect.message});
}

// Nodes.

void RmTarget::On(const ms::NodeAdded& event) {
  FL_CHECK(event.node.value == nodes_.size(), "the rm core numbers nodes in order");
  nodes_.emplace_back();
  nodes_.back().address = {event.host, event.port};
  mr::RegisterNode call;
  call.call = ++calls_;
  call.address = nodes_.back().address;
  call.rack = event.rack;
  call.capacity = event.capacity;
  call.labels = event.labels;
  batch_.push_back(std::move(call));
}

void RmTarget::On(const ms::NodeRemoved& event) {
  if (nodes_[event.node.value].batch == batches_) Flush();
  batch_.push_back(mr::UnregisterNode{++calls_, nodes_[event.node.value].address});
  nodes_[event.node.value].running.clear();
}

void RmTarget::On(const ms::NodeUpdated& event) {
  Node& node = nodes_[event.node.value];
  if (node.batch == batches_) Flush();
  node.batch = batches_;
  const fairlead::rm::Node* known = machine_.core().NodeAt(event.node);
  mr::Heartbeat call;
  call.call = ++calls_;
  call.address = node.address;
  call.response_id = known ? known->response_id : 0;  // it registers in this very batch
  for (const model::ContainerId& id : event.launched) node.running.emplace_back().id = id;
  for (const ms::Completion& completion : event.completed) {
    std::erase_if(node.running, [&](const mr::NodeContainer& one) { return one.id == completion.container; });
  }
  lent_.push_back({batch_.size(), event.node.value, node.running.size()});
  call.containers = std::move(node.running);
  for (const ms::Completion& completion : event.completed) {
    mr::NodeContainer& ended = call.containers.emplace_back();
    ended.id = completion.container;
    ended.state = mr::NodeContainerState::kComplete;
    ended.exit_status = completion.exit_status;
  }
  batch_.push_back(std::move(call));
}

// Jobs and their masters.

void RmTarget::On(const ms::AppAdded& event) {
  mr::Submit call;
  call.call = ++calls_;
  call.submission.id = event.id;
  call.submission.user = event.user;
  call.submission.groups = event.groups;
  call.submission.queue = event.queue;
  call.submission.priority = event.priority;
  call.submission.master_asks = event.master_asks;
  batch_.push_back(std::move(call));
}

const fairlead::rm::Attempt* RmTarget::Registered(model::AppIndex index) const {
  const fairlead::rm::App* app = machine_.core().AppAt(index);
  const fairlead::rm::Attempt* attempt = app ? app->current() : nullptr;
  return attempt && attempt->known && attempt->response_id >= 0 ? attempt : nullptr;
}

/// What follows the beginning of an attempt is the ask for its master's container, which the rm core makes itself.
void RmTarget::On(const ms::Allocate& event) {
  if (std::exchange(beginning_, std::nullopt) == event.app) return;
  if (const fairlead::rm::Attempt* attempt = Registered(event.app)) Call(*attempt, event);
}

/// Grants that no call has taken along yet: the master's next heartbeat fetches them.
void RmTarget::On(const ms::Acquired& event) {
  const fairlead::rm::Attempt* attempt = Registered(event.app);
  const bool waits =
      attempt && std::any_of(event.containers.begin(), event.containers.end(), [&](const model::ContainerId& id) {
        const fairlead::rm::Container* container = machine_.core().FindContainer(id);
        return container && container->state == mr::ContainerState::kAllocated;
      });
  if (!waits) return;
  ms::Allocate nothing;
  nothing.app = event.app;
  Call(*attempt, nothing);
}

void RmTarget::Call(const fairlead::rm::Attempt& attempt, const ms::Allocate& what) {
  if (called_batch_.size() <= what.app.value) called_batch_.resize(what.app.value + 1);
  uint64_t& called = called_batch_[what.app.value];
  if (called == batches_) Flush();  // a master waits for its answer before it calls again
  called = batches_;
  mr::AllocateCall call;
  call.call = ++calls_;
  call.attempt = attempt.id;
  call.response_id = attempt.response_id;
  call.asks = what.asks;
  call.releases = what.releases;
  batch_.push_back(std::move(call));
}

void RmTarget::Finish(model::AppIndex app) {
  const fairlead::rm::Attempt* attempt = Registered(app);
  FL_CHECK(attempt, "a job that ends has a master");
  mr::FinishMaster call;
  call.call = ++calls_;
  call.attempt = attempt->id;
  call.final_status = mr::FinalStatus::kSucceeded;
  batch_.push_back(std::move(call));
}

}  // namespace fairlead::sim
