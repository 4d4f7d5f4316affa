#include "sim/traces/synthetic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/rng.h"

namespace fairlead::sim {
namespace {

constexpr double kPi = 3.14159265358979323846;

double Normal(base::Rng& rng) { return std::sqrt(-2 * std::log(1 - rng.Unit())) * std::cos(2 * kPi * rng.Unit()); }

double LogNormal(base::Rng& rng, double median, double sigma) { return median * std::exp(sigma * Normal(rng)); }

/// Pareto's law between low and high, by inversion.
double Pareto(base::Rng& rng, double alpha, double low, double high) {
  const double a = std::pow(low, -alpha);
  const double b = std::pow(high, -alpha);
  return std::pow(a - rng.Unit() * (a - b), -1 / alpha);
}

/// Submission times in rising order whose rate follows the hour of the day: each gap is drawn for the rate of its
/// moment, 2/3 of the mean at 4 in the morning, 4/3 at 16.
class DayClock {
 public:
  DayClock(int64_t jobs, double hours)
      : mean_gap_ms_(hours * 3.6e6 / static_cast<double>(std::max<int64_t>(jobs, 1))) {}
  int64_t Next(base::Rng& rng) {
    const double hour = at_ms_ / 3.6e6;
    const double rate = 1 - std::cos(2 * kPi * (hour - 4) / 24) / 3;
    at_ms_ += -std::log(1 - rng.Unit()) * mean_gap_ms_ / rate;
    return static_cast<int64_t>(at_ms_);
  }

 private:
  double mean_gap_ms_;
  double at_ms_ = 0;
};

/// Numbers 0..n-1 in proportion to 1 / (number + 1).
class Zipf {
 public:
  explicit Zipf(size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) ends_.push_back(sum += 1.0 / static_cast<double>(i + 1));
  }
  size_t Draw(base::Rng& rng) const {
    const double at = rng.Unit() * ends_.back();
    return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), at) - ends_.begin());
  }

 private:
  std::vector<double> ends_;
};

uint32_t Milliseconds(double seconds) { return static_cast<uint32_t>(std::clamp(seconds, 0.5, 1e6) * 1000); }

std::string HostName(uint64_t number) { return "n" + std::to_string(number); }

std::vector<TraceNode> Machines(int64_t count, int rack_size, const std::vector<model::Resources>& kinds) {
  std::vector<TraceNode> nodes;
  for (int64_t i = 0; i < count; ++i) {
    nodes.push_back({HostName(static_cast<uint64_t>(i)),
                     "/r" + std::to_string(i / rack_size),
                     kinds[static_cast<size_t>(i) % kinds.size()],
                     {}});
  }
  return nodes;
}

/// With what the article says that a task needs besides memory and a core.
model::Resources TdwTask(int64_t memory_mib, int64_t network_mbit, bool network_and_disk) {
  model::Resources size = model::Resources::Of(memory_mib, 1);
  if (!network_and_disk) return size;
  size[static_cast<size_t>(model::ResourceTypes::Add("network"))] = network_mbit;
  size[static_cast<size_t>(model::ResourceTypes::Add("disk"))] = 10;
  return size;
}

class TdwJobs final : public JobSource {
 public:
  TdwJobs(const SyntheticOptions& options, size_t nodes)
      : rng_(options.seed),
        left_(std::max<int64_t>(1, std::llround(1e6 * options.scale * options.hours / 24))),
        all_(left_),
        clock_(left_, options.hours),
        nodes_(nodes),
        map_(TdwTask(2048, 10, options.network_and_disk)),
        reduce_(TdwTask(3072, 50, options.network_and_disk)) {}

  bool Next(TraceJob& job) override {
    if (left_ == 0) return false;
    --left_;
    job = TraceJob{};
    job.name = "job_" + std::to_string(all_ - left_);
    job.submit_ms = clock_.Next(rng_);
    const size_t pool = pools_.Draw(rng_);
    job.queue = "root.g" + std::to_string(pool % 20) + ".p" + std::to_string(pool / 20);
    job.user = "u" + std::to_string(rng_.Below(500));
    const auto maps = static_cast<int64_t>(Pareto(rng_, kAlpha, kFewest, kMost));
    const double seconds = LogNormal(rng_, kMedianSeconds, 0.8);
    AddStage(job, 20, map_, maps, seconds);
    for (int i = 0; i < 3; ++i) job.stages[0].hosts.push_back(HostName(rng_.Below(nodes_)));
    if (maps >= 8) {
      AddStage(job, 10, reduce_, maps / 8, seconds * 2);
      job.stages[1].waits_for_previous = true;
    }
    return true;
  }
  int64_t jobs() const override { return all_; }

