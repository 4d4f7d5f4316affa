#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "model/nm.h"

namespace fairlead::nm {

/// The resources localized on this node: one entry per (URL, timestamp, type, pattern) and, as its visibility says,
/// user or application; counted references by container; least recently used ones give way when the cache is above its
/// size (Hadoop: LocalResourcesTrackerImpl, ResourceRetentionSet). A failed entry is forgotten once nobody waits for
/// it, so that the next container tries again. Requests are O(log n); cleaning sorts the unused entries.
class ResourceCache {
 public:
  enum class State : uint8_t { kDownloading, kLocalized };
  struct Entry {
    model::nm::ResourceRecord record;
    State state = State::kDownloading;
    std::multiset<model::ContainerId> users;  // containers, once per link
    base::Instant last_used;
  };

  /// The entry for `resource`, new (kDownloading, `is_new`) when there was none; `container` holds a reference.
  struct Request {
    model::nm::ResourceNumber number = 0;
    bool is_new = false;
    bool ready = false;
  };
  Request Acquire(const model::nm::LocalResource& resource, const std::string& user, const model::ApplicationId& app,
                  const model::ContainerId& container);
  void Release(model::nm::ResourceNumber number, const model::ContainerId& container, base::Instant now);

  const Entry* Find(model::nm::ResourceNumber number) const;
  /// Whether a container waits for it.
  bool IsAwaited(model::nm::ResourceNumber number) const;
  /// The download is on disk; false when nobody knows the number.
  bool Arrived(model::nm::ResourceNumber number, const std::string& path, int64_t bytes, base::Instant now);
  /// The download failed: the entry goes; its waiting containers come back, each once.
  std::vector<model::ContainerId> Failed(model::nm::ResourceNumber number);

  /// Takes the entries that go, least recently used first, until PUBLIC and PRIVATE ones fit into `bytes_max`.
  std::vector<model::nm::ResourceRecord> Shrink(int64_t bytes_max);
  /// Takes all entries of one application (its directory goes as a whole).
  std::vector<model::nm::ResourceRecord> DropApp(const model::ApplicationId& app);

  void Restore(const model::nm::ResourceRecord& record);
  void SetNext(model::nm::ResourceNumber next) { next_ = next; }
  int64_t bytes() const;
  /// Since the agent began: downloads that arrived, and requests for what was there already.
  int64_t fetched() const { return fetched_; }
  int64_t hits() const { return hits_; }
  const std::map<model::nm::ResourceNumber, Entry>& entries() const { return entries_; }

  std::string CheckInvariants() const;
  void HashInto(base::StateHasher& hasher) const;

 private:
  using Key = std::tuple<std::string, int64_t, model::nm::ResourceType, std::string, model::nm::Visibility, std::string,
                         model::ApplicationId>;
  static Key KeyOf(const model::nm::ResourceRecord& record);
  std::map<model::nm::ResourceNumber, Entry> entries_;
  std::map<Key, model::nm::ResourceNumber> by_key_;
  model::nm::ResourceNumber next_ = 1;
  int64_t fetched_ = 0;
  int64_t hits_ = 0;
};

}  // namespace fairlead::nm
