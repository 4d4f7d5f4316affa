#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/stored.h"
#include "env_posix/posix_loop.h"
#include "shell/rm/replay.h"

// bench_journal DIRECTORY NODES CONTAINERS RUN_MS SECONDS: a resource manager's journal of a cluster that is full,
// written for so many seconds as the daemon writes it, then read as `fairlead replay` reads it. Every node calls each
// second, so does every master; a container runs for about RUN_MS, and its master asks for another one. DIRECTORY
// alone: the journal that is there is read. Times are of CPU.

namespace {

using namespace fairlead;
namespace m = model::rm;

constexpr int32_t kMasters = 100;
constexpr int64_t kEpochMs = 1'700'000'000'000;
constexpr uint64_t kBytesMax = uint64_t{64} << 30;

double Cpu() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class Load {
 public:
  Load(env_posix::PosixLoop& loop, env::Disk& disk, const std::string& path, int32_t nodes, int64_t containers,
       int64_t run_ms)
      : loop_(loop),
        nodes_(static_cast<size_t>(nodes)),
        each_(static_cast<int32_t>(containers / kMasters)),
        run_ms_(run_ms),
        settings_(Read(conf_)),
        machine_(settings_.manager.core, *settings_.manager.make_scheduler(0)),
        header_(shell::RmJournalHeader(conf_.conf, settings_)) {
    auto writer = shell::JournalWriter::Open(loop, disk, path, header_, kBytesMax,
                                             [](const std::string& why) { std::puts(why.c_str()); });
    writer_ = std::move(*writer);
    Do({m::Started{kEpochMs, 0, {}, {}}});
    for (size_t i = 0; i < nodes_.size(); ++i) Register(i);
    for (int32_t i = 0; i < kMasters; ++i) Submit(i);
  }

  void Run(int64_t seconds) {
    end_ms_ = now_ms_ + seconds * 1000;
    began_ = loop_.Now() - base::Duration::Millis(now_ms_);
    loop_.Post([this] { Tick(); });
    loop_.Run();
    writer_->Flush();
  }

  int64_t event_count = 0, grants = 0, segments = 1;
  double journal_cpu = 0, step_cpu = 0, worst_copy = 0, scheduler_copy = 0;
  // Of the thread that writes states.
  std::atomic<double> encode_cpu = 0;
  std::atomic<size_t> state_bytes = 0;

 private:
  struct Node {
    std::string host;
    int32_t answers = 0;
    std::deque<std::pair<int64_t, model::ContainerId>> ends;  // by the time at which they end
    std::vector<model::ContainerId> begun;
  };
  struct Master {
    model::ApplicationAttemptId id;
    int32_t answers = 0;
    int32_t missing = 0;
    bool changed = true;
  };

  static shell::RmSettings Read(config::Settings& conf) {
    std::string queues = "queues: {";
    for (int i = 0; i < 10; ++i) queues += (i == 0 ? "q" : ", q") + std::to_string(i) + ": {}";
    if (!config::AddFairleadYaml("queues.yaml", queues + "}", conf)) std::abort();
    return *shell::ReadRmSettings(conf, "");
  }
  static model::Ask AskFor(int32_t priority, int32_t count) {
    model::Ask ask;
    ask.name = "*";
    ask.priority = priority;
    ask.capability = model::Resources::Of(2048, 1);
    ask.count = count;
    return ask;
  }
  void Register(size_t i) {
    Node& node = nodes_[i];
    node.host = "worker-" + std::to_string(i) + ".cluster.example";
    by_host_[node.host] = i;
    m::RegisterNode event;
    event.call = ++call_;
    event.address = {node.host, 45454};
    event.rack = "/rack" + std::to_string(i / 40);
    event.capacity = model::Resources::Of(65'536, 32);
    Do({std::move(event)});
  }
  void Submit(int32_t number) {
    m::Submit event;
    event.call = ++call_;
    event.submission.id = {kEpochMs, number + 1};
    event.submission.user = "user" + std::to_string(number % 20);
    event.submission.queue = "root.q" + std::to_string(number % 10);
    event.submission.name = "a job of some length";
    event.submission.max_attempts = 1;
    event.submission.master_asks = {AskFor(0, 1)};
    masters_.push_back({{event.submission.id, 1}, 0, each_, true});
    Do({std::move(event)});
    Do({m::RegisterMaster{++call_, masters_.back().id, "host", 1, "http://host:1"}});
  }
  void Beat(size_t i, std::vector<m::OuterEvent>& events) {
    Node& node = nodes_[i];
    m::Heartbeat event;
    event.call = ++call_;
    event.address = {node.host, 45454};
    event.response_id = node.answers;
    event.health_time = {kEpochMs + now_ms_ / 60'000 * 60'000};
    const auto report = [&](const model::ContainerId& id, m::NodeContainerState state, int32_t status) {
      event.containers.push_back({id, state, model::Resources::Of(2048, 1), 1, "", status, {}, -1, 0});
    };
    for (const model::ContainerId& id : node.begun) report(id, m::NodeContainerState::kRunning, model::kExitInvalid);
    node.begun.clear();
    std::sort(node.ends.begin(), node.ends.end());
    while (!node.ends.empty() && node.ends.front().first <= now_ms_) {
      const model::ContainerId id = node.ends.front().second;
      node.ends.pop_front();
      report(id, m::NodeContainerState::kComplete, 0);
      Master& master = masters_[static_cast<size_t>(id.attempt.app.number) - 1];
      ++master.missing;
      master.changed = true;
    }
    for (const auto& [end, id] : node.ends) event.running.push_back(id);
    by_call_[event.call] = i;
    events.emplace_back(std::move(event));
  }
  void Call(size_t i, std::vector<m::OuterEvent>& events) {
    Master& master = masters_[i];
    m::AllocateCall event;
    event.call = ++call_;
    event.attempt = master.id;
    event.response_id = master.answers;
    if (master.changed) event.asks = {AskFor(1, master.missing)};
    master.changed = false;
    events.emplace_back(std::move(event));
  }

  /// A millisecond of the cluster's, when it comes.
  void Tick() {
    std::vector<m::OuterEvent> events;
    for (size_t i = static_cast<size_t>(now_ms_ % 1000); i < nodes_.size(); i += 1000) Beat(i, events);
    for (auto i = static_cast<size_t>(now_ms_ % 1000); i < masters_.size(); i += 1000) Call(i, events);
    if (!events.empty()) Do(std::move(events));
    if (++now_ms_ == end_ms_) return loop_.Stop();
    loop_.At(began_ + base::Duration::Millis(now_ms_), [this] { Tick(); });
  }
  void Do(std::vector<m::OuterEvent> batch) {
    while (!batch.empty()) {
      std::vector<m::OuterEffect> effects;
      const base::Instant now{now_ms_ * 1'000'000};
      const base::WallTime wall{kEpochMs + now_ms_};
      const double begin = Cpu();
      machine_.Step(now, wall, batch, effects);
      const double stepped = Cpu();
      writer_->Append({now, wall, base::EncodeStored(batch), shell::EffectHash(effects)});
      const double written = Cpu();
      step_cpu += stepped - begin;
      journal_cpu += written - stepped;
      if (writer_->full()) BeginSegment();
      event_count += static_cast<int64_t>(batch.size());
      batch.clear();
      for (m::OuterEffect& effect : effects) React(effect, batch);
    }
  }
  void BeginSegment() {
    const double begin = Cpu();
    auto make = shell::NextHeader(header_, machine_);
    const double copied = Cpu();
    worst_copy = std::max(worst_copy, copied - begin);
    const auto scheduler = machine_.scheduler().Fork();
    scheduler_copy = std::max(scheduler_copy, Cpu() - copied);
    writer_->BeginSegment([this, make = std::move(make)] {
      const double from = Cpu();
      shell::JournalHeader header = make();
      encode_cpu = Cpu() - from;
      state_bytes = header.state.size();
      return header;
    });
    ++segments;
  }
  void React(const m::OuterEffect& effect, std::vector<m::OuterEvent>& follow) {
    if (const auto* persist = std::get_if<m::Persist>(&effect)) {
      follow.emplace_back(m::Persisted{persist->txn, true, ""});
    } else if (const auto* launch = std::get_if<m::LaunchMaster>(&effect)) {
      follow.emplace_back(m::MasterLaunched{launch->attempt, ""});
      Begin(launch->container, INT64_MAX / 2);
    } else if (const auto* answer = std::get_if<m::AllocateAnswer>(&effect)) {
      Master& master = masters_[static_cast<size_t>(answer->attempt.app.number) - 1];
      master.answers = answer->response_id;
      for (const m::ContainerInfo& container : answer->granted) {
        ++grants;
        --master.missing;
        Begin(container, now_ms_ + rng_.Between(run_ms_ / 2, run_ms_ * 3 / 2));
      }
    } else if (const auto* beat = std::get_if<m::HeartbeatAnswer>(&effect)) {
      const auto node = by_call_.extract(beat->call);
      if (!node.empty()) nodes_[node.mapped()].answers = beat->response_id;
    }
  }
  void Begin(const m::ContainerInfo& container, int64_t end_ms) {
    Node& node = nodes_[by_host_[container.address.host]];
    node.begun.push_back(container.id);
    node.ends.emplace_back(end_ms, container.id);
  }

  env_posix::PosixLoop& loop_;
  std::vector<Node> nodes_;
  const int32_t each_;
  const int64_t run_ms_;
  std::vector<Master> masters_;
  std::map<std::string, size_t> by_host_;
  std::map<m::CallToken, size_t> by_call_;
  base::Rng rng_{1};
  m::CallToken call_ = 0;
  int64_t now_ms_ = 0;
  int64_t end_ms_ = 0;
  base::Instant began_;  // millisecond 0
  config::Settings conf_;
  shell::RmSettings settings_;
  process::rm::ResourceMachine machine_;
  shell::JournalHeader header_;
  std::unique_ptr<shell::JournalWriter> writer_;
};

int Read(env::Disk& disk, const std::string& directory) {
  const auto kept = shell::FindSegments(disk, directory);
  if (!kept) return 1;
  const double begin = Cpu();
  int64_t read = 0;
  shell::Walk walk;
  walk.see = [&](const shell::RmReplay& replay) {
    read += static_cast<int64_t>(replay.events().size());
    return true;
  };
  if (const auto walked = shell::WalkRm(disk, kept->files, walk); !walked) {
    std::puts(walked.error().message.c_str());
    return 1;
  }
  std::printf("a million events load in %.2f s\n", (Cpu() - begin) * 1e6 / static_cast<double>(read));
  base::Rng rng(2);
  double worst = 0, all = 0;
  constexpr int kMoments = 20;
  for (int i = 0; i < kMoments; ++i) {
    const double from = Cpu();
    const auto files = shell::FindSegments(disk, directory);
    const base::WallTime at{rng.Between(files->begins().ms, files->ends.ms)};
    shell::Walk to;
    to.until = at;
    if (!shell::WalkRm(disk, {&files->At(at), 1}, to)) return 1;
    worst = std::max(worst, Cpu() - from);
    all += Cpu() - from;
  }
  std::printf("a random moment in %.2f s, at most %.2f s\n", all / kMoments, worst);
  return 0;
}

int Main(int argc, char** argv) {
  if (argc != 6 && argc != 2) {
    std::fprintf(stderr, "usage: bench_journal DIRECTORY [NODES CONTAINERS RUN_MS SECONDS]\n");
    return 2;
  }
  const std::string directory = argv[1];
  const auto loop = env_posix::MakePosixLoop();
  const auto disk = env_posix::MakePosixDisk();
  if (argc == 2) return Read(*disk, directory);
  if (!disk->MakeDirectories(directory)) return 1;
  const int64_t seconds = std::atoll(argv[5]);
  Load load(*loop, *disk, directory + "/rm.journal", std::atoi(argv[2]), std::atoll(argv[3]), std::atoll(argv[4]));
  load.Run(seconds);
  const auto kept = shell::FindSegments(*disk, directory);
  if (!kept) return 1;
  uint64_t bytes = 0;
  for (const shell::Segment& file : kept->files) bytes += file.bytes;
  const auto rate = [&](double amount) { return amount / static_cast<double>(seconds); };
  std::printf("%lld events (%.0f/s), %lld grants (%.0f/s), %lld files, %.1f MB (%.0f GB a day)\n",
              static_cast<long long>(load.event_count), rate(static_cast<double>(load.event_count)),
              static_cast<long long>(load.grants), rate(static_cast<double>(load.grants)),
              static_cast<long long>(load.segments), static_cast<double>(bytes) / 1e6,
              rate(static_cast<double>(bytes)) * 86'400 / 1e9);
  std::printf("journal: %.2f us of the deciding thread an event (steps: %.2f us), %.1f %% of a core at this rate\n",
              load.journal_cpu * 1e6 / static_cast<double>(load.event_count),
              load.step_cpu * 1e6 / static_cast<double>(load.event_count), rate(load.journal_cpu) * 100);
  std::printf(
      "state at a file's beginning: %.1f MB; the deciding thread copies it in %.1f ms at most (the scheduler "
      "alone: %.1f), another one encodes it in %.0f ms\n",
      static_cast<double>(load.state_bytes) / 1e6, load.worst_copy * 1e3, load.scheduler_copy * 1e3,
      load.encode_cpu * 1e3);
  return Read(*disk, directory);
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv); }
