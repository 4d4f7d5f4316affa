#pragma once

#include <string>
#include <string_view>

#include "scheduler/pass_records.h"
#include "scheduler/yarn_capacity/books.h"

namespace fairlead::scheduler::yarn_capacity {

/// Writes down what a pass looks at, with Hadoop's words, where somebody asked for it; else nothing (ActivitiesLogger).
class Recording {
 public:
  explicit Recording(const Books& books) : books_(books), records_(books.records) {}
  bool on() const { return records_ != nullptr && records_->open(); }

  void OfQueue(const Queue& queue, ActivityState state, std::string_view why = "") const;
  void OfApp(AttemptId attempt, ActivityState state, std::string_view why) const;
  /// The application's record follows, without a reason.
  void OfRequest(AttemptId attempt, const RequestKey& key, ActivityState state, std::string_view why) const;
  /// Of the node that is looked at; the request's record follows. `container`: that it gave; empty: none.
  void OfNode(AttemptId attempt, const RequestKey& key, ActivityState state, std::string_view why,
              std::string container = "") const;
  void Finish(AttemptOutcome outcome, const std::string& container = "") const;

 private:
  const Books& books_;
  PassRecords* records_;
};

}  // namespace fairlead::scheduler::yarn_capacity
