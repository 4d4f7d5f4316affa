#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "application_logs.h"
#include "base/did_you_mean.h"
#include "base/text.h"
#include "cluster_command.h"
#include "config/name_nodes.h"
#include "config/rm_members.h"
#include "documents.h"
#include "endpoints/yarn/credentials.h"
#include "engine/settings/name_nodes.h"
#include "engine/settings/pools_file.h"
#include "engine/settings/spark_settings.h"
#include "env/net.h"
#include "model/ids.h"
#include "shell/client/hdfs_tokens.h"
#include "table.h"
#include "wire/json/json.h"
#include "wire/yarn/client.h"

// `fairlead submit`: a job binary becomes an application. Its file is localized on the master's node, where it is
// started as driver; executors are the same file.

namespace fairlead::apps {
namespace {

namespace yarn = wire::yarn;

constexpr int64_t kOutputBytes = 1 << 20;

struct SubmitOptions {
  ClusterOptions cluster;
  std::string queue = "default";  // the manager's placement rules take it for "none was named"
  int64_t driver_memory_mib = 256;
  int32_t executors_min = -1;  // below 0: as many as at most
  int32_t priority = 0;
  int32_t max_attempts = 0;
  std::string viewers;
  bool speculation = false;
  std::vector<std::string> conf;  // NAME=VALUE
  bool detach = false;
  engine::JobSettings job;
  std::vector<std::string> command;
};

volatile sig_atomic_t interrupted = 0;

/// A word as bash takes it back unchanged.
std::string ShellQuoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string NameOf(const SubmitOptions& options) {
  return options.job.name.empty() ? std::filesystem::path(options.command[0]).filename().string() : options.job.name;
}

struct JobFile {
  std::string path;
  int64_t size = 0;
  int64_t modified_ms = 0;
};

base::Result<JobFile> InspectJob(const std::string& given) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(given, error).string();
  struct stat info {};
  if (error || ::stat(path.c_str(), &info) != 0) return base::Error{given + ": no such file", kNotFound};
  if (!S_ISREG(info.st_mode)) return base::Error{given + " is not a file", kUsage};
  if (::access(path.c_str(), X_OK) != 0) return base::Error{given + " is not executable; build the job first", kUsage};
  return JobFile{path, info.st_size, info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000};
}

yarn::LocalResourceProto ToResource(const JobFile& job) {
  yarn::LocalResourceProto resource;
  auto& url = resource.resource.emplace();
  url.scheme = "file";
  url.file = job.path;
  resource.size = job.size;
  resource.timestamp = job.modified_ms;
  resource.type = yarn::LocalResourceTypeProto::kFile;
  resource.visibility = yarn::LocalResourceVisibilityProto::kApplication;
  return resource;
}

/// "HOST:PORT[,HOST:PORT]", of each resource manager.
std::string Addresses(const config::HadoopConf& conf, const std::string& key) {
  std::string out;
  const auto addresses = config::OfEveryMember(conf, key);
  if (!addresses.ok()) return out;  // the client has refused such a configuration
  for (const std::string& address : *addresses) out += (out.empty() ? "" : ",") + address;
  return out;
}

/// Where a driver finds the HDFS of hdfs:// URLs (engine::kEnvNameNodes): all name services, and fs.defaultFS.
std::string WebNameNodes(const config::HadoopConf& conf) {
  const char* key = "dfs.namenode.http-address";
  std::map<std::string, std::vector<std::string>> by_name = config::NameNodes(conf, key);
  const std::string standard = conf.IsSet("fs.defaultFS") ? conf.String("fs.defaultFS") : "";
  std::string out;
  if (constexpr std::string_view kScheme = "hdfs://"; standard.starts_with(kScheme)) {
    const std::string authority = standard.substr(kScheme.size(), standard.find('/', kScheme.size()) - kScheme.size());
    const auto web = env::ParseEndpoint(conf.String(key), 9870);
    const auto rpc = env::ParseEndpoint(authority, 8020);
    if (rpc.ok() && !by_name.contains(authority))
      by_name[authority].push_back(env::Endpoint{rpc->host, web.ok() ? web->port : uint16_t{9870}}.ToString());
    out = "=" + authority + ";";
  }
  for (const auto& [name, addresses] : by_name) out += name + "=" + base::Joined(addresses, ",") + ";";
  return out;
}

/// By which driver and executors read and write a secured HDFS.
base::Result<std::string> TokensFor(const SubmitOptions& options, const Cluster& cluster) {
  const auto named = options.job.spark.find(engine::kHadoopFileSystems);
  const std::vector<std::string> file_systems =
      named == options.job.spark.end() ? std::vector<std::string>{} : base::SplitTrimmed(named->second, ',');
  const auto tokens = shell::FetchHdfsTokens(cluster.settings.conf, cluster.client->user(), file_systems);
  if (!tokens.ok()) return tokens.error();
  if (!tokens->no_default.empty()) {
    std::fprintf(stderr, "fairlead submit: note: the job cannot use fs.defaultFS: %s\n",
                 base::VisibleText(tokens->no_default).c_str());
  }
  return tokens->credentials.tokens.empty() ? "" : endpoints::yarn::EncodeCredentials(tokens->credentials);
}

yarn::ContainerLaunchContextProto LaunchContext(const SubmitOptions& options, const Cluster& cluster,
                                                const JobFile& job, const std::string& application) {
  yarn::ContainerLaunchContextProto launch;
  auto& local = launch.local_resources.emplace_back();
  local.key = "job";
  local.value = ToResource(job);
  const config::HadoopConf& conf = cluster.settings.conf;
  engine::JobSettings settings = options.job;
  settings.application_id = application;
  settings.name = NameOf(options);
  settings.resource_manager = Addresses(conf, "yarn.resourcemanager.scheduler.address");
  settings.resource_manager_client = Addresses(conf, "yarn.resourcemanager.address");
  settings.job_url = "file://" + job.path;
  settings.job_size = job.size;
  settings.job_timestamp_ms = job.modified_ms;
  settings.shuffle_port = static_cast<int32_t>(conf.Int("spark.shuffle.service.port", 7337));
  const std::pair<const char*, std::string> variables[] = {
      {engine::kEnvJobSettings, engine::EncodeJobSettings(settings)},
      {engine::kEnvWorkingDirectory, std::filesystem::current_path().string()},
      {engine::kEnvNameNodes, WebNameNodes(conf)},
  };
  for (const auto& [name, value] : variables) {
    auto& variable = launch.environment.emplace_back();
    variable.key = name;
    variable.value = value;
  }
  std::string command = "exec ./job";  // no shell between it and the node's signals
  for (size_t i = 1; i < options.command.size(); ++i) command += " " + ShellQuoted(options.command[i]);
  launch.command.push_back(command + " 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr");
  return launch;
}

/// What is larger than the largest container that the cluster gives is told before anything runs.
base::Status CheckFits(const std::string& what, const std::string& words, int64_t memory_mib, int32_t cores,
                       const yarn::ResourceProto& largest) {
  const int64_t most_mib = largest.memory.value_or(INT64_MAX);
  const int32_t most_cores = largest.virtual_cores.value_or(INT32_MAX);
  if (memory_mib <= most_mib && cores <= most_cores) return {};
  return base::Error{what + " of " + MemoryText(memory_mib) + " and " + Counted(cores, "core") +
                     " fits nowhere: the largest container of this cluster has " + MemoryText(most_mib) + " and " +
                     Counted(most_cores, "core") + "; ask for less (" + words + "), or add a larger node"};
}

base::Result<std::string> SubmitJob(const SubmitOptions& options, Cluster& cluster, const JobFile& job) {
  const auto fresh = cluster.client->Call<yarn::GetNewApplicationResponseProto>("getNewApplication",
                                                                                yarn::GetNewApplicationRequestProto{});
  if (!fresh) return fresh.error();
  const yarn::ResourceProto& largest = fresh->MaximumCapability();
  const engine::JobSettings& settings = options.job;
  if (auto fits = CheckFits("a driver", "--driver-memory", options.driver_memory_mib, 1, largest); !fits.ok())
    return fits.error();
  if (auto fits = CheckFits("an executor", "--executor-memory, --executor-cores", settings.executor_memory_mib,
                            settings.executor_cores, largest);
      !fits.ok()) {
    return fits.error();
  }
  const auto& id = fresh->ApplicationId();
  const std::string text = model::ToString(model::ApplicationId{id.cluster_timestamp.value_or(0), id.id.value_or(0)});
  yarn::SubmitApplicationRequestProto request;
  auto& context = request.application_submission_context.emplace();
  context.application_id = id;
  context.application_name = NameOf(options);
  context.queue = options.queue;
  context.priority.emplace().priority = options.priority;
  context.application_type = "FAIRLEAD";
  if (options.job.gang) context.application_tags.push_back("fairlead.gang");
  context.resource.emplace().memory = options.driver_memory_mib;
  context.resource->virtual_cores = 1;
  if (options.max_attempts > 0) context.max_app_attempts = options.max_attempts;
  const auto tokens = TokensFor(options, cluster);
  if (!tokens) return tokens.error();
  context.am_container_spec = LaunchContext(options, cluster, job, text);
  if (!tokens->empty()) context.am_container_spec->tokens = *tokens;
  // Whoever gives the same tokens to several applications, Oozie for example, says so by this key.
  if (!cluster.settings.conf.Bool("mapreduce.job.complete.cancel.delegation.tokens", true))
    context.cancel_tokens_when_complete = false;
  if (!options.viewers.empty()) {
    auto& list = context.am_container_spec->application_acls.emplace_back();
    list.access_type = yarn::ApplicationAccessTypeProto::kViewApp;
    list.acl = options.viewers;
  }
  const auto submitted = cluster.client->Call<yarn::SubmitApplicationResponseProto>("submitApplication", request);
  if (!submitted) return submitted.error();
  return text;
}

/// What the job does, a line per running stage, from its driver's page behind the manager's proxy; where that cannot be
/// had, the application's state and why it waits. On a terminal the lines are renewed in place, else printed at most
/// once a second when they change.
class ProgressLines {
 public:
  ProgressLines(Cluster& cluster, std::string id)
      : cluster_(cluster), id_(std::move(id)), terminal_(::isatty(STDERR_FILENO) != 0) {}

