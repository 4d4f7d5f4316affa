#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "model/refusal.h"
#include "model/resources.h"
#include "model/scheduler.h"
#include "scheduler/hadoop/ids.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/hadoop/names.h"

// What applications ask for: Hadoop's AppSchedulingInfo and LocalityAppPlacementAllocator.

namespace fairlead::scheduler::hadoop {

/// SchedulerRequestKey: what makes containers larger comes last; smaller priority number first, then smaller allocation
/// request id, then the smaller container.
struct RequestKey {
  int32_t priority = 0;
  int64_t id = -1;
  int32_t grows_attempt = 0;  // of `grows`
  int64_t grows = 0;          // the number of the container that is to become larger; 0: a container of its own
  bool IsGrowth() const { return grows != 0; }
  friend bool operator==(const RequestKey&, const RequestKey&) = default;
  friend std::strong_ordering operator<=>(const RequestKey& a, const RequestKey& b);
  int32_t JavaHash() const;
  FL_STATE(priority, id, grows_attempt, grows)
};

/// One line of an ask.
struct Request {
  int32_t count = 0;
  bool relax = true;
  model::Resources capability;
  PartitionId partition = kNoLabel;  // node label expression
  FL_STATE(count, relax, capability, partition)
};

/// One line that a grant took, for giving it back.
struct TakenRequest {
  NameId name = Names::kAny;
  bool relax = true;
  model::Resources capability;
  PartitionId partition = kNoLabel;
  FL_STATE(name, relax, capability, partition)
};

/// What one grant took: its "*" line, below it the lines of rack and host when the grant is that close.
struct Taken {
  uint32_t size = 0;
  std::array<TakenRequest, 3> lines;
  FL_STATE(size, lines)
};

/// The lines of one request key.
struct KeyLines {
  java::ConcurrentMap<NameId, Request> requests;
  int32_t any_slot = -1;
  int64_t since_ms = 0;  // first asked for

  const Request* Any() const { return any_slot < 0 ? nullptr : &requests.at(any_slot); }
  int32_t AnyCount() const { return any_slot < 0 ? 0 : requests.at(any_slot).count; }
  int32_t SlotOf(NameId name, const Names& names) const;
  const Request* Of(NameId name, const Names& names) const;
  FL_STATE(requests, any_slot, since_ms)
};

/// All lines of one application attempt. Owns a use of each name in them.
class Asks {
 public:
  struct Line {
    NameId name;
    RequestKey key;
    Request request;
  };
  struct ActiveKey {
    RequestKey key;
    int32_t slot;  // of its lines
    FL_STATE(key, slot)
  };

  /// AppSchedulingInfo.updateResourceRequests: each line replaces the one of its key and name; `give_back`: it adds one
  /// to it instead. A key is active while its "*" line counts.
  void Update(std::vector<Line> lines, bool give_back, Names& names, int64_t now_ms);

  /// Whether these lines would be more than one application may have; nothing: they are not.
  model::Refused TooMuch(const std::vector<model::Ask>& wanted, const Names& names) const;

  /// Takes one container off the lines of `key` at `type` for a node (host, rack); gives the lines it took, the
  /// strictest first, for Update(give_back). The caller has checked that the counts are positive.
  Taken Take(const RequestKey& key, model::Locality type, NameId host, NameId rack, Names& names);

  /// Keys with an outstanding "*" line, most urgent first.
  const std::vector<ActiveKey>& active() const { return active_; }
  const KeyLines& of(const ActiveKey& key) const { return keys_.at(key.slot); }
  bool empty() const { return keys_.empty(); }
  size_t keys() const { return keys_.size(); }
  size_t lines() const { return lines_; }
  /// No line is smaller, type by type, nor larger; loose while lines go, exact again once none is left.
  const model::Resources& least() const { return least_; }
  const model::Resources& most() const { return most_; }
  /// nullptr when the key has no lines.
  const KeyLines* Find(const RequestKey& key) const;

  /// Calls visit(key, name, request) in the order of AppSchedulingInfo.getAllResourceRequests.
  template <class Visit>
  void ForEach(Visit visit) const {
    keys_.ForEach([&](const RequestKey& key, const KeyLines& lines) {
      lines.requests.ForEach([&](NameId name, const Request& request) { visit(key, name, request); });
    });
  }

  void Clear(Names& names);
  /// Recomputes what is kept beside the lines; empty when all agree.
  std::string Check() const;
  void Mix(base::StateHasher& hash, const Names& names) const;
  FL_STATE(lines_, least_, most_, active_, keys_, activated_, deactivated_)

 private:
  void UpdateKey(const RequestKey& key, std::vector<Line>& lines, bool give_back, Names& names, int64_t now_ms);
  void Put(KeyLines& lines, const Line& line, bool give_back, Names& names);
  void Decrement(KeyLines& lines, NameId name, Names& names);
  void MergeActive();
  void Deactivate(const RequestKey& key);
  void RemoveKey(int32_t slot, Names& names);

  size_t lines_ = 0;
  model::Resources least_;
  model::Resources most_;
  std::vector<ActiveKey> active_;
  java::ConcurrentMap<RequestKey, KeyLines> keys_;
  std::vector<ActiveKey> activated_;  // by the running Update, merged at its end
  std::vector<RequestKey> deactivated_;
};

}  // namespace fairlead::scheduler::hadoop
