#include "nm/links.h"

namespace fairlead::nm {

using model::nm::ResourceNumber;

void Links::Begin(ResourceCache& cache, const model::nm::ContainerSpec& spec, base::Instant now, EffectSink& out) {
  began_ = now;
  const size_t before = links_.size();
  const std::set<ResourceNumber> ready = Add(cache, spec, spec.local_resources, out);
  for (size_t i = before; i < links_.size(); ++i) {
    const bool is_cached = ready.contains(links_[i].second);
    ++(is_cached ? files_cached_ : files_missed_);
    if (is_cached) bytes_cached_ += cache.Find(links_[i].second)->record.bytes;
  }
}

std::set<ResourceNumber> Links::Add(ResourceCache& cache, const model::nm::ContainerSpec& spec,
                                    const std::vector<model::nm::LocalResource>& resources, EffectSink& out) {
  std::set<ResourceNumber> ready;
  for (const model::nm::LocalResource& resource : resources) {
    failed_.erase(resource.link);
    const auto request = cache.Acquire(resource, spec.user, spec.id.attempt.app, spec.id);
    links_.emplace_back(resource.link, request.number);
    if (request.is_new) {
      const model::nm::LocalResource& wanted = cache.Find(request.number)->record.resource;
      out.push_back(model::nm::Fetch{request.number, wanted, spec.user, spec.id.attempt.app});
    }
    (request.ready ? ready : missing_).insert(request.number);
  }
  return ready;
}

bool Links::Arrived(ResourceNumber number, int64_t bytes) {
  if (missing_.erase(number) == 0) return false;
  bytes_missed_ += bytes;
  return true;
}

std::set<std::string> Links::Failed(ResourceNumber number, const std::string& why) {
  std::set<std::string> gone;
  missing_.erase(number);
  std::erase_if(links_, [&](const auto& entry) {
    if (entry.second != number) return false;
    failed_[entry.first] = why;
    gone.insert(entry.first);
    return true;
  });
  return gone;
}

void Links::Release(ResourceCache& cache, const model::ContainerId& id, base::Instant now) {
  for (const auto& [link, number] : links_) cache.Release(number, id, now);
  links_.clear();
  missing_.clear();
}

std::vector<model::nm::Link> Links::Ready(const ResourceCache& cache, ResourceNumber number) const {
  std::vector<model::nm::Link> ready;
  for (const auto& [link, resource] : links_) {
    if ((number != 0 && resource != number) || missing_.contains(resource)) continue;
    if (const auto* entry = cache.Find(resource)) ready.push_back({link, entry->record.path});
  }
  return ready;
}

std::vector<LinkStatus> Links::Status() const {
  std::vector<LinkStatus> links;
  for (const auto& [link, number] : links_) links.push_back({link, !missing_.contains(number), {}});
  for (const auto& [link, why] : failed_) links.push_back({link, false, why});
  return links;
}

std::string Links::Counters(base::Instant now) const {
  std::string text;
  for (const int64_t counter : {bytes_missed_, bytes_cached_, files_missed_, files_cached_, (now - began_).millis()}) {
    text += (text.empty() ? "" : ",") + std::to_string(counter);
  }
  return text;
}

ResourceNumber Links::Unreferenced(const ResourceCache& cache, const model::ContainerId& id) const {
  for (const auto& [link, number] : links_) {
    const ResourceCache::Entry* entry = cache.Find(number);
    if (entry && !entry->users.contains(id)) return number;
  }
  return 0;
}

void Links::HashInto(base::StateHasher& hasher) const {
  base::HashInto(hasher, missing_);
  base::HashInto(hasher, failed_);
}

}  // namespace fairlead::nm
