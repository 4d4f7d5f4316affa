#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/open_table.h"
#include "base/prefetch.h"
#include "base/state.h"
#include "model/ids.h"
#include "model/rm.h"
#include "rm/owned.h"

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
  FL_STATE_PART(id, state, is_master, launched, reported_complete, node, remembered_by, exit_status, expires, created,
                launched_at, version, priority, allocation_request_id, resources, diagnostics)
};

/// Grants that nobody has launched, oldest first: the time to expire is the same for all.
using WaitingGrants = boost::intrusive::list<Container, boost::intrusive::constant_time_size<false>>;

/// An application's live containers by id. Each is looked up half a dozen times in its life, mostly long after the last
/// time: a table of hashes and pointers costs two places in memory. Containers stay where they are while they live;
/// nothing is decided by their order.
class ContainerTable {
 public:
  /// Null when it is not there.
  Container* Find(const model::ContainerId& id) { return const_cast<Container*>(std::as_const(*this).Find(id)); }
  const Container* Find(const model::ContainerId& id) const {
    const auto* found = table_.Find(HashOf(id), Is{id});
    return found ? found->get() : nullptr;
  }
  bool Contains(const model::ContainerId& id) const { return Find(id) != nullptr; }

  /// Where Find begins to look.
  void PrefetchEntry(const model::ContainerId& id) const { table_.Prefetch(HashOf(id)); }
  /// What stands there, perhaps the container of that id.
  void PrefetchContainer(const model::ContainerId& id) const {
    if (const auto* first = table_.AtHome(HashOf(id))) base::Prefetch(first->get(), sizeof(Container));
  }

  /// Null when one with that id is there.
  Container* Add(Container container) {
    if (Find(container.id)) return nullptr;
    const uint32_t hash = HashOf(container.id);
    return table_.Add(hash, std::make_unique<Container>(std::move(container))).get();
  }
  /// Takes it out; null when it is not there.
  Owned<Container> Take(const model::ContainerId& id) { return table_.Take(HashOf(id), Is{id}); }

  size_t size() const { return table_.size(); }
  bool empty() const { return size() == 0; }
  template <class Visit>
  void ForEach(Visit visit) const {
    table_.ForEach([&](const auto& container) { visit(std::as_const(*container)); });
  }
  template <class Visit>
  void ForEach(Visit visit) {
    table_.ForEach([&](const auto& container) { visit(*container); });
  }
  FL_STATE(table_)

 private:
  struct Is {
    const model::ContainerId& id;
    bool operator()(const Owned<Container>& container) const { return container->id == id; }
  };
  // Numbers of one attempt follow each other.
  static uint32_t HashOf(const model::ContainerId& id) {
    const uint64_t mixed =
        (static_cast<uint64_t>(id.value) + (static_cast<uint64_t>(id.attempt.attempt) << 32)) * 0x9fb21c651e98df25;
    return static_cast<uint32_t>(mixed >> 32);
  }

  // Most applications have few containers.
  base::OpenTable<Owned<Container>, nullptr, 2> table_;
};

}  // namespace fairlead::rm
