#include <utility>

#include "base/stored.h"
#include "process/rm/learning.h"
#include "process/rm/resource_manager.h"

// Hosts that operators take out of service here, beside the lists of Hadoop's files: graceful decommissioning in both
// cases, so that Hadoop's tools show what they know.

namespace fairlead::process::rm {

namespace m = model::rm;

base::Result<m::RefreshNodes> ResourceManager::HostLists() const {
  m::RefreshNodes lists;
  if (options_.host_lists) {
    base::Result<m::RefreshNodes> read = options_.host_lists();
    if (!read.ok()) return read;
    lists = std::move(*read);
  }
  for (const auto& [host, drained] : drained_) {
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

base::Status ResourceManager::LoadDrained(StoredState& state) {
  if (!store_ || !options_.recovery) return {};
  const auto orders = env::LoadRecords<DrainOrder>(*store_, kDrainOrderTable, &state.unread);
  if (!orders.ok()) return orders.error();
  for (const auto& [host, given] : state.started.draining) drained_[host].seconds = given;
  for (const auto& [host, order] : *orders) {
    if (const auto found = drained_.find(host); found != drained_.end()) found->second.order = order;
  }
  if (base::Status loaded = maintenance_.Load(*store_, state.unread); !loaded.ok()) return loaded;
  state.started.windows = maintenance_.Ahead();
  return {};
}

Maintenance::Outside ResourceManager::OfMaintenance() {
  return {[this](std::vector<env::Row> rows, std::function<void()> stored) {
            StoreForCertain(std::move(rows), std::move(stored));
          },
          [this](bool first, DrainDone done) { RefreshHosts(first, std::move(done)); },
          [this](const std::string& host, const Maintenance::Window& window, bool begins) {
            const std::string what = begins ? " begins, as ordered" : " is over, as ordered";
            NoteAction(window.user, window.peer, "the maintenance of host " + host + what, {}, "", host);
          }};
}

void ResourceManager::RefreshHosts(bool runs, DrainDone done) {
  base::Result<m::RefreshNodes> lists = HostLists();
  if (!lists.ok()) {
    Warn(lists.error().message);
    return done(lists.error());
  }
  lists->graceful = true;
  if (runs) lists->runs = learning_->Share()->Rows();
  Ask(std::move(*lists), [done = std::move(done)](const m::OuterEffect&) { done({}); });
}

void ResourceManager::DrainHost(const std::string& host, std::optional<int64_t> seconds, const std::string& by,
                                DrainDone done) {
  const auto refresh = [this, done = std::move(done)] { RefreshHosts(false, done); };
  std::optional<std::string> value, order;
  if (seconds) {
    const Drained& drained = drained_[host] = {*seconds, {loop_.Wall().ms, by}};
    value = base::EncodeStored(drained.seconds);
    order = base::EncodeStored(drained.order);
  } else {
    drained_.erase(host);
  }
  StoreForCertain({{kDrainingTable, host, std::move(value)}, {kDrainOrderTable, host, std::move(order)}}, refresh);
}

void ResourceManager::NoteAction(const std::string& user, const std::string& peer, const std::string& what,
                                 model::ApplicationId app, const std::string& queue, const std::string& node) {
  Happening happening;
  happening.at = loop_.Wall();
  happening.kind = HappeningKind::kAction;
  happening.app = app;
  happening.queue = queue;
  happening.node = node;
  happening.detail = what + " by " + user + " from " + peer;
  if (options_.on_action) options_.on_action(happening.detail);
  lately_.Add(std::move(happening));
}

void ResourceManager::NoteKill(const std::string& user, const std::string& peer, const fairlead::rm::App& app) {
  const model::ApplicationId& id = app.submission.id;
  NoteAction(user, peer, ToString(id) + " is killed", id, app.submission.queue, "");
}

void ResourceManager::NoteMove(const std::string& user, const std::string& peer, const model::ApplicationId& id) {
  const fairlead::rm::App* app = core().FindApp(id);
  const std::string queue = app ? app->submission.queue : "";
  NoteAction(user, peer, ToString(id) + " is moved to " + queue, id, queue, "");
}

void ResourceManager::NotePriority(const std::string& user, const std::string& peer, const model::ApplicationId& id,
                                   int32_t now) {
  const fairlead::rm::App* app = core().FindApp(id);
  NoteAction(user, peer, "the priority of " + ToString(id) + " becomes " + std::to_string(now), id,
             app ? app->submission.queue : "", "");
}

}  // namespace fairlead::process::rm