  void Show(const yarn::ApplicationReportProto& report) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? std::chrono::milliseconds(400) : std::chrono::milliseconds(1000));
    std::vector<std::string> lines = StageLines(report);
    if (lines.empty()) lines.push_back(StateLine(report));
    if (tasks_running_ == 0) {
      const std::vector<std::string> waits = WaitLines();
      lines.insert(lines.end(), waits.begin(), waits.end());
    }
    if (lines == last_) return;
    Clear();
    for (const std::string& line : lines) std::fprintf(stderr, "%s\n", line.c_str());
    last_ = std::move(lines);
  }
  /// Takes the lines off a terminal.
  void Clear() {
    if (terminal_ && !last_.empty()) std::fprintf(stderr, "\x1b[%zuA\x1b[J", last_.size());
    last_.clear();
  }

 private:
  static std::string StateLine(const yarn::ApplicationReportProto& report) {
    const auto usage = report.app_resource_usage.value_or(yarn::ApplicationResourceUsageReportProto{});
    return std::string(Name(report.YarnApplicationState())) + "  " +
           std::to_string(static_cast<int>(report.progress.value_or(0) * 100)) + " %  " +
           Counted(std::max(0, usage.num_used_containers.value_or(0)), "container");
  }
  /// Why its asks wait, as far as the resource manager tells.
  std::vector<std::string> WaitLines() const {
    std::vector<std::string> lines;
    const auto detail = AskFairlead(cluster_, "apps/" + id_);
    if (!detail.ok()) return lines;
    for (const auto& ask : detail->value("pending", nlohmann::ordered_json::array())) {
      const std::string remedy = ask.value("remedy", "");
      lines.push_back(base::VisibleText("waits: " + ask.value("reason", "") + ": " + ask.value("detail", "") +
                                        (remedy.empty() ? "" : "; to free it: " + remedy)));
      if (lines.size() == kWaitsShown) break;
    }
    return lines;
  }
  std::vector<std::string> StageLines(const yarn::ApplicationReportProto& report) {
    std::string url(report.TrackingUrl());
    if (url.ends_with('/')) url.pop_back();
    tasks_running_ = 0;
    if (page_failures_ >= 3 || report.YarnApplicationState() != yarn::YarnApplicationStateProto::kRunning ||
        !url.starts_with("http://")) {
      return {};
    }
    const auto answer = cluster_.client->GetUrl(url + "/history.json");
    std::vector<std::string> lines;
    try {
      const auto parsed = wire::json::Parse(answer.ok() ? answer->body : "", wire::json::kAnswer);
      const nlohmann::json page = parsed ? *parsed : nlohmann::json();  // named: the loop below outlives a temporary
      for (const auto& stage : page.at("stages")) {
        if (stage.at("state") != "running") continue;
        char line[200];
        std::snprintf(line, sizeof line, "stage %-4d %-40.40s %6lld/%-6lld %4lld running", stage.at("stage").get<int>(),
                      stage.at("name").get<std::string>().c_str(), stage.at("done").get<long long>(),
                      stage.at("tasks").get<long long>(), stage.at("running").get<long long>());
        lines.push_back(base::VisibleText(line));
        tasks_running_ += stage.at("running").get<int64_t>();
        const auto failed = stage.at("failed").get<long long>();
        if (failed > 0) lines.back() += ", " + std::to_string(failed) + " failed";
      }
    } catch (const nlohmann::json::exception&) {
      ++page_failures_;  // another network, or no driver of ours
      return {};
    }
    return lines;
  }

  static constexpr size_t kWaitsShown = 3;
  Cluster& cluster_;
  const std::string id_;
  const bool terminal_;
  std::chrono::steady_clock::time_point next_{};
  int page_failures_ = 0;
  int64_t tasks_running_ = 0;
  std::vector<std::string> last_;
};

