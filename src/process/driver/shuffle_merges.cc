#include "process/driver/shuffle_merges.h"

#include <algorithm>
#include <numeric>

namespace fairlead::process::driver {

namespace we = wire::engine;
using wire::spark_shuffle::MergeStatus;

namespace {

/// After so many outputs it is known how long blocks are.
constexpr int32_t kSample = 4;

executor::ShuffleClient::Limits ClientLimits(const MergeSettings& settings) {
  executor::ShuffleClient::Limits limits;
  limits.silence = settings.answers_max;
  limits.connect = base::Duration::Seconds(2);
  return limits;
}

}  // namespace

ShuffleMerges::ShuffleMerges(env::Loop& loop, env::Net& net, MergeSettings settings, Hooks hooks)
    : loop_(loop),
      settings_(std::move(settings)),
      hooks_(std::move(hooks)),
      client_(loop, net, settings_.application_id, ClientLimits(settings_)) {
  client_.Authenticate(settings_.security);
}

ShuffleMerges::~ShuffleMerges() = default;

ShuffleMerges::Shuffle* ShuffleMerges::Find(int32_t shuffle) {
  const auto found = shuffles_.find(shuffle);
  return found == shuffles_.end() ? nullptr : &found->second;
}

// ---- executors and stages ------------------------------------------------------------------------------------------

void ShuffleMerges::ExecutorAdded(uint32_t executor, const std::string& host, const env::Endpoint& service) {
  executors_[executor] = {host, service};
}

void ShuffleMerges::ExecutorLost(uint32_t executor) {
  executors_.erase(executor);
  for (auto& [id, shuffle] : shuffles_) {
    for (size_t map = 0; map < shuffle.awaited.size(); ++map) {
      if (shuffle.awaited[map] == executor) Stop(shuffle, map);
    }
    FinalizeIfPushed(id, shuffle);
  }
}

std::map<env::Endpoint, std::string> ShuffleMerges::Services() const {
  std::map<env::Endpoint, std::string> hosts;
  for (const auto& [index, executor] : executors_) hosts.emplace(executor.service, executor.host);
  return hosts;
}

void ShuffleMerges::StageBegins(int32_t id, int32_t maps, int32_t reduces, bool may_push) {
  const auto [place, fresh] = shuffles_.try_emplace(id);
  if (!fresh) return;  // it runs again: what was decided and merged holds
  Shuffle& shuffle = place->second;
  shuffle.maps = maps;
  shuffle.reduces = reduces;
  shuffle.awaited.resize(static_cast<size_t>(maps), kNobody);
  shuffle.pushed.resize(static_cast<size_t>(maps));
  if (!may_push || settings_.when == tasks::MergeWhen::kNever || maps == 0 || reduces == 0) {
    shuffle.state = State::kEnded;
  }
}

void ShuffleMerges::MapWritten(int32_t id, int32_t map, uint32_t executor, const tasks::MapOutputTable& outputs) {
  Shuffle* const shuffle = Find(id);
  if (shuffle == nullptr || map < 0 || map >= shuffle->maps || shuffle->state > State::kPushed) return;
  const auto at = static_cast<size_t>(map);
  if (!shuffle->pushed[at]) {
    if (std::exchange(shuffle->awaited[at], executor) == kNobody) ++shuffle->awaited_count;
  }
  if (shuffle->state != State::kUndecided) return;
  for (const uint8_t code : outputs.Row(map)) shuffle->sampled_bytes += tasks::DecodeSize(code);
  if (++shuffle->sampled < std::min(kSample, shuffle->maps)) return;
  Decide(id, *shuffle);
}

void ShuffleMerges::Decide(int32_t id, Shuffle& shuffle) {
  const std::map<env::Endpoint, std::string> services = Services();
  const tasks::MergeCase known{shuffle.maps, shuffle.reduces,
                               shuffle.sampled_bytes / (int64_t{shuffle.sampled} * shuffle.reduces), services.size()};
  const bool pays = settings_.when == tasks::MergeWhen::kAlways ? !services.empty() : tasks::PaysToMerge(known);
  if (!pays) {
    shuffle.state = State::kEnded;
    return;
  }
  shuffle.state = State::kPushed;
  shuffle.order.shuffle = id;
  shuffle.order.app_attempt = settings_.app_attempt;
  std::vector<std::string> hosts;
  for (const auto& [service, host] : services) {
    shuffle.order.mergers.push_back({service.host, service.port});
    hosts.push_back(host);
  }
  hooks_.place(id, std::move(hosts));
  hooks_.tell_executors(shuffle.order);
}

/// The map's pushes are not awaited any more.
void ShuffleMerges::Stop(Shuffle& shuffle, size_t map) {
  if (std::exchange(shuffle.awaited[map], kNobody) != kNobody) --shuffle.awaited_count;
}

void ShuffleMerges::MapPushed(const we::MapPushed& pushed) {
  Shuffle* const shuffle = Find(pushed.shuffle);
  const auto map = static_cast<size_t>(pushed.map);
  if (shuffle == nullptr || pushed.map < 0 || map >= shuffle->pushed.size()) return;
  shuffle->pushed[map] = true;
  Stop(*shuffle, map);
  FinalizeIfPushed(pushed.shuffle, *shuffle);
}

void ShuffleMerges::StageDone(int32_t id) {
  Shuffle* const shuffle = Find(id);
  if (shuffle == nullptr || shuffle->state > State::kPushed) return;
  if (shuffle->state == State::kUndecided) {  // too few of its maps ran here
    shuffle->state = State::kEnded;
    return;
  }
  shuffle->state = State::kAwaited;
  shuffle->timer = std::make_unique<env::Timer>(loop_);
  shuffle->timer->After(settings_.pushes_max, [this, id] {
    if (Shuffle* const late = Find(id); late != nullptr && late->state == State::kAwaited) Finalize(id, *late);
  });
  FinalizeIfPushed(id, *shuffle);
}

// ---- the end of a merge --------------------------------------------------------------------------------------------

void ShuffleMerges::FinalizeIfPushed(int32_t id, Shuffle& shuffle) {
  if (shuffle.state == State::kAwaited && shuffle.awaited_count == 0) Finalize(id, shuffle);
}

void ShuffleMerges::Finalize(int32_t id, Shuffle& shuffle) {
  shuffle.state = State::kFinalized;
  const size_t mergers = shuffle.order.mergers.size();
  shuffle.merged.assign(static_cast<size_t>(shuffle.reduces), 0);
  shuffle.answers_missing = mergers;
  shuffle.result = {id, int64_t{shuffle.maps} * shuffle.reduces, 0, 0, {}, {}};
  shuffle.result.statuses.resize(mergers);
  for (size_t i = 0; i < mergers; ++i) {
    const we::Merger& merger = shuffle.order.mergers[i];
    const env::Endpoint service{merger.host, static_cast<uint16_t>(merger.port)};
    shuffle.result.services.push_back(service);
    client_.FinalizeMerge(service, settings_.app_attempt, id,
                          alive_([this, id, i](base::Result<std::vector<MergeStatus>> statuses) {
                            OnAnswer(id, i, std::move(statuses));
                          }));
  }
  shuffle.timer->After(settings_.answers_max, [this, id] {
    if (Shuffle* const late = Find(id); late != nullptr && late->state == State::kFinalized) End(id, *late);
  });
}

void AddBelieved(const std::vector<MergeStatus>& said, size_t merger, size_t mergers, int32_t maps, std::string& merged,
                 MergeResult& result) {
  const auto reduces = static_cast<int32_t>(merged.size());
  for (const MergeStatus& one : said) {
    const bool own =
        one.reduce_id >= 0 && one.reduce_id < reduces && tasks::MergerOf(one.reduce_id, reduces, mergers) == merger;
    const auto count = static_cast<int64_t>(one.maps.size());
    if (!own || count > maps || one.bytes < 0 || one.bytes > INT64_MAX - result.bytes) continue;
    if (std::exchange(merged[static_cast<size_t>(one.reduce_id)], '\1') == '\1') continue;
    result.merged += count;
    result.bytes += one.bytes;
  }
}

void ShuffleMerges::OnAnswer(int32_t id, size_t merger, base::Result<std::vector<MergeStatus>> statuses) {
  Shuffle* const shuffle = Find(id);
  if (shuffle == nullptr || shuffle->state != State::kFinalized) return;
  if (statuses.ok()) {
    AddBelieved(*statuses, merger, shuffle->order.mergers.size(), shuffle->maps, shuffle->merged, shuffle->result);
    shuffle->result.statuses[merger] = *std::move(statuses);
  }
  if (--shuffle->answers_missing == 0) End(id, *shuffle);
}

void ShuffleMerges::End(int32_t id, Shuffle& shuffle) {
  shuffle.state = State::kEnded;
  shuffle.timer->Stop();
  shuffle.awaited = {};
  shuffle.pushed = {};
  if (shuffle.result.merged == 0) hooks_.place(id, {});
  hooks_.ended(std::exchange(shuffle.result, {}));
}

void ShuffleMerges::Forget(int32_t id) {
  const auto found = shuffles_.find(id);
  if (found == shuffles_.end()) return;
  for (const we::Merger& merger : found->second.order.mergers) {
    client_.RemoveMerge({merger.host, static_cast<uint16_t>(merger.port)}, settings_.app_attempt, id);
  }
  shuffles_.erase(found);
}

// ---- what executors are told ---------------------------------------------------------------------------------------

std::vector<we::PushShuffle> ShuffleMerges::Orders() const {
  std::vector<we::PushShuffle> orders;
  for (const auto& [id, shuffle] : shuffles_) {
    if (shuffle.state == State::kPushed) orders.push_back(shuffle.order);
  }
  return orders;
}

bool ShuffleMerges::KeepsBack(int32_t id) const {
  const auto found = shuffles_.find(id);
  return found != shuffles_.end() &&
         (found->second.state == State::kAwaited || found->second.state == State::kFinalized);
}

void ShuffleMerges::AddTo(we::MapOutputs& answer) const {
  const auto found = shuffles_.find(answer.shuffle);
  if (found == shuffles_.end() || found->second.state != State::kEnded) return;
  const Shuffle& shuffle = found->second;
  if (shuffle.merged.find('\1') == std::string::npos) return;
  answer.merge = shuffle.order;
  answer.merged = shuffle.merged;
}

}  // namespace fairlead::process::driver
