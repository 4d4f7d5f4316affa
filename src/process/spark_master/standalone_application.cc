#include "process/spark_master/standalone_application.h"

#include <algorithm>
#include <charconv>

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace sa = model::standalone;

namespace {

int32_t Bounded(int64_t amount) { return static_cast<int32_t>(std::clamp<int64_t>(amount, 0, INT32_MAX)); }

}  // namespace

std::vector<sa::Resource> FromWire(const es::Resources& resources) {
  std::vector<sa::Resource> out;
  for (const auto& [name, addresses] : resources) out.push_back({name, addresses});
  return out;
}

es::Resources ToWire(const std::vector<sa::Resource>& resources) {
  es::Resources out;
  for (const sa::Resource& resource : resources) out.emplace_back(resource.name, resource.addresses);
  return out;
}

sa::Profile ProfileOf(const es::ResourceProfile& profile) {
  sa::Profile out;
  out.id = profile.id;
  if (profile.cores > 0) out.cores = profile.cores;
  if (profile.memory_mib > 0) out.memory = Bounded(profile.memory_mib);
  for (size_t i = 0; i < profile.other_amounts.size(); ++i) {
    out.resources.push_back({profile.other[i], Bounded(profile.other_amounts[i])});
  }
  return out;
}

StandaloneApplication::~StandaloneApplication() {
  if (cluster_.Find(index_) == this) cluster_.records_.application(index_.value).machine = nullptr;
}

void StandaloneApplication::SetId(sa::AppIndex index, std::string id, bool accepted) {
  index_ = index;
  id_ = std::move(id);
  accepted_ = accepted;
}

void StandaloneApplication::OnAcknowledged() { cluster_.Feed(sa::AppAnswered{index_}); }

void StandaloneApplication::OnAccepted() {
  accepted_ = true;
  callbacks_.on_accepted();
}

void StandaloneApplication::RequestExecutors(const es::RequestExecutors& request, std::function<void(bool)> done) {
  sa::ExecutorsRequested event;
  event.app = index_;
  event.token = cluster_.Await(std::move(done));
  for (const auto& [profile, total] : request.totals) event.targets.push_back({ProfileOf(profile), total});
  cluster_.Feed(std::move(event));
}

void StandaloneApplication::KillExecutors(const es::KillExecutors& request, std::function<void(bool)> done) {
  sa::ExecutorsKilled event;
  event.app = index_;
  for (const std::string& text : request.executors) {
    int32_t id = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), id);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return done(false);
    event.executors.push_back(id);
  }
  event.token = cluster_.Await(std::move(done));
  cluster_.Feed(std::move(event));
}

void StandaloneApplication::End(const std::string& reason) {
  if (ending_) return;
  cluster_.log_.Info("an application ends", {{"application", id_}, {"why", reason.empty() ? "it said so" : reason}});
  cluster_.Feed(sa::AppFinished{index_});
  OnRemoved();
}

void StandaloneApplication::OnRemoved() {
  if (std::exchange(ending_, true)) return;
  cluster_.records_.ApplicationGone(index_.value, cluster_.loop_.Wall());
  callbacks_.on_over();
}

}  // namespace fairlead::process::spark_master