/// What the job itself printed: its last driver's stdout, the end of it where it is long.
void PrintOutput(Cluster& cluster, const std::string& id, const std::string& owner) {
  const model::ApplicationId parsed = *model::ParseApplicationId(id);
  yarn::GetApplicationAttemptsRequestProto request;
  request.application_id = ToProto(parsed);
  const auto attempts =
      cluster.client->Call<yarn::GetApplicationAttemptsResponseProto>("getApplicationAttempts", request);
  if (!attempts || attempts->application_attempts.empty()) return;
  const auto& master = attempts->application_attempts.back().AmContainerId();
  const model::ContainerId container{{parsed, master.AppAttemptId().AttemptId()}, master.id.value_or(0)};
  const auto text = FetchLogEnd(cluster, parsed, owner, model::ToString(container), "stdout", kOutputBytes);
  if (!text) {
    std::fprintf(stderr, "what it printed cannot be had: %s\n", base::VisibleText(text.error().message).c_str());
    return;
  }
  if (text->size() == kOutputBytes) std::fputs("the end of what it printed (fairlead logs has all):\n", stderr);
  // Programs get it as it is; a terminal would obey it.
  const std::string shown = ::isatty(STDOUT_FILENO) != 0 ? base::VisibleText(*text, base::Lines::kKept) : *text;
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  if (!shown.empty() && shown.back() != '\n') std::fputc('\n', stdout);
  std::fflush(stdout);
}

