#pragma once

#include <cstdint>
#include <map>

#include "base/state.h"
#include "base/time.h"
#include "model/ids.h"

namespace fairlead::scheduler::tdw {

/// Numbers sessions so that FIFO's order among equal priorities is that of the numbers: the earlier start, then the
/// name, which is the application's id, as text. Numbers are apart from each other, since a session may come in
/// between.
class SessionRanks {
 public:
  /// True: those of others changed. O(log sessions), and O(sessions) when no number is left where one is needed.
  bool Enter(base::WallTime start, const model::ApplicationId& id);
  void Leave(base::WallTime start, const model::ApplicationId& id) { ranks_.erase({start.ms, id}); }
  /// Of a session that entered. O(log sessions).
  uint32_t Of(base::WallTime start, const model::ApplicationId& id) const { return ranks_.at({start.ms, id}); }
  void Clear() { ranks_.clear(); }
  FL_STATE(ranks_)

 private:
  struct Name {
    int64_t start = 0;
    model::ApplicationId id;
    bool operator<(const Name& other) const;
    FL_STATE(start, id)
  };
  void Renumber();

  std::map<Name, uint32_t> ranks_;
};

}  // namespace fairlead::scheduler::tdw
