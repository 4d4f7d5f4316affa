#include "engine/settings/spark_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>

#include "base/did_you_mean.h"
#include "engine/settings/pools_file.h"
#include "wire/spark_transport/cipher.h"
#include "wire/spark_transport/sasl.h"

namespace fairlead::engine {

namespace {

using base::Duration;
using base::Error;
using base::Result;
using base::Status;
using wire::spark_transport::Security;

/// What settings are written into.
struct Config {
  tasks::Config tasks;
  Security security;
  bool authenticate = false;
  tasks::MergeWhen merge = tasks::MergeWhen::kWhenItPays;
};

Result<int64_t> Number(std::string_view text, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    return Error{"write a whole number of at least " + std::to_string(least)};
  }
  return value;
}

/// As Spark's JavaUtils.timeStringAs: a whole number and its unit, without one in `unit`.
Result<Duration> Time(std::string_view text, Duration unit) {
  static constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"us", 1'000},           {"ms", 1'000'000},        {"s", 1'000'000'000},     {"m", 60'000'000'000},
      {"min", 60'000'000'000}, {"h", 3'600'000'000'000}, {"d", 86'400'000'000'000}};
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view suffix = text.substr(digits);
  int64_t scale = suffix.empty() ? unit.ns : 0;
  for (const auto& [name, ns] : kUnits) {
    if (suffix == name) scale = ns;
  }
  const Result<int64_t> count = Number(text.substr(0, digits), 0, scale > 0 ? INT64_MAX / 4 / scale : 0);
  if (scale == 0 || !count) return Error{"write a time such as 3s, 500ms or 1min"};
  return Duration::Nanos(*count * scale);
}

Result<bool> Flag(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text != "true" && text != "false") return Error{"write true or false"};
  return text == "true";
}

Result<double> Fraction(std::string_view text, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= most)) {
    return Error{std::string("write a number of at least 0") + (most == 1 ? " and at most 1" : "")};
  }
  return value;
}

template <class T>
Status Put(Result<T> value, auto& field) {
  if (!value) return value.error();
  field = static_cast<std::remove_reference_t<decltype(field)>>(*value);
  return {};
}

using Text = const std::string&;

// How a row's value is read and its default told, by its kind. `field` is a path into Config.
#define FL_TIME(field, unit)                                                 \
  [](Text text, Config& c) { return Put(Time(text, unit), c.tasks.field); }, \
      [](const Config& c) { return std::to_string(c.tasks.field.ns / (unit).ns); }
#define FL_COUNT(field)                                                                \
  [](Text text, Config& c) { return Put(Number(text, 1, INT32_MAX), c.tasks.field); }, \
      [](const Config& c) { return std::to_string(c.tasks.field); }
#define FL_FLAG(field)                                           \
  [](Text text, Config& c) { return Put(Flag(text), c.field); }, \
      [](const Config& c) { return std::string(c.field ? "true" : "false"); }
#define FL_FRACTION(field, most)                                                 \
  [](Text text, Config& c) { return Put(Fraction(text, most), c.tasks.field); }, \
      [](const Config& c) { return Shortest(c.tasks.field); }
#define FL_SAID(text) [](const Config&) { return std::string(text); }

std::string Shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

constexpr Duration kMs = Duration::Millis(1);

Status SetLocalityWait(Text text, Config& c) {
  const Result<Duration> wait = Time(text, kMs);
  if (!wait) return wait.error();
  tasks::LocalityConfig& locality = c.tasks.locality;
  locality.wait_process = locality.wait_node = locality.wait_rack = *wait;
  return {};
}

Status SetDurationThreshold(Text text, Config& c) {
  return Put(Time(text, kMs), c.tasks.speculation.task_duration_threshold);
}

Status SetMode(Text text, Config& c) {
  std::string upper = text;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char ch) { return std::toupper(ch); });
  if (upper != "FIFO" && upper != "FAIR") return Error{"write FIFO or FAIR"};
  c.tasks.mode = upper == "FAIR" ? tasks::PoolMode::kFair : tasks::PoolMode::kFifo;
  return {};
}