int Finish(const SubmitOptions& options, Cluster& cluster, const std::string& id,
           const yarn::ApplicationReportProto& report) {
  const auto final_status = report.FinalApplicationStatus();
  const bool good = final_status == yarn::FinalApplicationStatusProto::kSucceeded;
  const std::string_view status = Name(final_status);
  if (options.cluster.json) {
    PrintDocument(JobEnded{id, std::string(Name(report.YarnApplicationState())), std::string(status),
                           std::string(report.Diagnostics()),
                           report.finish_time.value_or(0) - report.start_time.value_or(0)});
  } else {
    PrintOutput(cluster, id, std::string(report.User()));
    std::fprintf(stderr, "%s ended: %s after %s\n", id.c_str(), std::string(status).c_str(),
                 DurationText(report.finish_time.value_or(0) - report.start_time.value_or(0)).c_str());
  }
  if (good) return kOk;
  const std::string why(report.Diagnostics());
  const bool succeeded = why.find(" exited with  exitCode: 0\n") != std::string::npos;  // in Hadoop's words
  const char* hint = succeeded ? "it ended without registering as a master: is it linked with the engine?\n" : "";
  return Complain("submit", why + "\n" + hint + "its logs: fairlead logs " + id, kJobFailed);
}

void KillQuietly(Cluster& cluster, const yarn::ApplicationIdProto& id) {
  yarn::KillApplicationRequestProto request;
  request.application_id = id;
  (void)cluster.client->Call<yarn::KillApplicationResponseProto>("forceKillApplication", request).ok();
}

