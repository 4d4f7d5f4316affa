#include "nm/resource_cache.h"

#include <algorithm>

#include "base/codec.h"

namespace fairlead::nm {

using model::nm::Visibility;

ResourceCache::Key ResourceCache::KeyOf(const model::nm::ResourceRecord& record) {
  const model::nm::LocalResource& r = record.resource;
  return {r.url, r.timestamp_ms, r.type, r.pattern, r.visibility, record.user, record.app};
}

ResourceCache::Request ResourceCache::Acquire(const model::nm::LocalResource& resource, const std::string& user,
                                              const model::ApplicationId& app, const model::ContainerId& container) {
  Entry fresh;
  fresh.record.resource = resource;
  fresh.record.resource.link.clear();
  if (resource.visibility != Visibility::kPublic) fresh.record.user = user;
  if (resource.visibility == Visibility::kApplication) fresh.record.app = app;
  const auto [at, is_new] = by_key_.try_emplace(KeyOf(fresh.record), next_);
  if (is_new) {
    fresh.record.number = next_;
    entries_.emplace(next_++, std::move(fresh));
  }
  Entry& entry = entries_.at(at->second);
  entry.users.insert(container);
  hits_ += entry.state == State::kLocalized;
  return {at->second, is_new, entry.state == State::kLocalized};
}

void ResourceCache::Release(model::nm::ResourceNumber number, const model::ContainerId& container, base::Instant now) {
  const auto at = entries_.find(number);
  if (at == entries_.end()) return;
  const auto user = at->second.users.find(container);
  if (user == at->second.users.end()) return;
  at->second.users.erase(user);
  at->second.last_used = now;
}

const ResourceCache::Entry* ResourceCache::Find(model::nm::ResourceNumber number) const {
  const auto at = entries_.find(number);
  return at == entries_.end() ? nullptr : &at->second;
}

bool ResourceCache::IsAwaited(model::nm::ResourceNumber number) const {
  const Entry* entry = Find(number);
  return entry && entry->state == State::kDownloading && !entry->users.empty();
}

bool ResourceCache::Arrived(model::nm::ResourceNumber number, const std::string& path, int64_t bytes,
                            base::Instant now) {
  const auto at = entries_.find(number);
  if (at == entries_.end() || at->second.state != State::kDownloading) return false;
  at->second.state = State::kLocalized;
  at->second.record.path = path;
  at->second.record.bytes = bytes;
  at->second.last_used = now;
  ++fetched_;
  return true;
}

std::vector<model::ContainerId> ResourceCache::Failed(model::nm::ResourceNumber number) {
  const auto at = entries_.find(number);
  if (at == entries_.end() || at->second.state != State::kDownloading) return {};
  std::vector<model::ContainerId> waiting(at->second.users.begin(), at->second.users.end());
  waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
  by_key_.erase(KeyOf(at->second.record));
  entries_.erase(at);
  return waiting;
}

int64_t ResourceCache::bytes() const {
  int64_t sum = 0;
  for (const auto& [number, entry] : entries_) {
    if (entry.record.resource.visibility != Visibility::kApplication) sum += entry.record.bytes;
  }
  return sum;
}

std::vector<model::nm::ResourceRecord> ResourceCache::Shrink(int64_t bytes_max) {
  int64_t held = bytes();
  std::vector<std::pair<base::Instant, model::nm::ResourceNumber>> unused;
  for (const auto& [number, entry] : entries_) {
    if (entry.state == State::kLocalized && entry.users.empty() &&
        entry.record.resource.visibility != Visibility::kApplication)
      unused.emplace_back(entry.last_used, number);
  }
  std::sort(unused.begin(), unused.end());
  std::vector<model::nm::ResourceRecord> gone;
  for (const auto& [last_used, number] : unused) {
    if (held <= bytes_max) break;
    const auto at = entries_.find(number);
    held -= at->second.record.bytes;
    by_key_.erase(KeyOf(at->second.record));
    gone.push_back(std::move(at->second.record));
    entries_.erase(at);
  }
  return gone;
}

std::vector<model::nm::ResourceRecord> ResourceCache::DropApp(const model::ApplicationId& app) {
  std::vector<model::nm::ResourceRecord> gone;
  for (auto at = entries_.begin(); at != entries_.end();) {
    if (at->second.record.resource.visibility != Visibility::kApplication || at->second.record.app != app) {
      ++at;
      continue;
    }
    by_key_.erase(KeyOf(at->second.record));
    gone.push_back(std::move(at->second.record));
    at = entries_.erase(at);
  }
  return gone;
}

void ResourceCache::Restore(const model::nm::ResourceRecord& record) {
  if (record.number == 0 || entries_.contains(record.number)) return;
  if (!by_key_.try_emplace(KeyOf(record), record.number).second) return;
  Entry entry;
  entry.record = record;
  entry.state = State::kLocalized;
  entries_.emplace(record.number, std::move(entry));
  next_ = std::max(next_, record.number + 1);
}

std::string ResourceCache::CheckInvariants() const {
  if (by_key_.size() != entries_.size()) return "resources: keys and entries differ in number";
  for (const auto& [key, number] : by_key_) {
    const Entry* entry = Find(number);
    if (!entry || KeyOf(entry->record) != key) return "resource " + std::to_string(number) + " is filed wrongly";
    if (number >= next_) return "resource " + std::to_string(number) + " is above the next number";
  }
  return "";
}

void ResourceCache::HashInto(base::StateHasher& hasher) const {
  hasher.Mix(next_);
  for (const auto& [number, entry] : entries_) {
    base::HashInto(hasher, entry.record);
    hasher.Mix(static_cast<uint64_t>(entry.state));
    hasher.Mix(static_cast<uint64_t>(entry.last_used.ns));
    for (const model::ContainerId& user : entry.users) base::HashInto(hasher, user);
  }
}

}  // namespace fairlead::nm
