// Computes the rows of bench/public.py: reads a set's data from standard input and prints a JSON value a line.
//
//   bench_public_sets decima --rule equal|work --jobs N [--misjudged X] [--why FILE] --seeds N...
//   bench_public_sets devices --rule best-fit|fgd|ours --seeds N...     (nodes, two empty lines, pods)
//   bench_public_sets philly --part PERCENT
//
// Bad data: {"error": what}. Progress goes to standard error.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sim/devices/devices.h"
#include "sim/devices/read.h"
#include "sim/executors/rules.h"
#include "sim/executors/workload.h"
#include "sim/rigid/rigid.h"
#include "yarn_fair_gangs.h"

namespace {

using namespace fairlead;

constexpr size_t kLongestInput = size_t{130} << 20;

struct Words {
  std::string set;
  std::string rule;
  int64_t jobs = 5000;
  int64_t part = 100;
  double misjudged = 0;
  std::string why;  // where each choice is written with its reason
  std::vector<uint32_t> seeds;
};

[[noreturn]] void Usage() {
  std::fputs(
      "bench_public_sets decima|devices|philly [--rule R] [--jobs N] [--misjudged X] [--why FILE] [--part P] [--seeds "
      "N...]\n",
      stderr);
  std::exit(2);
}

Words ReadWords(int argc, char** argv) {
  Words words;
  if (argc < 2) Usage();
  words.set = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (i + 1 >= argc) Usage();
    if (name == "--seeds") {
      while (i + 1 < argc && argv[i + 1][0] != '-') {
        words.seeds.push_back(static_cast<uint32_t>(std::strtoul(argv[++i], nullptr, 10)));
      }
    } else if (name == "--rule") {
      words.rule = argv[++i];
    } else if (name == "--jobs") {
      words.jobs = std::strtoll(argv[++i], nullptr, 10);
    } else if (name == "--part") {
      words.part = std::strtoll(argv[++i], nullptr, 10);
    } else if (name == "--why") {
      words.why = argv[++i];
    } else if (name == "--misjudged") {
      words.misjudged = std::strtod(argv[++i], nullptr);
    } else {
      Usage();
    }
  }
  return words;
}

std::string ReadInput() {
  std::string text;
  char piece[1 << 16];
  ssize_t got = 0;
  while ((got = ::read(STDIN_FILENO, piece, sizeof piece)) > 0 && text.size() <= kLongestInput) {
    text.append(piece, static_cast<size_t>(got));
  }
  return text;
}

int Fail(const std::string& what) {
  std::string safe;
  for (const char c : what) safe += c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' ? '\'' : c;
  std::printf("{\"error\": \"%s\"}\n", safe.c_str());
  return 0;
}

double Percentile(const std::vector<int64_t>& sorted, double part) {
  return static_cast<double>(
      sorted[std::min(sorted.size() - 1, static_cast<size_t>(part * static_cast<double>(sorted.size())))]);
}

double Mean(const std::vector<int64_t>& values) {
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  return sum / static_cast<double>(values.size());
}

/// NumPy's RandomState, as far as Decima's environment draws jobs with it: the same seed gives the same jobs.
class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : words_(seed) {}
  uint32_t Below(uint32_t bound) {
    uint32_t mask = bound - 1;
    for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
    while (true) {
      const auto value = static_cast<uint32_t>(words_()) & mask;
      if (value < bound) return value;
    }
  }
  double Exponential(double mean) {
    const auto high = static_cast<double>(static_cast<uint32_t>(words_()) >> 5);
    const auto low = static_cast<double>(static_cast<uint32_t>(words_()) >> 6);
    return -mean * std::log(1.0 - (high * 67108864.0 + low) / 9007199254740992.0);
  }

 private:
  std::mt19937 words_;
};

constexpr double kArrivalMs = 25'000;

/// One job at the start, then a Poisson process; query and size uniformly at random.
void SubmitJobs(const std::vector<sim::TimedQuery>& queries, int64_t jobs, uint32_t seed, sim::SharedCluster& cluster) {
  NumpyRandom random(seed);
  const auto query_of = [&](uint32_t size, uint32_t number) -> const sim::TimedJob& {
    return queries[size * static_cast<uint32_t>(sim::kQueries) + number].stages;
  };
  const uint32_t first = random.Below(sim::kQueries);
  cluster.Submit(query_of(random.Below(sim::kQuerySizes.size()), first), 0);
  int64_t at = 0;
  for (int64_t i = 0; i < jobs; ++i) {
    at += static_cast<int64_t>(random.Exponential(kArrivalMs));
    const uint32_t size = random.Below(sim::kQuerySizes.size());
    cluster.Submit(query_of(size, random.Below(sim::kQueries)), at);
  }
}

int Decima(const Words& words) {
  const auto queries = sim::ReadQueries(ReadInput());
  if (!queries) return Fail(queries.error().message);
  std::ofstream why;
  if (!words.why.empty()) why.open(words.why);
  const auto tell = [&why](const std::string& choice) { why << choice << '\n'; };
  for (size_t i = 0; i < words.seeds.size(); ++i) {
    std::fprintf(stderr, "decima, %s: seed %zu of %zu\n", words.rule.c_str(), i + 1, words.seeds.size());
    const uint32_t seed = words.seeds[i];
    sim::SharedCluster cluster({}, seed);
    SubmitJobs(*queries, words.jobs, seed, cluster);
    std::unique_ptr<sim::ExecutorRule> rule;
    if (words.rule == "equal") rule = std::make_unique<sim::EqualShares>();
    if (words.rule == "work")
      rule = std::make_unique<sim::LeastWorkFirst>(words.misjudged, seed,
                                                   words.why.empty() ? nullptr : sim::LeastWorkFirst::Tell(tell));
    if (!rule) Usage();
    std::vector<int64_t> took = cluster.Run(*rule);
    std::sort(took.begin(), took.end());
    if (took.front() < 0) return Fail("a job did not end");
    std::printf("{\"seed\": %u, \"jobs\": %zu, \"mean_s\": %.3f, \"p50_s\": %.3f, \"p95_s\": %.3f, \"p99_s\": %.3f}\n",
                seed, took.size(), Mean(took) / 1e3, Percentile(took, 0.5) / 1e3, Percentile(took, 0.95) / 1e3,
                Percentile(took, 0.99) / 1e3);
    std::fflush(stdout);
  }
  why.close();
  return words.why.empty() || why ? 0 : Fail(words.why + ": cannot be written");
}