/// A driver is there again, and why the last one ended.
void SayNewAttempt(Cluster& cluster, const model::ApplicationId& id, int32_t attempt) {
  yarn::GetApplicationAttemptReportRequestProto request;
  request.application_attempt_id.emplace().application_id = ToProto(id);
  request.application_attempt_id->attempt_id = attempt - 1;
  const auto answer =
      cluster.client->Call<yarn::GetApplicationAttemptReportResponseProto>("getApplicationAttemptReport", request);
  const std::string why(answer ? answer->ApplicationAttemptReport().Diagnostics() : "");
  std::fprintf(stderr, "attempt %d begins; attempt %d ended: %s\n", attempt, attempt - 1,
               base::VisibleText(why.substr(0, why.find('\n'))).c_str());
}

/// Follows the application to its end; Ctrl-C kills it.
int Follow(const SubmitOptions& options, Cluster& cluster, const std::string& id) {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  const model::ApplicationId parsed = *model::ParseApplicationId(id);
  yarn::GetApplicationReportRequestProto request;
  auto& proto = request.application_id.emplace();
  proto.cluster_timestamp = parsed.cluster_timestamp;
  proto.id = parsed.number;
  cluster.client->SetPatience(base::Duration::Seconds(120));
  ProgressLines lines(cluster, id);
  int32_t attempt = 1;
  while (true) {
    const auto answer = cluster.client->Call<yarn::GetApplicationReportResponseProto>("getApplicationReport", request);
    if (!answer) return Complain("submit", answer.error().message, CodeOf(answer.error()));
    const auto& report = answer->ApplicationReport();
    if (report.YarnApplicationState() >= yarn::YarnApplicationStateProto::kFinished) {
      lines.Clear();
      return Finish(options, cluster, id, report);
    }
    if (!options.cluster.json) lines.Show(report);
    if (const int32_t now = report.CurrentApplicationAttemptId().AttemptId(); now > attempt) {
      lines.Clear();
      SayNewAttempt(cluster, parsed, attempt = now);
    }
    if (interrupted) {
      lines.Clear();  // and is not cleared itself
      std::fprintf(stderr, "interrupted: killing %s\n", id.c_str());
      KillQuietly(cluster, proto);
      interrupted = 0;
    }
    cluster.client->Pause(200);
  }
}

/// Most placement rules make a queue that is asked for and not there: a misspelt one is told before the job runs in it.
void WarnOfNewQueue(Cluster& cluster, const std::string& queue) {
  const auto answer = cluster.client->Get("/fairlead/v1/queues");
  if (!answer.ok() || answer->status != 200) return;  // Hadoop's resource manager
  std::vector<std::string> known;
  const auto json = wire::json::Parse(answer->body, wire::json::kAnswer);
  if (!json || !json->is_object()) return;
  for (const auto& one : json->value("queues", nlohmann::json::array())) {
    const std::string name = one.value("name", "");
    if (name == queue || name == "root." + queue) return;
    known.push_back(name.substr(name.starts_with("root.") && !queue.starts_with("root.") ? 5 : 0));
  }
  std::fprintf(stderr, "fairlead submit: note: there is no queue '%s' yet%s\n", base::VisibleText(queue).c_str(),
               base::VisibleText(base::DidYouMean(queue, known)).c_str());
}