/// In slots; 0: off.
Status SetLoadWeight(Text text, Config& c) {
  const Result<double> slots = Fraction(text, 1e6);
  if (!slots) return slots.error();
  c.tasks.beyond.load_weight_milli = static_cast<int32_t>(std::lround(*slots * 1000));
  return {};
}

Status SetMerge(Text text, Config& c) {
  if (text != "auto" && text != "on" && text != "off") return Error{"write auto, on or off"};
  c.merge = text == "on"    ? tasks::MergeWhen::kAlways
            : text == "off" ? tasks::MergeWhen::kNever
                            : tasks::MergeWhen::kWhenItPays;
  return {};
}

Status SetAuthVersion(Text text, Config& c) { return Put(Number(text, 1, 2), c.security.version); }

Status SetAuthCipher(Text text, Config& c) {
  if (text != "AES/CTR/NoPadding" && text != "AES/GCM/NoPadding") {
    return Error{"write AES/CTR/NoPadding or AES/GCM/NoPadding"};
  }
  c.security.cipher =
      text == "AES/GCM/NoPadding" ? wire::spark_transport::AuthCipher::kGcm : wire::spark_transport::AuthCipher::kCtr;
  return {};
}

Status Elsewhere(Text, Config&) { return {}; }

Status FileOfNode(Text text, Config&) {
  if (text.starts_with('/')) return {};
  return Error{"write the whole path, from / on: the file is one of the machine that runs the driver"};
}

struct Row {
  std::string_view name;
  std::string_view meaning;
  Status (*set)(Text text, Config& config);
  std::string (*otherwise)(const Config& defaults);
};

