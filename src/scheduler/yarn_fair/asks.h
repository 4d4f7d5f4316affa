#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/resources.h"
#include "model/scheduler.h"
#include "scheduler/yarn_fair/java.h"

// What applications ask for: Hadoop's AppSchedulingInfo and LocalityAppPlacementAllocator. Names of places are interned
// and counted, so a master cannot grow the table for ever.

namespace fairlead::scheduler::yarn_fair {

using NameId = uint32_t;

/// Host and rack names and "*" (always kAny), each with its Java hash code.
class Names {
 public:
  static constexpr NameId kAny = 0;
  static constexpr NameId kUnknown = UINT32_MAX;

  Names() { Acquire("*"); }
  /// Adds one use of `name`.
  NameId Acquire(std::string_view name);
  void AddUse(NameId id) { ++entries_[id].uses; }
  /// Drops one use; the last one frees the id.
  void Release(NameId id);
  NameId Find(const std::string& name) const;
  const std::string& Text(NameId id) const { return entries_[id].text; }
  int32_t Hash(NameId id) const { return entries_[id].hash; }

 private:
  struct Entry {
    std::string text;
    int32_t hash = 0;
    uint32_t uses = 0;
  };
  std::vector<Entry> entries_;
  std::vector<NameId> free_;
  std::unordered_map<std::string, NameId> ids_;
};

/// SchedulerRequestKey: smaller priority number first, then smaller allocation request id.
struct RequestKey {
  int32_t priority = 0;
  int64_t id = -1;
  friend auto operator<=>(const RequestKey&, const RequestKey&) = default;
  int32_t JavaHash() const;
};

/// One line of an ask.
struct Request {
  int32_t count = 0;
  bool relax = true;
  model::Resources capability;
};

/// One line that a grant took, for giving it back.
struct TakenRequest {
  NameId name = Names::kAny;
  bool relax = true;
  model::Resources capability;
};

/// What one grant took: its "*" line, below it the lines of rack and host when the grant is that close.
struct Taken {
  uint32_t size = 0;
  std::array<TakenRequest, 3> lines;
};

/// The lines of one request key.
struct Placement {
  java::ConcurrentMap<NameId, Request> requests;
  int32_t any_slot = -1;
  int64_t since_ms = 0;  // first asked for

  const Request* Any() const { return any_slot < 0 ? nullptr : &requests.at(any_slot); }
  int32_t AnyCount() const { return any_slot < 0 ? 0 : requests.at(any_slot).count; }
  int32_t SlotOf(NameId name, const Names& names) const;
  const Request* Of(NameId name, const Names& names) const;
};

/// All lines of one application attempt.
class Asks {
 public:
  struct Line {
    NameId name;
    RequestKey key;
    Request request;
  };
  struct ActiveKey {
    RequestKey key;
    int32_t slot;  // of its placement
  };

  /// AppSchedulingInfo.updateResourceRequests: each line replaces the one of its key and name; `give_back`: it adds one
  /// to it instead. A key is active while its "*" line counts.
  void Update(std::vector<Line> lines, bool give_back, Names& names, int64_t now_ms);

  /// Takes one container off the lines of `key` at `type` for a node (host, rack); gives the lines it took, the
  /// strictest first, for Update(give_back). The caller has checked that the counts are positive.
  Taken Take(const RequestKey& key, model::Locality type, NameId host, NameId rack, Names& names);

  /// Keys with an outstanding "*" line, most urgent first.
  const std::vector<ActiveKey>& active() const { return active_; }
  const Placement& placement(int32_t slot) const { return placements_.at(slot); }
  bool empty() const { return placements_.empty(); }
  size_t keys() const { return placements_.size(); }
  size_t lines() const { return lines_; }
  /// nullptr when the key has no lines.
  const Placement* Find(const RequestKey& key) const;

  /// Calls visit(key, name, request) in the order of AppSchedulingInfo.getAllResourceRequests.
  template <class Visit>
  void ForEach(Visit visit) const {
    placements_.ForEach([&](const RequestKey& key, const Placement& placement) {
      placement.requests.ForEach([&](NameId name, const Request& request) { visit(key, name, request); });
    });
  }

  void Clear(Names& names);

 private:
  void UpdateKey(const RequestKey& key, std::vector<Line>& lines, bool give_back, Names& names, int64_t now_ms);
  void Put(Placement& placement, const Line& line, bool give_back, Names& names);
  void Decrement(Placement& placement, NameId name, Names& names);
  void MergeActive();
  void Deactivate(const RequestKey& key);
  void RemovePlacement(int32_t slot, Names& names);

  size_t lines_ = 0;
  std::vector<ActiveKey> active_;
  java::ConcurrentMap<RequestKey, Placement> placements_;
  std::vector<ActiveKey> activated_;  // by the running Update, merged at its end
  std::vector<RequestKey> deactivated_;
};

}  // namespace fairlead::scheduler::yarn_fair
