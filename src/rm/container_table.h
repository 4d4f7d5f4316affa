#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/prefetch.h"
#include "model/ids.h"
#include "model/rm.h"

namespace fairlead::rm {

using InWaitingGrants = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

/// One container from grant to end. While it waits for its launch it is in the list of those; it leaves the list when
/// it is destroyed.
struct Container : InWaitingGrants {
  model::ContainerId id;
  model::rm::ContainerState state = model::rm::ContainerState::kAllocated;
  bool is_master = false;
  bool launched = false;           // its node has reported it
  bool reported_complete = false;  // its node has reported the end
  model::NodeIndex node;
  model::NodeIndex remembered_by;  // of the reported end, as UntoldEnd has it
  int32_t exit_status = model::kExitInvalid;
  base::Instant expires;  // while it waits for its launch
  base::WallTime created;
  base::WallTime launched_at;
  int32_t version = 0;
  int32_t priority = 0;
  int64_t allocation_request_id = -1;
  model::Resources resources;
  std::string diagnostics;

  bool waits() const { return is_linked(); }
  void StopWaiting() {
    if (is_linked()) unlink();
  }
};

/// Grants that nobody has launched, oldest first: the time to expire is the same for all.
using WaitingGrants = boost::intrusive::list<Container, boost::intrusive::constant_time_size<false>>;

/// An application's live containers by id. Each is looked up half a dozen times in its life, mostly long after the last
/// time: a table of hashes and pointers (open addressing, linear probing, half full at most) costs two places in
/// memory. Containers stay where they are while they live; nothing is decided by their order.
class ContainerTable {
 public:
  /// Null when it is not there.
  Container* Find(const model::ContainerId& id) { return const_cast<Container*>(std::as_const(*this).Find(id)); }
  const Container* Find(const model::ContainerId& id) const {
    return size_ == 0 ? nullptr : entries_[PlaceOf(id)].container.get();
  }
  bool Contains(const model::ContainerId& id) const { return Find(id) != nullptr; }

  /// Where Find begins to look.
  void PrefetchEntry(const model::ContainerId& id) const {
    if (size_ > 0) base::Prefetch(&entries_[Home(HashOf(id))]);
  }
  /// What stands there, perhaps the container of that id.
  void PrefetchContainer(const model::ContainerId& id) const {
    if (size_ > 0) base::Prefetch(entries_[Home(HashOf(id))].container.get(), sizeof(Container));
  }

  /// Null when one with that id is there.
  Container* Add(Container container) {
    if (Find(container.id)) return nullptr;
    if (2 * (size_ + 1) > entries_.size()) Grow();
    ++size_;
    return Put({HashOf(container.id), std::make_unique<Container>(std::move(container))});
  }

  /// Takes it out; null when it is not there.
  std::unique_ptr<Container> Take(const model::ContainerId& id) {
    if (size_ == 0) return nullptr;
    const size_t place = PlaceOf(id);
    std::unique_ptr<Container> taken = std::move(entries_[place].container);
    if (!taken) return nullptr;
    --size_;
    Close(place);
    return taken;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.container) visit(std::as_const(*entry.container));
    }
  }
  template <class Visit>
  void ForEach(Visit visit) {
    for (Entry& entry : entries_) {
      if (entry.container) visit(*entry.container);
    }
  }

 private:
  struct Entry {
    uint32_t hash = 0;
    std::unique_ptr<Container> container;
  };

  // Numbers of one attempt follow each other.
  static uint32_t HashOf(const model::ContainerId& id) {
    const uint64_t mixed =
        (static_cast<uint64_t>(id.value) + (static_cast<uint64_t>(id.attempt.attempt) << 32)) * 0x9fb21c651e98df25;
    return static_cast<uint32_t>(mixed >> 32);
  }
  size_t Home(uint32_t hash) const { return hash & (entries_.size() - 1); }
  size_t Next(size_t at) const { return (at + 1) & (entries_.size() - 1); }

  /// Where it stands, else the gap at which the search for it ends. There is a gap: the table is not empty.
  size_t PlaceOf(const model::ContainerId& id) const {
    const uint32_t hash = HashOf(id);
    size_t at = Home(hash);
    while (entries_[at].container && (entries_[at].hash != hash || entries_[at].container->id != id)) at = Next(at);
    return at;
  }

  Container* Put(Entry entry) {
    size_t at = Home(entry.hash);
    while (entries_[at].container) at = Next(at);
    entries_[at] = std::move(entry);
    return entries_[at].container.get();
  }

  void Grow() {
    std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries_.empty() ? 2 : 2 * entries_.size()));
    for (Entry& entry : old) {
      if (entry.container) Put(std::move(entry));
    }
  }

  /// Entries behind a gap move up unless their home lies between.
  void Close(size_t gap) {
    for (size_t at = Next(gap); entries_[at].container; at = Next(at)) {
      const size_t mask = entries_.size() - 1;
      const size_t from_home = (at - Home(entries_[at].hash)) & mask;
      if (from_home < ((at - gap) & mask)) continue;
      entries_[gap] = std::move(entries_[at]);
      gap = at;
    }
  }

  std::vector<Entry> entries_;  // a power of two of them
  size_t size_ = 0;
};

}  // namespace fairlead::rm
