#include "process/rm/draining.h"

#include <utility>

#include "base/stored.h"

namespace fairlead::process::rm {

namespace m = model::rm;

Draining::Draining(env::Loop& loop, Batches& batches, const Learning& learning, Outside outside)
    : loop_(loop),
      batches_(batches),
      learning_(learning),
      outside_(std::move(outside)),
      maintenance_(loop, {batches.Storing(), [this](bool first, Done done) { Refresh(first, std::move(done)); },
                          outside_.tell}) {}

base::Result<m::RefreshNodes> Draining::HostLists() const {
  m::RefreshNodes lists;
  if (outside_.host_lists) {
    base::Result<m::RefreshNodes> read = outside_.host_lists();
    if (!read.ok()) return read;
    lists = std::move(*read);
  }
  for (const auto& [host, drained] : hosts_) {
    lists.exclude.push_back(host);
    lists.timeouts_s[host] = drained.seconds;
  }
  lists.windows = maintenance_.Ahead();
  for (const std::string& host : maintenance_.Now()) {
    lists.exclude.push_back(host);
    lists.timeouts_s.try_emplace(host, -1);
  }
  return lists;
}

base::Status Draining::Load(env::Store& store, StoredState& state) {
  const auto orders = env::LoadRecords<Order>(store, kOrderTable, &state.unread);
  if (!orders.ok()) return orders.error();
  for (const auto& [host, given] : state.started.draining) hosts_[host].seconds = given;
  for (const auto& [host, order] : *orders) {
    if (const auto found = hosts_.find(host); found != hosts_.end()) found->second.order = order;
  }
  if (base::Status loaded = maintenance_.Load(store, state.unread); !loaded.ok()) return loaded;
  state.started.windows = maintenance_.Ahead();
  return {};
}

void Draining::Refresh(bool runs, Done done) {
  base::Result<m::RefreshNodes> lists = HostLists();
  if (!lists.ok()) {
    outside_.warn(lists.error().message);
    return done(lists.error());
  }
  lists->graceful = true;
  if (runs) lists->runs = learning_.Share()->Rows();
  batches_.Ask(std::move(*lists), [done = std::move(done)](const m::OuterEffect&) { done({}); });
}

void Draining::Drain(const std::string& host, std::optional<int64_t> seconds, const std::string& by, Done done) {
  const auto refresh = [this, done = std::move(done)] { Refresh(false, done); };
  std::optional<std::string> value, order;
  if (seconds) {
    const Drained& drained = hosts_[host] = {*seconds, {loop_.Wall().ms, by}};
    value = base::EncodeStored(drained.seconds);
    order = base::EncodeStored(drained.order);
  } else {
    hosts_.erase(host);
  }
  batches_.StoreForCertain({{kTable, host, std::move(value)}, {kOrderTable, host, std::move(order)}}, refresh);
}

}  // namespace fairlead::process::rm
