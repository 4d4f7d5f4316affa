#include "sim/traces/recorder.h"

#include <algorithm>
#include <cmath>

#include "scheduler/shared/water_fill.h"

namespace fairlead::sim {
namespace {

/// Samples are thinned to every second one when there are so many.
constexpr size_t kSamplesMax = 1024;
/// A queue with less than this part of its entitlement is short.
constexpr double kShort = 0.5;
/// Units of a share for the exact water filling.
constexpr double kUnits = 1e9;
/// Times below this count as this much in a slowdown.
constexpr int64_t kBoundMs = 10'000;

struct Bounds {
  const char* name;
  int64_t most;
};
constexpr Bounds kSizes[] = {{"1-10", 10}, {"11-100", 100}, {"101-1000", 1000}, {"above 1000", INT64_MAX}};

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

void SummarizeQueues(RunResult& result) {
  std::map<std::string, std::vector<double>> slowdowns;
  for (const JobResult& job : result.job_results) slowdowns[job.queue].push_back(job.slowdown);
  result.queue_results.resize(result.queues.size());
  for (size_t q = 0; q < result.queues.size(); ++q) {
    std::vector<double>& own = slowdowns[result.queues[q]];
    std::sort(own.begin(), own.end());
    double share = 0;
    for (const Sample& sample : result.samples) share += static_cast<double>(sample.share[q]);
    if (!result.samples.empty()) share /= static_cast<double>(result.samples.size());
    QueueResult& queue = result.queue_results[q];
    queue.jobs = static_cast<int64_t>(own.size());
    queue.mean_slowdown = Mean(own);
    queue.p99_slowdown = Quantile(own, 0.99);
    queue.mean_share = share;
  }
}

}  // namespace

uint32_t TraceRecorder::QueueNumber(const std::string& name) {
  const auto [it, added] = numbers_.try_emplace(name, static_cast<uint32_t>(used_.size()));
  if (!added) return it->second;
  used_.emplace_back();
  wanted_.emplace_back();
  short_.emplace_back();
  result_.queues.push_back(name);
  uint32_t branch = 0;
  for (size_t at = name.find('.'); at != std::string::npos;) {
    const size_t end = name.find('.', at + 1);
    const std::string full = name.substr(0, end);
    const auto [child, fresh] =
        branches_[branch].children.try_emplace(full.substr(at + 1), static_cast<uint32_t>(branches_.size()));
    branch = child->second;
    if (fresh) {
      branches_.emplace_back();
      for (const model::QueueConfig& queue : tree_.queues) {
        if (queue.name == full) branches_.back().weight = queue.weight.value_or(1);
      }
    }
    at = end;
  }
  branches_[branch].leaf = static_cast<int32_t>(it->second);
  return it->second;
}

double TraceRecorder::Dominant(const model::Resources& amount) const {
  double share = 0;
  for (size_t t = 0; t < model::Resources::kMaxTypes; ++t) {
    if (total_[t] > 0) share = std::max(share, static_cast<double>(amount[t]) / static_cast<double>(total_[t]));
  }
  return share;
}

void TraceRecorder::NodeChanged(const model::Resources& capacity, int sign) { total_ += capacity * sign; }

void TraceRecorder::Used(uint32_t queue, const model::Resources& size, const model::Resources& booked, int64_t count) {
  used_[queue] += size * count;
  all_booked_ += booked * count;
}

void TraceRecorder::Wanted(uint32_t queue, const model::Resources& size, int64_t count) {
  wanted_[queue] += size * count;
}

void TraceRecorder::Advance(int64_t now_ms) {
  const auto elapsed = static_cast<double>(now_ms - last_ms_);
  used_time_[0] += static_cast<double>(all_booked_.vcores()) * elapsed;
  used_time_[1] += static_cast<double>(all_booked_.memory_mib()) * elapsed;
  capacity_time_[0] += static_cast<double>(total_.vcores()) * elapsed;
  capacity_time_[1] += static_cast<double>(total_.memory_mib()) * elapsed;
  last_ms_ = now_ms;
  if (next_sample_ms_ < 0) next_sample_ms_ = now_ms;
  // Also where nothing happened for long: a mean over samples is one over time.
  while (next_sample_ms_ <= now_ms) TakeSample(next_sample_ms_);
}

void TraceRecorder::TakeSample(int64_t at_ms) {
  Sample sample;
  sample.at_ms = at_ms;
  sample.cpu = total_.vcores() ? static_cast<double>(all_booked_.vcores()) / static_cast<double>(total_.vcores()) : 0;
  sample.memory = total_.memory_mib()
                      ? static_cast<double>(all_booked_.memory_mib()) / static_cast<double>(total_.memory_mib())
                      : 0;
  const std::vector<double> entitled = Entitlements();
  double sum = 0;
  double squares = 0;
  int takers = 0;
  for (size_t q = 0; q < used_.size(); ++q) {
    const double share = Dominant(used_[q]);
    sample.share.push_back(static_cast<float>(share));
    sample.wanted.push_back(static_cast<float>(entitled[q]));
    const bool takes = entitled[q] >= 1e-6;
    NoteShort(short_[q], takes && share < entitled[q] * kShort, at_ms);
    if (!takes) continue;
    const double satisfied = std::min(share / entitled[q], 1.0);
    sum += satisfied;
    squares += satisfied * satisfied;
    ++takers;
  }
  if (takers > 0 && squares > 0) sample.jain = sum * sum / (takers * squares);
  // While nobody wants anything there is nothing to be fair about.
  if (takers > 0) {
    jain_sum_ += sample.jain * static_cast<double>(sample_every_ms_);
    jain_time_ += static_cast<double>(sample_every_ms_);
  }
  result_.samples.push_back(std::move(sample));
  if (result_.samples.size() == kSamplesMax) {
    for (size_t i = 0; i < kSamplesMax / 2; ++i) result_.samples[i] = std::move(result_.samples[2 * i]);
    result_.samples.resize(kSamplesMax / 2);
    sample_every_ms_ *= 2;
  }
  next_sample_ms_ = result_.samples.back().at_ms + sample_every_ms_;
}

void TraceRecorder::NoteShort(Short& queue, bool is_short, int64_t at_ms) {
  if (queue.since_ms >= 0) queue.longest_ms = std::max(queue.longest_ms, at_ms - queue.since_ms);
  if (!is_short) queue.since_ms = -1;
  if (is_short && queue.since_ms < 0) queue.since_ms = at_ms;
}

std::vector<double> TraceRecorder::Entitlements() const {
  std::vector<double> demand;
  for (size_t q = 0; q < used_.size(); ++q) demand.push_back(Dominant(used_[q] + wanted_[q]));
  std::vector<double> out(used_.size(), 0);
  Entitle(0, 1, demand, out);
  return out;
}

double TraceRecorder::DemandBelow(uint32_t branch, const std::vector<double>& demand) const {
  double sum = branches_[branch].leaf >= 0 ? demand[static_cast<size_t>(branches_[branch].leaf)] : 0;
  for (const auto& [name, child] : branches_[branch].children) sum += DemandBelow(child, demand);
  return sum;
}

void TraceRecorder::Entitle(uint32_t branch, double share, const std::vector<double>& demand,
                            std::vector<double>& out) const {
  if (branches_[branch].leaf >= 0) out[static_cast<size_t>(branches_[branch].leaf)] = share;
  std::vector<scheduler::FillItem> items;
  for (const auto& [name, child] : branches_[branch].children) {
    const double weight = std::clamp(branches_[child].weight, 0.0, 1e6);
    const double most = std::min(DemandBelow(child, demand), 1.0);
    items.push_back({std::llround(weight * 1024), 0, std::llround(most * kUnits)});
  }
  const std::vector<int64_t> shares =
      scheduler::WaterFill(items, std::llround(share * kUnits), scheduler::WhenLowsExceed::kScale);
  size_t i = 0;
  for (const auto& [name, child] : branches_[branch].children) {
    Entitle(child, static_cast<double>(shares[i++]) / kUnits, demand, out);
  }
}

void TraceRecorder::Close(int64_t now_ms) {
  Advance(now_ms);
  if (capacity_time_[0] > 0) result_.cpu = used_time_[0] / capacity_time_[0];
  if (capacity_time_[1] > 0) result_.memory = used_time_[1] / capacity_time_[1];
  if (jain_time_ > 0) result_.jain = jain_sum_ / jain_time_;
  result_.queue_results.resize(used_.size());
  for (size_t q = 0; q < used_.size(); ++q) {
    NoteShort(short_[q], false, now_ms);
    result_.queue_results[q].longest_short_ms = short_[q].longest_ms;
  }
  // Queues that came later have no entry in the earlier samples.
  for (Sample& sample : result_.samples) {
    sample.share.resize(used_.size());
    sample.wanted.resize(used_.size());
  }
}

double Quantile(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(part * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

void Summarize(RunResult& result) {
  std::vector<double> all;
  std::vector<double> by_size[std::size(kSizes)];
  int64_t longest_wait_ms[std::size(kSizes)] = {};
  int64_t first = INT64_MAX;
  int64_t last = 0;
  for (JobResult& job : result.job_results) {
    const double took = static_cast<double>(std::max(job.end_ms - job.submit_ms, kBoundMs));
    job.slowdown = std::max(1.0, took / static_cast<double>(std::max(job.ideal_ms, kBoundMs)));
    first = std::min(first, job.submit_ms);
    last = std::max(last, job.end_ms);
    all.push_back(job.slowdown);
    size_t size = 0;
    while (job.tasks > kSizes[size].most) ++size;
    by_size[size].push_back(job.slowdown);
    longest_wait_ms[size] = std::max(longest_wait_ms[size], job.first_start_ms - job.submit_ms);
  }
  result.makespan_ms = all.empty() ? 0 : last - first;
  std::sort(all.begin(), all.end());
  result.mean_slowdown = Mean(all);
  result.p99_slowdown = Quantile(all, 0.99);
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    std::sort(by_size[i].begin(), by_size[i].end());
    result.sizes.push_back({kSizes[i].name, static_cast<int64_t>(by_size[i].size()), Mean(by_size[i]),
                            Quantile(by_size[i], 0.5), Quantile(by_size[i], 0.99), longest_wait_ms[i]});
  }
  SummarizeQueues(result);
}

}  // namespace fairlead::sim
