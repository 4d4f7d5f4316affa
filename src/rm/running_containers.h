#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/prefetch.h"
#include "base/state.h"
#include "model/ids.h"

namespace fairlead::rm {

/// The containers that a node runs, as it says: launched and not ended. A heartbeat reports every one of them, so
/// they lie in one sorted array, and one that is known and still its application's costs a look at its place only.
class RunningContainers {
 public:
  /// Before the containers of a heartbeat.
  void BeginReport() {
    ++report_;
    reported_ = 0;
  }

  /// The node reports `id`: true if it is known here and has not ended for the resource manager, so that nothing
  /// else is to be done about it.
  bool Report(const model::ContainerId& id) {
    // Nodes report in the order of ids, mostly.
    const bool next = next_ < entries_.size() && entries_[next_].id == id;
    const size_t at = next ? next_ : Place(id);
    if (at == entries_.size() || entries_[at].id != id) return false;
    next_ = at + 1;
    if (entries_[at].report != report_) ++reported_;
    entries_[at].report = report_;
    return !entries_[at].over;
  }

  /// What the last report left out; it is forgotten here.
  std::vector<model::ContainerId> TakeUnreported() {
    std::vector<model::ContainerId> missing;
    if (reported_ == entries_.size()) return missing;
    for (const Entry& entry : entries_) {
      if (entry.report != report_) missing.push_back(entry.id);
    }
    if (!missing.empty()) std::erase_if(entries_, [this](const Entry& entry) { return entry.report != report_; });
    return missing;
  }

  void Insert(const model::ContainerId& id) {
    const size_t at = Place(id);
    if (at < entries_.size() && entries_[at].id == id) return;
    entries_.insert(entries_.begin() + static_cast<ptrdiff_t>(at), {id, report_, false});
    ++reported_;
  }

  void Erase(const model::ContainerId& id) {
    const size_t at = Place(id);
    if (at == entries_.size() || entries_[at].id != id) return;
    if (entries_[at].report == report_) --reported_;
    entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(at));
  }

  /// It has ended for the resource manager; its node has still to say so.
  void MarkOver(const model::ContainerId& id) {
    const size_t at = Place(id);
    if (at < entries_.size() && entries_[at].id == id) entries_[at].over = true;
  }

  void Clear() {
    entries_.clear();
    reported_ = 0;
  }
  void Prefetch() const { base::Prefetch(entries_.data(), entries_.size() * sizeof(Entry)); }
  bool empty() const { return entries_.empty(); }

  /// In the order of ids.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const Entry& entry : entries_) visit(entry.id, entry.over);
  }
  FL_STATE(entries_, report_, reported_, next_)

 private:
  struct Entry {
    model::ContainerId id;
    uint32_t report = 0;  // the last one it was in
    bool over = false;
    FL_STATE(id, report, over)
  };

  size_t Place(const model::ContainerId& id) const {
    const auto at =
        std::lower_bound(entries_.begin(), entries_.end(), id,
                         [](const Entry& entry, const model::ContainerId& wanted) { return entry.id < wanted; });
    return static_cast<size_t>(at - entries_.begin());
  }

  std::vector<Entry> entries_;
  uint32_t report_ = 0;
  size_t reported_ = 0;  // entries that are in the last one
  size_t next_ = 0;
};

}  // namespace fairlead::rm
