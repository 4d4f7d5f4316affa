// A job that misbehaves on order, for tests/process/engine_test.py: engine_faults MODE [ARGUMENT...]
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/plan/operators.h"
#include "fairlead/engine.h"

using namespace fairlead;

namespace {

/// Waits for a file of the test.
void Await(const std::string& file) {
  while (!std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

/// Writes a file that appears whole.
void Mark(const std::string& file, const std::string& text) {
  std::ofstream(file + ".part") << text;
  std::filesystem::rename(file + ".part", file);
}
std::string Content(const std::string& file) {
  std::string text;
  std::ifstream(file) >> text;
  return text;
}
std::string Pid() { return std::to_string(::getpid()); }

/// poison: a record that crashes its executor, beside an action of healthy ones.
void Poison(Context& context) {
  std::string error;
  std::thread poisoned([&] {
    try {
      context.Range(0, 8, Partitions(4))
          .Map([](int64_t x) {
            if (x == 5) ::raise(SIGSEGV);
            return x;
          })
          .Named("poisoned numbers")
          .Count();
    } catch (const JobError& failed) {
      error = failed.what();
    }
  });
  int64_t healthy = 0;
  for (int i = 0; i < 5; ++i) healthy += context.Range(0, 1000, Partitions(4)).Count();
  poisoned.join();
  std::printf("healthy %lld\npoison: %s\n", static_cast<long long>(healthy), error.c_str());
}

/// again OUTPUT COUNTS: commits OUTPUT, then its first driver dies; counts how often a record was computed.
struct Noted {
  std::string directory;
  int64_t operator()(int64_t x) const {
    std::fclose(std::fopen((directory + "/" + std::to_string(x) + "-" + std::to_string(::getpid())).c_str(), "w"));
    return x;
  }
};
void Again(Context& context, const Arguments& arguments) {
  const int64_t saved = context.Range(0, 10, Partitions(2)).Map(Noted{arguments.at(2)}).SaveText(arguments.at(1));
  const std::string first = arguments.at(2) + "/first-driver";
  if (!std::filesystem::exists(first)) {
    std::fclose(std::fopen(first.c_str(), "w"));
    ::raise(SIGKILL);
  }
  std::printf("saved %lld\n", static_cast<long long>(saved));
}

/// shrink WORK GO: a shuffle whose maps wait for WORK, then nothing to do until GO exists, then the shuffle's other
/// side.
struct Keyed {
  std::string work;
  std::pair<int64_t, int64_t> operator()(int64_t x) const {
    if (x % 500 == 0) Await(work);
    return {x % 100, x};
  }
};
void Shrink(Context& context, const Arguments& arguments) {
  const auto sums = context.Range(0, 3000, Partitions(6))
                        .Map(Keyed{arguments.at(1)})
                        .ReduceByKey([](int64_t a, int64_t b) { return a + b; }, Partitions(6));
  std::printf("first %lld\n", static_cast<long long>(sums.Count()));
  std::fflush(stdout);
  Await(arguments.at(2));
  int64_t total = 0;
  for (const auto& [key, sum] : sums.Collect()) total += sum;
  std::printf("total %lld\n", static_cast<long long>(total));
}

/// merge OUTPUT MARKS: two shuffles of many short blocks, whose result is saved twice: once at once, once, from the
/// same shuffles, when MARKS/go exists.
void Merge(Context& context, const Arguments& arguments) {
  const std::string& output = arguments.at(1);
  const std::string& marks = arguments.at(2);
  const auto sums = context.Range(0, 60'000, Partitions(24))
                        .Map([](int64_t x) { return std::pair(x * 7919 % 3001, x); })
                        .ReduceByKey([](int64_t a, int64_t b) { return a + b; }, Partitions(20))
                        .Named("sums")
                        .SortByKey(SortDirection::kAscending, Partitions(12));
  sums.SaveText(output + "/first");
  Mark(marks + "/saved", Pid());
  Await(marks + "/go");
  sums.SaveText(output + "/second");
}

/// slow OUTPUT: the first attempt of one task hangs.
void Slow(Context& context, const Arguments& arguments) {
  const int64_t saved = context.Range(0, 40, Partitions(8))
                            .Map([](int64_t x) {
                              const auto* const task = fairlead::engine::TaskContext::Current();
                              for (int i = 0; x == 7 && task->attempt == 0 && i < 6000; ++i) {
                                task->CheckKilled();
                                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                              }
                              return x;
                            })
                            .SaveText(arguments.at(1));
  std::printf("saved %lld\n", static_cast<long long>(saved));
}

/// fails MARKS: one of four tasks fails each time, and leaves the number of the attempt and of its executor's process.
struct Failing {
  std::string marks;
  int64_t operator()(int64_t x) const {
    if (x != 3) return x;
    const int attempt = fairlead::engine::TaskContext::Current()->attempt;
    std::fclose(std::fopen((marks + "/" + std::to_string(attempt) + "-" + std::to_string(::getpid())).c_str(), "w"));
    throw JobError("this task always fails");
  }
};
void Fails(Context& context, const Arguments& arguments) {
  context.Range(0, 4, Partitions(4)).Map(Failing{arguments.at(1)}).Count();
}

/// distinct NUMBERS OUTPUT: groups far more keys than fit into memory.
void Distinct(Context& context, const Arguments& arguments) {
  const int64_t groups = context.Range(0, arguments.Number(1, 1000))
                             .Map([](int64_t x) { return std::pair("key-" + std::to_string(x * 7919), x); })
                             .ReduceByKey([](int64_t a, int64_t b) { return a + b; })
                             .SortByKey()
                             .SaveText(arguments.at(2));
  std::printf("groups %lld\n", static_cast<long long>(groups));
}

/// fair: two jobs of slow tasks beside each other, in the pools `one` and `three`.
void Fair(Context& context) {
  const auto run = [&](const char* pool) {
    return std::thread([&context, pool] {
      context.SetPool(pool);
      context.Range(0, 120, Partitions(120))
          .Map([](int64_t x) {
            // Of different lengths, and long: slots that become free in one moment go to one pool, as in Spark, and on
            // a busy machine the driver hears late.
            std::this_thread::sleep_for(std::chrono::milliseconds(300 + x * 7919 % 401));
            return x;
          })
          .Named(pool)
          .Count();
    });
  };
  std::thread one = run("one");
  std::thread three = run("three");
  one.join();
  three.join();
}

/// broadcasts N: one large shared value after another.
struct SizeOf {
  Broadcast<std::vector<int64_t>> values;
  int64_t operator()(int64_t) const { return static_cast<int64_t>(values->size()); }
};
void Broadcasts(Context& context, const Arguments& arguments) {
  int64_t sum = 0;
  for (long i = 0; i < arguments.Number(1, 1); ++i) {
    const SizeOf size{context.MakeBroadcast(std::vector<int64_t>(1'000'000, i))};
    for (const int64_t one : context.Range(0, 1, Partitions(1)).Map(size).Collect()) sum += one;
  }
  std::printf("sum %lld\n", static_cast<long long>(sum));
}

/// places MARKS EXECUTORS IN OUT [SLOW]: copies lines once so many executors of one core are at work; on the host SLOW
/// a task takes a second longer.
struct Meet {
  std::string marks;
  int64_t executors;
  int64_t operator()(int64_t x) const {
    std::fclose(std::fopen((marks + "/" + std::to_string(x)).c_str(), "w"));
    for (int64_t i = 0; i < executors; ++i) Await(marks + "/" + std::to_string(i));
    return x;
  }
};
/// meet MARKS EXECUTORS: has them at work at once.
void MeetAll(Context& context, const Arguments& arguments) {
  const auto executors = static_cast<int32_t>(arguments.Number(2, 1));
  context.Range(0, executors, Partitions(executors)).Map(Meet{arguments.at(1), executors}).Named("meeting").Count();
}
struct SlowOn {
  std::string host;
  template <class Records, class Emit>
  void operator()(Records& records, Emit& emit) const {
    const char* here = std::getenv("NM_HOST");
    if (here != nullptr && here == host) std::this_thread::sleep_for(std::chrono::seconds(1));
    records.ForEach([&](std::string_view line) { emit(line); });
  }
};
void Places(Context& context, const Arguments& arguments) {
  MeetAll(context, arguments);
  const auto lines = context.Text(arguments.at(3), Partitions(30))
                         .MapPartitions<std::string_view>(SlowOn{arguments.size() > 5 ? arguments.at(5) : ""})
                         .Named("text");
  std::printf("lines %lld\n", static_cast<long long>(lines.SaveText(arguments.at(4))));
}

/// cached MARKS [kill]: one cached partition, read by two tasks at once, each on an executor of its own; then again,
/// after `kill` once who made it is gone. MARKS gets a file for each time that it is made, named by the process.
struct MadeBy {
  std::string marks;
  int64_t operator()(int64_t x) const {
    if (x == 0) std::fclose(std::fopen((marks + "/" + std::to_string(::getpid())).c_str(), "w"));
    return x;
  }
};
/// Ends when both tasks have begun.
struct Together {
  std::string marks;
  int64_t operator()(int64_t x) const {
    const auto* const task = fairlead::engine::TaskContext::Current();
    const std::string mine = marks + "/task-" + std::to_string(task->stage) + "-";
    if (x == 0) std::fclose(std::fopen((mine + std::to_string(task->partition)).c_str(), "w"));
    if (x == 0) Await(mine + std::to_string(1 - task->partition));
    return x;
  }
};
/// keep MARKS: a first executor comes, then a second one; each keeps a partition, which costs the second 5 s and the
/// first nothing. MARKS gets both processes, `kept` then, and the job ends once `go` is there.
struct Kept {
  std::string marks;
  int64_t operator()(int64_t x) const {
    const auto* const task = fairlead::engine::TaskContext::Current();
    Mark(marks + "/begun-" + std::to_string(task->partition), "");
    Await(marks + "/begun-" + std::to_string(1 - task->partition));
    if (Pid() == Content(marks + "/older")) return x;
    std::this_thread::sleep_for(std::chrono::seconds(5));
    Mark(marks + "/younger", Pid());
    return x;
  }
};
struct Older {
  std::string marks;
  int64_t operator()(int64_t x) const {
    Mark(marks + "/older", Pid());
    return x;
  }
};
void Keep(Context& context, const Arguments& arguments) {
  const std::string& marks = arguments.at(1);
  context.Range(0, 1, Partitions(1)).Map(Older{marks}).Count();
  const auto kept = context.Range(0, 2, Partitions(2)).Map(Kept{marks}).Cache();
  kept.Count();
  Mark(marks + "/kept", "");
  Await(marks + "/go");
  kept.Count();
}
void Cached(Context& context, const Arguments& arguments) {
  const std::string& marks = arguments.at(1);
  MeetAll(context, Arguments({"meet", marks, "2"}));
  const std::string made = marks + "/made";
  std::filesystem::create_directory(made);
  const auto kept = context.Range(0, 100'000, Partitions(1)).Map(MadeBy{made}).Cache();
  std::printf("first %lld\n", static_cast<long long>(kept.Count()));
  const auto twice = kept.Union(kept).Map(Together{marks});
  const auto sum = [&] { return static_cast<long long>(*twice.Reduce([](int64_t a, int64_t b) { return a + b; })); };
  std::printf("both %lld\n", sum());
  if (arguments.size() > 2) {
    for (const auto& entry : std::filesystem::directory_iterator(made)) {
      ::kill(std::stoi(entry.path().filename().string()), SIGKILL);
    }
  }
  std::printf("again %lld\n", sum());
}

/// long-blocks MARKS: two map tasks, each on an executor of its own, write a block of 80 MB each for one reducer, so
/// that one of them comes from the service of another executor, and not at once.
constexpr int64_t kLongBlockRecords = 80'000;
std::string NoiseOf(int64_t number) {
  std::string noise;
  for (auto x = static_cast<uint64_t>(number) + 1; noise.size() < 1000;) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    noise.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  return noise;
}
void LongBlocks(Context& context, const Arguments& arguments) {
  const int64_t first = context.Range(0, 2, Partitions(2))
                            .Map(Meet{arguments.at(1), 2})
                            .FlatMap<int64_t>([](int64_t map, auto& emit) {
                              for (int64_t i = 0; i < kLongBlockRecords; ++i) emit(2 * i + map);
                            })
                            .Map([](int64_t x) { return std::pair(x, NoiseOf(x)); })
                            .SortByKey(SortDirection::kAscending, Partitions(1))
                            .Filter([](const auto& record) { return record.second == NoiseOf(record.first); })
                            .Named("sorted")
                            .Count();
  std::printf("whole %lld of %lld\n", static_cast<long long>(first), static_cast<long long>(2 * kLongBlockRecords));
}

/// crash GO: one action, then, once GO exists, the driver itself crashes.
void Crash(Context& context, const Arguments& arguments) {
  context.Range(0, 10, Partitions(1)).Named("before").Count();
  Await(arguments.at(1));
  ::raise(SIGSEGV);
}

/// eat MIB: the driver takes so much memory and waits for its end.
void Eat(Context& context, const Arguments& arguments) {
  context.Range(0, 10, Partitions(1)).Named("before").Count();
  const std::vector<char> eaten(static_cast<size_t>(arguments.Number(1, 1)) << 20, 'x');
  if (eaten.back() == 'x') ::pause();
}

/// copy: lines from one place to another.
void Copy(Context& context, const Arguments& arguments) {
  std::printf("lines %lld\n", static_cast<long long>(context.Text(arguments.at(1)).SaveText(arguments.at(2))));
}

/// many TASKS: so many tasks in one stage, the last of which is slow.
void Many(Context& context, const Arguments& arguments) {
  const int64_t tasks = arguments.Number(1, 1);
  struct SlowLast {
    int64_t last = 0;
    bool operator()(int64_t x) const {
      if (x == last) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return true;
    }
  };
  const int64_t seen =
      context.Range(0, tasks, Partitions(static_cast<int32_t>(tasks))).Filter(SlowLast{tasks - 1}).Count();
  std::printf("tasks %lld\n", static_cast<long long>(seen));
}

void Faults(Context& context, const Arguments& arguments) {
  const std::string& mode = arguments.at(0);
  if (mode == "poison") return Poison(context);
  if (mode == "again") return Again(context, arguments);
  if (mode == "shrink") return Shrink(context, arguments);
  if (mode == "merge") return Merge(context, arguments);
  if (mode == "slow") return Slow(context, arguments);
  if (mode == "fails") return Fails(context, arguments);
  if (mode == "distinct") return Distinct(context, arguments);
  if (mode == "fair") return Fair(context);
  if (mode == "broadcasts") return Broadcasts(context, arguments);
  if (mode == "meet") return MeetAll(context, arguments);
  if (mode == "places") return Places(context, arguments);
  if (mode == "keep") return Keep(context, arguments);
  if (mode == "cached") return Cached(context, arguments);
  if (mode == "long-blocks") return LongBlocks(context, arguments);
  if (mode == "crash") return Crash(context, arguments);
  if (mode == "eat") return Eat(context, arguments);
  if (mode == "many") return Many(context, arguments);
  if (mode == "copy") return Copy(context, arguments);
  throw JobError("unknown mode " + mode);
}

}  // namespace

FAIRLEAD_JOB(Faults)