int Submit(const SubmitOptions& options) {
  auto cluster = OpenCluster(options.cluster);
  if (!cluster) return Complain("submit", cluster.error().message, CodeOf(cluster.error()));
  const auto job = InspectJob(options.command[0]);
  if (!job) return Complain("submit", job.error().message, static_cast<ExitCode>(job.error().code));
  WarnOfNewQueue(*cluster, options.queue);
  const auto id = SubmitJob(options, *cluster, *job);
  if (!id) return Complain("submit", id.error().message, CodeOf(id.error()));
  if (options.detach) {
    if (options.cluster.json) PrintDocument(Submitted{*id});
    if (!options.cluster.json) std::puts(id->c_str());
    return kOk;
  }
  if (!options.cluster.json) {
    const std::string page = cluster->client->Page() + "/cluster/app/" + *id;
    std::fprintf(stderr, "submitted %s\nits page: %s\n", id->c_str(), page.c_str());
  }
  return Follow(options, *cluster, *id);
}

/// The options that depend on each other, and Spark's settings: all that can be known to be wrong before anybody is
/// asked.
base::Status CompleteSettings(SubmitOptions& options) {
  engine::JobSettings& job = options.job;
  if (options.executors_min > job.executors_max) return base::Error{"--executors-min is more than --executors"};
  job.executors_min = options.executors_min < 0 ? job.executors_max : options.executors_min;
  if (!job.event_log_directory.empty()) {
    job.event_log_directory = std::filesystem::absolute(job.event_log_directory).string();
  }
  if (job.gang && job.executors_min == 0)
    return base::Error{"--gang needs at least one executor: --executors-min is 0"};
  if (options.speculation) job.spark["spark.speculation"] = "true";
  for (const std::string& setting : options.conf) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) return base::Error{"--conf " + setting + ": write NAME=VALUE"};
    job.spark[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  if (const auto file = job.spark.find(engine::kAllocationFile); file != job.spark.end()) {
    auto pools = engine::ReadPoolsFile(file->second);
    if (!pools) return pools.error();
    job.pools = *std::move(pools);
  }
  const auto config = engine::MakeTasksConfig(job);
  return config ? base::Status() : config.error();
}

CLI::Validator AtLeastOne() {
  return {[](std::string& text) -> std::string {
            int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool good = error == std::errc() && end == text.data() + text.size() && value > 0;
            return good ? "" : "write a whole number of at least 1, not '" + text + "'";
          },
          ""};
}

/// Whole MiB, or a size as Spark spells it: 512m, 2g, 1t.
CLI::Validator Memory() {
  return {
      [](std::string& text) -> std::string {
        const std::string wrong =
            "write MiB as a whole number of at least 1, or a size like 512m or 2g, not '" + text + "'";
        int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        std::string unit(end, static_cast<const char*>(text.data() + text.size()));
        for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        const std::map<std::string, int64_t> units = {{"", 1},         {"m", 1},       {"mb", 1},      {"g", 1 << 10},
                                                      {"gb", 1 << 10}, {"t", 1 << 20}, {"tb", 1 << 20}};
        const auto factor = units.find(unit);
        if (error != std::errc() || value < 1 || factor == units.end() || value > (int64_t{1} << 30) / factor->second)
          return wrong;
        text = std::to_string(value * factor->second);
        return "";
      },
      ""};
}

/// Words after the job are the job's, also those that look like options of submit.
void WarnOfOptionsOfTheJob(const CLI::App& submit, const std::vector<std::string>& command) {
  for (size_t i = 1; i < command.size(); ++i) {
    const std::string name = command[i].substr(0, command[i].find('='));
    if (!name.starts_with("--") || submit.get_option_no_throw(name) == nullptr) continue;
    std::fprintf(stderr, "fairlead submit: note: %s stands after the job and is given to the job\n",
                 base::VisibleText(name).c_str());
  }
}

}  // namespace

std::string_view InsteadOf(std::string_view spark_submit_option) {
  static constexpr std::string_view kFiles = "put it where every node reads it under the same name";
  static constexpr std::pair<std::string_view, std::string_view> kInstead[] = {
      {"--master", "the cluster is that of --hadoop-conf, or the one that 'fairlead up' started"},
      {"--deploy-mode", "the driver runs on the cluster; JOB --local[4] runs all of it here"},
      {"--class", "a job is a program of its own"},
      {"--jars", "a job is a program of its own"},
      {"--packages", "a job is a program of its own"},
      {"-c", "write --conf NAME=VALUE"},
      {"--properties-file", "write each setting as --conf NAME=VALUE"},
      {"--driver-cores", "a driver has one core"},
      {"--total-executor-cores", "there are --executors times --executor-cores"},
      {"--supervise", "--max-attempts says how often a driver is started"},
      {"--files", kFiles},
      {"--archives", kFiles},
      {"--proxy-user", "--user acts as another user"},
      {"--status", "'fairlead app ID' shows an application"},
      {"--kill", "'fairlead kill ID' ends an application"},
      {"--verbose", "'fairlead why ID' and 'fairlead app ID' say what happens"},
  };
  for (const auto& [option, instead] : kInstead) {
    if (option == spark_submit_option) return instead;
  }
  return "";
}

