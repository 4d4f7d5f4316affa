#include "process/rm/maintenance.h"

#include <algorithm>
#include <utility>

#include "base/stored.h"

namespace fairlead::process::rm {

namespace {

constexpr base::Duration kLongestSleep = base::Duration::Seconds(60);

}  // namespace

base::Status Maintenance::Load(env::Store& store, std::vector<env::UnreadRow>& unread) {
  auto rows = env::LoadRecords<Windows>(store, kTable, &unread);
  if (!rows.ok()) return rows.error();
  hosts_ = {std::make_move_iterator(rows->begin()), std::make_move_iterator(rows->end())};
  return {};
}

void Maintenance::Start() {
  now_ = Now();
  Look();
}

std::vector<model::rm::HostWindow> Maintenance::Ahead() const {
  std::vector<model::rm::HostWindow> ahead;
  for (const auto& [host, windows] : hosts_) {
    for (const Window& one : windows.all) {
      if (one.until_ms > loop_.Wall().ms) ahead.push_back({host, {one.from_ms}, {one.until_ms}});
    }
  }
  return ahead;
}

std::vector<std::string> Maintenance::Now() const {
  std::vector<std::string> now;
  const int64_t wall = loop_.Wall().ms;
  for (const auto& [host, windows] : hosts_) {
    const bool in = std::any_of(windows.all.begin(), windows.all.end(),
                                [&](const Window& one) { return one.from_ms <= wall && wall < one.until_ms; });
    if (in) now.push_back(host);
  }
  return now;
}

env::Row Maintenance::RowOf(const std::string& host) const {
  const auto found = hosts_.find(host);
  if (found == hosts_.end()) return {kTable, host, std::nullopt};
  return {kTable, host, base::EncodeStored(found->second)};
}

void Maintenance::Add(const std::string& host, Window window, Done done) {
  const int64_t wall = loop_.Wall().ms;
  if (window.until_ms <= wall) return done(base::Error{"this maintenance would be over by now"});
  if (window.until_ms <= window.from_ms || window.until_ms - window.from_ms > kLongestMs) {
    return done(base::Error{"a maintenance window lasts from 1 ms to 30 days"});
  }
  if (window.from_ms - wall > kFarthestMs) return done(base::Error{"a maintenance window begins within 366 days"});
  if (window.from_ms < wall - kLongestSleep.millis()) {
    return done(
        base::Error{"a maintenance window begins now or later; what is to be drained now is drained without one"});
  }
  if (const base::Status free = CheckFree(host, window); !free.ok()) return done(free);
  const bool first = hosts_.empty();
  std::vector<Window>& all = hosts_[host].all;
  const auto after = std::upper_bound(all.begin(), all.end(), window.from_ms,
                                      [](int64_t from, const Window& one) { return from < one.from_ms; });
  all.insert(after, std::move(window));
  outside_.store({RowOf(host)}, [this, first, done = std::move(done)] { Refresh(first, done); });
}

base::Status Maintenance::CheckFree(const std::string& host, const Window& window) const {
  const auto found = hosts_.find(host);
  if (found == hosts_.end()) return {};
  const std::vector<Window>& all = found->second.all;
  if (all.size() == kMostOfHost) {
    return base::Error{host + " has " + std::to_string(kMostOfHost) + " maintenance windows, and takes no more"};
  }
  const bool over = std::any_of(all.begin(), all.end(), [&](const Window& one) {
    return one.from_ms < window.until_ms && window.from_ms < one.until_ms;
  });
  if (over) return base::Error{host + " has a maintenance window then already; cancel that first"};
  return {};
}

/// The lists of hosts are read again. Where they cannot be, Look tries again.
void Maintenance::Refresh(bool first, Done done) {
  std::vector<std::string> now = Now();
  outside_.refresh(first, [this, now = std::move(now), done = std::move(done)](const base::Status& status) {
    stale_ = !status.ok();
    if (status.ok()) now_ = now;
    done(status);
  });
  Arm();
}

void Maintenance::Cancel(const std::string& host, Done done) {
  if (hosts_.erase(host) == 0) return done(base::Error{"no maintenance of " + host + " is announced"});
  outside_.store({RowOf(host)}, [this, done = std::move(done)] { Refresh(false, done); });
}

/// Tells who begins and ends, and forgets windows that have ended.
void Maintenance::Look() {
  const int64_t wall = loop_.Wall().ms;
  std::vector<env::Row> rows;
  for (auto at = hosts_.begin(); at != hosts_.end();) {
    const std::string host = at->first;
    const size_t ended = std::erase_if(at->second.all, [&](const Window& one) {
      if (one.until_ms > wall) return false;
      outside_.tell(host, one, false);
      return true;
    });
    at = at->second.all.empty() ? hosts_.erase(at) : std::next(at);
    if (ended > 0) rows.push_back(RowOf(host));
  }
  const std::vector<std::string> now = Now();
  for (const std::string& host : now) {
    const bool told = stale_ || std::binary_search(now_.begin(), now_.end(), host);
    if (!told) outside_.tell(host, hosts_.at(host).all.front(), true);
  }
  const bool others = stale_ || now != now_ || !rows.empty();
  if (!rows.empty()) outside_.store(std::move(rows), [] {});
  others ? Refresh(false, [](const base::Status&) {}) : Arm();
}

void Maintenance::Arm() {
  const int64_t wall = loop_.Wall().ms;
  int64_t next = INT64_MAX;
  for (const auto& [host, windows] : hosts_) {
    for (const Window& one : windows.all) {
      for (const int64_t at : {one.from_ms, one.until_ms}) {
        if (at > wall) next = std::min(next, at);
      }
    }
  }
  if (next == INT64_MAX && !stale_) return timer_.Stop();
  const int64_t sleep_ms = std::min(next - wall, kLongestSleep.millis());
  timer_.After(base::Duration::Millis(sleep_ms), [this] { Look(); });
}

}  // namespace fairlead::process::rm