 private:
  // A mean of about 89 maps, with the reduces 100 tasks a job.
  static constexpr double kAlpha = 0.82;
  static constexpr double kFewest = 4.05;
  static constexpr double kMost = 60'000;
  static constexpr double kMedianSeconds = 58;

  void AddStage(TraceJob& job, int32_t priority, const model::Resources& size, int64_t tasks, double seconds) {
    TraceStage stage;
    stage.priority = priority;
    stage.size = size;
    stage.run_ms.reserve(static_cast<size_t>(tasks));
    for (int64_t i = 0; i < tasks; ++i) stage.run_ms.push_back(Milliseconds(seconds * (0.7 + 0.6 * rng_.Unit())));
    // Stragglers: one task in a hundred needs three times as long.
    for (int64_t i = static_cast<int64_t>(rng_.Below(100)); i < tasks; i += 100) {
      stage.run_ms[static_cast<size_t>(i)] *= 3;
    }
    job.stages.push_back(std::move(stage));
  }

  base::Rng rng_;
  int64_t left_;
  int64_t all_;
  DayClock clock_;
  Zipf pools_{200};
  size_t nodes_;
  model::Resources map_;
  model::Resources reduce_;
};

struct Band {
  const char* queue;
  double weight;
  double part;  // of the jobs
  double long_part;
  double median_seconds;
};
constexpr Band kBands[] = {{"free", 1, 0.30, 0.002, 60},
                           {"batch", 2, 0.45, 0.004, 180},
                           {"mid", 4, 0.15, 0.01, 240},
                           {"production", 8, 0.10, 0.05, 600}};

class GoogleJobs final : public JobSource {
 public:
  explicit GoogleJobs(const SyntheticOptions& options)
      : rng_(options.seed),
        left_(std::max<int64_t>(1, std::llround(3.6e6 * options.scale * options.hours / 24))),
        all_(left_),
        hours_(options.hours),
        clock_(left_, options.hours) {}