void AddSubmit(CLI::App& app, int& exit_code) {
  CLI::App* submit = app.add_subcommand("submit", "Run a job binary (a program linked with the engine) on the cluster");
  submit->footer(
      "Relative paths that the job reads or writes begin at the directory in which submit runs; nodes must have it "
      "under "
      "the\nsame name.\nExamples:\n  fairlead submit build/examples/word_count book.txt out\n"
      "  fairlead submit --queue prod --executors 4 --executor-memory 1g build/examples/terasort in out\n"
      "Ctrl-C kills the application; --detach prints its id and returns.");
  auto options = std::make_shared<SubmitOptions>();
  AddClusterOptions(*submit, options->cluster);
  submit->add_option("--queue", options->queue,
                     "queue (default: the one that the cluster's placement rules give; without rules root.USER)");
  submit->add_option("--name", options->job.name, "name (default: the file's)");
  submit->add_option("--priority", options->priority, "priority within the queue")->capture_default_str();
  submit->add_option("--driver-memory", options->driver_memory_mib, "MiB of the driver; 512m and 2g are understood")
      ->transform(Memory())
      ->capture_default_str();
  submit->add_option("--executors,--num-executors", options->job.executors_max, "executors at most")
      ->check(AtLeastOne())
      ->capture_default_str();
  submit
      ->add_option("--executors-min", options->executors_min, "executors at least (default: the same: a fixed number)")
      ->check(CLI::Range(0, 1'000'000));
  submit->add_flag("--gang", options->job.gang,
                   "all of the least number of executors at once, or none of them (a resource manager of Fairlead's)");
  submit
      ->add_option("--executor-memory", options->job.executor_memory_mib,
                   "MiB of an executor; 512m and 2g are understood")
      ->transform(Memory())
      ->capture_default_str();
  submit->add_option("--executor-cores", options->job.executor_cores, "tasks at once in an executor")
      ->check(AtLeastOne())
      ->capture_default_str();
  submit->add_option("--max-attempts", options->max_attempts, "attempts of the driver at most (default: the cluster's)")
      ->check(CLI::Range(1, 1000));
  submit->add_option("--viewers", options->viewers,
                     "who beside you and administrators may see the job where yarn.acl.enable is on: "
                     "\"USER,USER GROUP,GROUP\", or *");
  submit
      ->add_option("--executor-idle", options->job.executor_idle_seconds,
                   "seconds after which an idle executor above the least number is given back")
      ->check(AtLeastOne())
      ->capture_default_str();
  submit->add_flag("--speculation", options->speculation, "run slow tasks a second time beside the first");
  submit->add_flag("--adaptive-delay", options->job.adaptive_delay,
                   "wait for a place near the data no longer than reading from afar was measured to take (else 3 s)");
  submit->add_option("--event-log", options->job.event_log_directory,
                     "directory for the driver's event log (default: beside the driver's other logs)");
  submit->add_option("--conf", options->conf, "NAME=VALUE: a setting of Spark's, for scheduling tasks (man fairlead)")
      ->allow_extra_args(false);
  submit->add_flag("--detach", options->detach, "do not wait for the end");
  submit->add_option("command", options->command, "the job binary and its arguments")->required();
  submit->positionals_at_end();
  submit->prefix_command(false);
  submit->callback([options, submit, &exit_code] {
    WarnOfOptionsOfTheJob(*submit, options->command);
    const base::Status complete = CompleteSettings(*options);
    exit_code = complete.ok() ? Submit(*options) : Complain("submit", complete.error().message, kUsage);
  });
}

}  // namespace fairlead::apps
