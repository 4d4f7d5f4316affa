#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scheduler/pass_records.h"
#include "scheduler/yarn_capacity/books.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"

namespace fairlead::scheduler::yarn_capacity {

/// The state machine behind MakeYarnCapacity: takes events to the files of their subject.
class Core final : public YarnCapacityScheduler {
 public:
  explicit Core(Books books) : books_(std::move(books)) {}

  void Step(base::Instant now, std::span<const model::scheduler::Event> events, EffectSink& out) override;
  base::Instant NextDeadline() const override;
  std::string CheckInvariants() const override;
  uint64_t StateHash() const override;
  std::unique_ptr<Scheduler> Fork() const override;
  std::string State() const override;
  bool ReadState(std::string_view bytes) override;
  View GetView() const override;
  View GetQueues() const override;
  int64_t PendingContainers(model::AppIndex app) const override;
  std::vector<model::scheduler::Pending> Why(model::AppIndex app, base::Instant now) const override;
  Resources FreeOf(model::NodeIndex node) const override;
  CapacityAppView GetApp(model::AppIndex app) const override;
  std::string DefaultLabelOf(const std::string& queue) const override;
  PassRecords* passes() const override { return &records_; }

 private:
  void RunPass(model::scheduler::PassKind kind);
  void RunDuePasses();
  void FinishEvent();

  Books books_;
  mutable PassRecords records_;  // readers ask for passes
};

}  // namespace fairlead::scheduler::yarn_capacity