/// By name: what stands for several (spark.locality.wait) comes before each of them.
constexpr Row kRows[] = {
    {kLoadFile,
     "a file with lines `HOST THOUSANDTHS` that executors read instead of measuring; the same path on each node",
     Elsewhere, FL_SAID("none")},
    {"fairlead.locality.loadWeight",
     "a place near the data is not waited for while its executors are busier by more than so many slots than the one "
     "that is free; 0: off",
     SetLoadWeight, FL_SAID("0")},
    {"fairlead.shuffle.merge",
     "auto, on or off: which shuffles are [merged](engine.md#merged-shuffles) by nodes' services", SetMerge,
     FL_SAID("auto")},
    {kPageCertificate,
     "the driver's page is [HTTPS](tls.md#pages-of-drivers), and shows this PEM file of the machine that runs the "
     "driver",
     FileOfNode, FL_SAID("none")},
    {kPageKey, "and the file of its key", FileOfNode, FL_SAID("in the same file")},
    {"spark.authenticate", "executors show the nodes' shuffle services a secret", FL_FLAG(authenticate)},
    {"spark.authenticate.enableSaslEncryption", "what SASL has authenticated is encrypted",
     FL_FLAG(security.encrypt_sasl)},
    {"spark.excludeOnFailure.application.maxFailedExecutorsPerNode",
     "excluded executors of a node, after which the node is excluded",
     FL_COUNT(exclusion.app_failed_executors_per_node)},
    {"spark.excludeOnFailure.application.maxFailedTasksPerExecutor",
     "tasks that fail on an executor before it is excluded", FL_COUNT(exclusion.app_failed_tasks_per_executor)},
    {"spark.excludeOnFailure.enabled", "executors and nodes where tasks fail get no more of them",
     FL_FLAG(tasks.exclusion.enabled)},
    {"spark.excludeOnFailure.stage.maxFailedExecutorsPerNode",
     "excluded executors of a node, after which a stage avoids the node",
     FL_COUNT(exclusion.stage_failed_executors_per_node)},
    {"spark.excludeOnFailure.stage.maxFailedTasksPerExecutor",
     "tasks that fail on an executor before their stage avoids it",
     FL_COUNT(exclusion.stage_failed_tasks_per_executor)},
    {"spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor", "tries of a task on one executor",
     FL_COUNT(exclusion.task_attempts_per_executor)},
    {"spark.excludeOnFailure.task.maxTaskAttemptsPerNode",
     "tries of a task on one node; less than spark.task.maxFailures", FL_COUNT(exclusion.task_attempts_per_node)},
    {"spark.excludeOnFailure.timeout", "ms after which excluded executors and nodes are tried again",
     FL_TIME(exclusion.timeout, kMs)},
    {kHadoopFileSystems,
     "with Kerberos, each HDFS beside `fs.defaultFS` of which `submit` gets a token: `hdfs://HOST:PORT,...`", Elsewhere,
     FL_SAID("none")},
    {"spark.locality.wait", "ms that a task waits for a place near its data, at each level", SetLocalityWait,
     FL_SAID("3000")},
    {"spark.locality.wait.legacyResetOnTaskLaunch", "each task that starts near its data begins the wait again",
     FL_FLAG(tasks.locality.legacy_reset)},
    {"spark.locality.wait.node", "ms that a task waits for a node with its data", FL_TIME(locality.wait_node, kMs)},
    {"spark.locality.wait.process", "ms that a task waits for an executor with its data",
     FL_TIME(locality.wait_process, kMs)},
    {"spark.locality.wait.rack", "ms that a task waits for a rack with its data", FL_TIME(locality.wait_rack, kMs)},
    {"spark.network.crypto.authEngineVersion", "version of Spark's own handshake: 1 or 2", SetAuthVersion,
     FL_SAID("1")},
    {"spark.network.crypto.cipher", "cipher of connections with Spark's own handshake; or AES/GCM/NoPadding",
     SetAuthCipher, FL_SAID("AES/CTR/NoPadding")},
    {"spark.network.crypto.enabled", "executors and shuffle services use Spark's own handshake, and encrypt",
     FL_FLAG(security.crypto)},
    {"spark.network.crypto.saslFallback", "SASL where a service does not take Spark's own handshake",
     FL_FLAG(security.sasl_fallback)},
    {kAllocationFile,
     "Spark's `fairscheduler.xml`: `schedulingMode`, `weight`, `minShare` of each pool; `submit` reads it", Elsewhere,
     FL_SAID("none")},
    {"spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout",
     "seconds after which a stage ends whose tasks no executor may run",
     FL_TIME(exclusion.unschedulable_timeout, Duration::Seconds(1))},
    {"spark.scheduler.mode", "the job that began first goes first; FAIR: pools share", SetMode, FL_SAID("FIFO")},
    {"spark.scheduler.revive.interval", "ms between two looks for tasks whose wait is over",
     FL_TIME(revive_interval, kMs)},
    {"spark.shuffle.reduceLocality.enabled", "reducers go where most of their input is",
     FL_FLAG(tasks.reduce_locality)},
    {"spark.speculation", "slow tasks are run a second time beside the first", FL_FLAG(tasks.speculation.enabled)},
    {"spark.speculation.interval", "ms between two looks for slow tasks", FL_TIME(speculation.interval, kMs)},
    {"spark.speculation.minTaskRuntime", "ms that a task runs before it can be slow",
     FL_TIME(speculation.min_task_runtime, kMs)},
    {"spark.speculation.multiplier", "times the median that a slow task takes",
     FL_FRACTION(speculation.multiplier, 1e9)},
    {"spark.speculation.quantile", "share of a stage's tasks that end before any is slow",
     FL_FRACTION(speculation.quantile, 1)},
    {"spark.speculation.task.duration.threshold", "ms after which a task of a small stage is slow",
     SetDurationThreshold, FL_SAID("none")},
    {"spark.stage.maxConsecutiveAttempts", "tries of a stage", FL_COUNT(stage_max_consecutive_attempts)},
    {"spark.task.maxFailures", "tries of a task", FL_COUNT(task_max_failures)},
};

#undef FL_TIME
#undef FL_COUNT
#undef FL_FLAG
#undef FL_FRACTION
#undef FL_SAID

/// Settings of Spark's that are options of submit.
constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
    {"spark.app.name", "--name"},
    {"spark.driver.memory", "--driver-memory"},
    {"spark.dynamicAllocation.executorIdleTimeout", "--executor-idle"},
    {"spark.dynamicAllocation.maxExecutors", "--executors"},
    {"spark.dynamicAllocation.minExecutors", "--executors-min"},
    {"spark.executor.cores", "--executor-cores"},
    {"spark.executor.instances", "--executors"},
    {"spark.executor.memory", "--executor-memory"},
    {"spark.yarn.queue", "--queue"},
};