  bool Next(TraceJob& job) override {
    if (left_ == 0) return false;
    --left_;
    job = TraceJob{};
    job.name = "job_" + std::to_string(all_ - left_);
    job.submit_ms = clock_.Next(rng_);
    const Band& band = DrawBand();
    job.queue = std::string("root.") + band.queue;
    job.user = "u" + std::to_string(rng_.Below(400));
    TraceStage stage;
    const bool service = rng_.Chance(band.long_part);
    const auto tasks = rng_.Chance(0.75) ? 1 : static_cast<int64_t>(Pareto(rng_, 0.9, 2, 3000));
    // Cores in quarters of a machine's hundred, memory beside them: shapes that leave odd rests.
    stage.size = model::Resources::Of(static_cast<int64_t>(std::clamp(LogNormal(rng_, 1500, 1.0), 128.0, 24'000.0)),
                                      static_cast<int64_t>(std::clamp(LogNormal(rng_, 1.5, 0.8), 1.0, 12.0)));
    const double seconds =
        service ? hours_ * 3600 * (0.2 + 0.5 * rng_.Unit()) : LogNormal(rng_, band.median_seconds, 1.2);
    for (int64_t i = 0; i < tasks; ++i) stage.run_ms.push_back(Milliseconds(seconds * (0.9 + 0.2 * rng_.Unit())));
    job.stages.push_back(std::move(stage));
    return true;
  }
  int64_t jobs() const override { return all_; }

 private:
  const Band& DrawBand() {
    double at = rng_.Unit();
    for (const Band& band : kBands) {
      at -= band.part;
      if (at < 0) return band;
    }
    return kBands[0];
  }

  base::Rng rng_;
  int64_t left_;
  int64_t all_;
  double hours_;
  DayClock clock_;
};

}  // namespace

model::Resources TdwNode(bool network_and_disk) {
  model::Resources size = TdwTask(65'536, 10'000, network_and_disk);
  size[1] = 24;
  if (network_and_disk) size[static_cast<size_t>(model::ResourceTypes::Find("disk"))] = 12'000;
  return size;
}

SyntheticWorkload TdwDay(const SyntheticOptions& options) {
  SyntheticWorkload workload;
  workload.nodes =
      Machines(std::max<int64_t>(4, std::llround(5600 * options.scale)), 40, {TdwNode(options.network_and_disk)});
  workload.master_size = TdwTask(1024, 50, options.network_and_disk);
  for (int group = 0; group < 20; ++group) {
    model::QueueConfig queue;
    queue.name = "root.g" + std::to_string(group);
    queue.parent_type = true;
    queue.weight = 1 + group % 4;
    workload.queues.queues.push_back(queue);
    for (int pool = 0; pool < 10; ++pool) {
      model::QueueConfig leaf;
      leaf.name = queue.name + ".p" + std::to_string(pool);
      leaf.weight = 1 + pool % 3;
      workload.queues.queues.push_back(leaf);
    }
  }
  workload.span_ms = static_cast<int64_t>(options.hours * 3.6e6);
  workload.jobs = std::make_unique<TdwJobs>(options, workload.nodes.size());
  return workload;
}

SyntheticWorkload GoogleMix(const SyntheticOptions& options) {
  SyntheticWorkload workload;
  workload.nodes = Machines(std::max<int64_t>(4, std::llround(12'000 * options.scale)), 48,
                            {model::Resources::Of(32'768, 16), model::Resources::Of(32'768, 16),
                             model::Resources::Of(65'536, 16), model::Resources::Of(65'536, 32)});
  for (const Band& band : kBands) {
    model::QueueConfig queue;
    queue.name = std::string("root.") + band.queue;
    queue.weight = band.weight;
    workload.queues.queues.push_back(queue);
  }
  workload.span_ms = static_cast<int64_t>(options.hours * 3.6e6);
  workload.jobs = std::make_unique<GoogleJobs>(options);
  return workload;
}

/// Node numbers by rack.
struct PlacedJobs::Racks {
  std::vector<std::vector<uint32_t>> members;
  std::vector<uint32_t> of;  // by node
};

PlacedJobs::PlacedJobs(JobSource& jobs, const std::vector<TraceNode>& nodes, uint64_t seed)
    : jobs_(jobs), nodes_(nodes), seed_(seed), racks_(std::make_unique<Racks>()) {
  std::map<std::string, uint32_t> numbers;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const auto [it, added] = numbers.try_emplace(nodes[i].rack, static_cast<uint32_t>(racks_->members.size()));
    if (added) racks_->members.emplace_back();
    racks_->members[it->second].push_back(i);
    racks_->of.push_back(it->second);
  }
}

PlacedJobs::~PlacedJobs() = default;

bool PlacedJobs::Next(TraceJob& job) {
  if (!jobs_.Next(job)) return false;
  ++count_;
  if (job.stages.empty() || !job.stages[0].hosts.empty()) return true;
  base::Rng rng(seed_ * 0x9e3779b97f4a7c15 + count_);
  TraceStage& stage = job.stages[0];
  std::unordered_map<uint32_t, uint32_t> positions;
  stage.wishes.clear();
  for (size_t task = 0; task < stage.run_ms.size(); ++task) {
    const auto first = static_cast<uint32_t>(rng.Below(nodes_.size()));
    uint32_t other = static_cast<uint32_t>(rng.Below(racks_->members.size()));
    if (other == racks_->of[first]) other = (other + 1) % static_cast<uint32_t>(racks_->members.size());
    const std::vector<uint32_t>& members = racks_->members[other];
    std::array<uint32_t, 3> wish{first, members[rng.Below(members.size())], members[rng.Below(members.size())]};
    for (uint32_t& node : wish) {
      const auto [it, added] = positions.try_emplace(node, static_cast<uint32_t>(stage.hosts.size()));
      if (added) stage.hosts.push_back(nodes_[node].rack + "/" + nodes_[node].host);
      node = it->second;
    }
    stage.wishes.push_back(wish);
  }
  return true;
}

}  // namespace fairlead::sim
