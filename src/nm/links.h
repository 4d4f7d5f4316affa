#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/codec.h"
#include "base/time.h"
#include "model/nm.h"
#include "nm/resource_cache.h"
#include "nm/rows.h"

namespace fairlead::nm {

/// One link that a container was to have.
struct LinkStatus {
  std::string link;
  bool ready = false;
  std::string error;  // not empty: there will be none
};

/// The links that one container has or waits for (Hadoop: ResourceSet), and what its localization took. Each holds a
/// reference in the cache until Release.
class Links {
 public:
  /// The first ones, for the launch; only these count as hit or missed.
  void Begin(ResourceCache& cache, const model::nm::ContainerSpec& spec, base::Instant now, EffectSink& out);
  /// More; gives the resources that are there already.
  std::set<model::nm::ResourceNumber> Add(ResourceCache& cache, const model::nm::ContainerSpec& spec,
                                          const std::vector<model::nm::LocalResource>& resources, EffectSink& out);
  /// Whether it was waited for.
  bool Arrived(model::nm::ResourceNumber number, int64_t bytes);
  /// Gives the links that it was for.
  std::set<std::string> Failed(model::nm::ResourceNumber number, const std::string& why);
  void Release(ResourceCache& cache, const model::ContainerId& id, base::Instant now);

  bool complete() const { return missing_.empty(); }
  /// Those that are there; of one resource where `number` is not 0.
  std::vector<model::nm::Link> Ready(const ResourceCache& cache, model::nm::ResourceNumber number = 0) const;
  std::vector<LinkStatus> Status() const;
  /// "bytes missed,bytes cached,files missed,files cached,milliseconds", as CONTAINER_LOCALIZATION... variables have
  /// it.
  std::string Counters(base::Instant now) const;

  /// A resource that it names without a reference; 0: none.
  model::nm::ResourceNumber Unreferenced(const ResourceCache& cache, const model::ContainerId& id) const;
  void HashInto(base::StateHasher& hasher) const;

 private:
  std::vector<std::pair<std::string, model::nm::ResourceNumber>> links_;
  std::set<model::nm::ResourceNumber> missing_;
  std::map<std::string, std::string> failed_;  // link -> why, of localize calls
  base::Instant began_;
  int64_t bytes_missed_ = 0, bytes_cached_ = 0, files_missed_ = 0, files_cached_ = 0;
};

}  // namespace fairlead::nm