Error Unknown(const std::string& name) {
  for (const auto& [spark, option] : kOptions) {
    if (name == spark) return Error{name + " is the option " + std::string(option) + " of `fairlead submit`"};
  }
  std::vector<std::string> known = SparkSettingNames();
  for (const auto& [spark, option] : kOptions) known.emplace_back(spark);
  return Error{name + ": no such setting" + base::DidYouMean(name, known)};
}

Status Check(const Config& config) {
  // HealthTracker.validateExcludeOnFailureConfs.
  const tasks::Config& tasks = config.tasks;
  if (tasks.exclusion.enabled && tasks.exclusion.task_attempts_per_node >= tasks.task_max_failures) {
    return Error{"spark.excludeOnFailure.task.maxTaskAttemptsPerNode is " +
                 std::to_string(tasks.exclusion.task_attempts_per_node) +
                 ", which must be less than spark.task.maxFailures, " + std::to_string(tasks.task_max_failures) +
                 ": else one bad node fails the job"};
  }
  if (!config.authenticate && (config.security.crypto || config.security.encrypt_sasl)) {
    return Error{"what is to be encrypted needs spark.authenticate=true"};
  }
  return {};
}

Status CheckPage(const std::map<std::string, std::string>& settings) {
  if (!settings.contains(kPageKey) || settings.contains(kPageCertificate)) return {};
  return Error{std::string(kPageKey) + " is the key of a certificate; set " + kPageCertificate + ", too"};
}

Status Apply(const std::map<std::string, std::string>& settings, Config& config) {
  for (const auto& [name, value] : settings) {
    const auto* const row =
        std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == name; });
    if (row == std::end(kRows)) return Unknown(name);
    if (const Status set = row->set(value, config); !set.ok()) {
      return Error{name + " is '" + value + "': " + set.error().message};
    }
  }
  if (const Status page = CheckPage(settings); !page.ok()) return page;
  return Check(config);
}

}  // namespace

std::vector<std::string> SparkSettingNames() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

std::vector<base::Setting> SparkSettings() {
  std::vector<base::Setting> settings;
  for (const Row& row : kRows) settings.push_back({std::string(row.name), row.otherwise({}), std::string(row.meaning)});
  return settings;
}

Status ApplySparkSettings(const std::map<std::string, std::string>& settings, tasks::Config& config) {
  Config changed;
  changed.tasks = config;
  if (const Status good = Apply(settings, changed); !good.ok()) return good;
  config = std::move(changed.tasks);
  return {};
}

Result<Security> MakeShuffleSecurity(const JobSettings& settings, std::string_view application_secret) {
  Config config;
  if (const Status good = Apply(settings.spark, config); !good.ok()) return good.error();
  if (!config.authenticate) return Security();
  // Nodes know this secret, and must not learn the one between driver and executors.
  config.security.secret =
      wire::spark_transport::Base64(wire::spark_transport::HkdfSha256(application_secret, "", "fairlead shuffle", 32));
  config.security.app_id = settings.application_id;
  return std::move(config.security);
}

Result<tasks::MergeWhen> MakeMergeWhen(const JobSettings& settings) {
  Config config;
  if (const Status good = Apply(settings.spark, config); !good.ok()) return good.error();
  return config.merge;
}

Result<tasks::Config> MakeTasksConfig(const JobSettings& settings) {
  tasks::Config config;
  config.beyond.adaptive_delay = settings.adaptive_delay;
  config.speculation.executor_slots = settings.executor_cores;
  config.exclusion.dynamic_allocation = settings.executors_min < settings.executors_max;
  if (const Status set = ApplySparkSettings(settings.spark, config); !set.ok()) return set.error();
  if (settings.pools.empty()) return config;
  Result<std::vector<tasks::PoolConfig>> pools = ParsePools(kAllocationFile, settings.pools);
  if (!pools) return pools.error();
  config.pools = std::move(*pools);
  return config;
}

}  // namespace fairlead::engine