int Devices(const Words& words) {
  const std::string text = ReadInput();
  const size_t between = text.find("\n\n\n");
  if (between == text.npos) return Fail("nodes and pods are separated by two empty lines");
  const auto workload =
      sim::ReadDevices(std::string_view(text).substr(0, between), std::string_view(text).substr(between + 3));
  if (!workload) return Fail(workload.error().message);
  const std::vector<sim::TypicalAsk> typical = sim::TypicalAsks(workload->asks);
  int64_t room = 0;
  for (const sim::DeviceNode& node : workload->nodes) room += node.free_milli();
  if (room == 0) return Fail("nodes: none has a GPU");
  for (size_t i = 0; i < words.seeds.size(); ++i) {
    std::fprintf(stderr, "devices, %s: seed %zu of %zu\n", words.rule.c_str(), i + 1, words.seeds.size());
    const uint32_t seed = words.seeds[i];
    const auto asks = sim::ArrivingAsks(workload->asks, room, 1.3, seed);
    std::unique_ptr<sim::DevicePlacement> placement;
    if (words.rule == "best-fit") placement = std::make_unique<sim::BestFit>();
    if (words.rule == "fgd") placement = std::make_unique<sim::LeastFragmentation>(typical);
    if (words.rule == "ours") placement = std::make_unique<sim::LeastLoss>(typical);
    if (!placement) Usage();
    const auto begin = std::chrono::steady_clock::now();
    const auto points = sim::PlaceAll(workload->nodes, asks, *placement);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("{\"seed\": %u, \"allocated_percent\": %.3f, \"at_130_percent\": %.3f, \"decisions_per_s\": %.0f}\n",
                seed, sim::AllocatedAt(points, 100), sim::AllocatedAt(points, 130),
                static_cast<double>(asks.size()) / took);
    std::fflush(stdout);
  }
  return 0;
}

/// What one rule does with all pools.
struct Waits {
  std::vector<int64_t> seconds;
  int64_t late = 0;
  int64_t too_large = 0;
  int64_t never = 0;  // had to wait for ever

  void Add(const sim::RigidJob& job, const sim::RigidStart& start, int32_t devices) {
    if (start.at_s < 0) {
      ++(job.devices > devices ? too_large : never);
      return;
    }
    seconds.push_back(start.at_s - job.submit_s);
    if (start.promised_s >= 0 && start.at_s > start.promised_s) ++late;
  }

  void Print(const char* rule) {
    std::sort(seconds.begin(), seconds.end());
    if (seconds.empty()) seconds.push_back(0);
    std::printf(
        "{\"rule\": \"%s\", \"jobs\": %zu, \"too_large\": %lld, \"never\": %lld, \"mean_wait_s\": %.2f, "
        "\"p95_wait_s\": %.1f, \"late\": %lld}\n",
        rule, seconds.size(), static_cast<long long>(too_large), static_cast<long long>(never), Mean(seconds),
        Percentile(seconds, 0.95), static_cast<long long>(late));
    std::fflush(stdout);
  }
};

int Philly(const Words& words) {
  const auto jobs = sim::ReadPhilly(ReadInput());
  if (!jobs) return Fail(jobs.error().message);
  std::vector<std::vector<sim::RigidJob>> pools;
  for (const sim::RigidJob& job : *jobs) {
    pools.resize(std::max(pools.size(), static_cast<size_t>(job.pool) + 1));
    pools[static_cast<size_t>(job.pool)].push_back(job);
  }
  using Run = std::vector<sim::RigidStart> (*)(std::span<const sim::RigidJob>, int32_t);
  const std::pair<const char*, Run> rules[] = {
      {"fifo", [](auto pool, int32_t devices) { return RunRigid(pool, devices, sim::RigidOrder::kArrival); }},
      {"yarn-fair", [](auto pool, int32_t devices) { return RunYarnFair(pool, devices, false); }},
      {"yarn-fair, policy fifo", [](auto pool, int32_t devices) { return RunYarnFair(pool, devices, true); }},
      {"fifo with backfill",
       [](auto pool, int32_t devices) { return RunRigid(pool, devices, sim::RigidOrder::kBackfill); }},
      {"least work passes",
       [](auto pool, int32_t devices) { return RunRigid(pool, devices, sim::RigidOrder::kLeastWorkFirst); }}};
  for (const auto& [name, run] : rules) {
    std::fprintf(stderr, "philly, %s\n", name);
    Waits waits;
    for (const auto& pool : pools) {
      const auto devices = static_cast<int32_t>((sim::LargestUse(pool) * words.part + 99) / 100);
      const std::vector<sim::RigidStart> starts = run(pool, devices);
      for (size_t i = 0; i < pool.size(); ++i) waits.Add(pool[i], starts[i], devices);
    }
    waits.Print(name);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Words words = ReadWords(argc, argv);
  if (words.set == "decima") return Decima(words);
  if (words.set == "devices") return Devices(words);
  if (words.set == "philly") return Philly(words);
  Usage();
}
