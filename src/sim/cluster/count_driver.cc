#include "sim/cluster/count_driver.h"

#include "base/codec.h"
#include "endpoints/yarn/credentials.h"

namespace fairlead::sim {

namespace mt = model::tasks;
using base::Duration;

namespace {

tasks::Config TasksConfig() {
  tasks::Config config;
  config.external_shuffle_service = true;
  // Much of it, so that copies of tasks ask to commit, and are killed.
  config.speculation.enabled = true;
  config.speculation.quantile = 0.5;
  config.speculation.multiplier = 1.1;
  return config;
}

mt::Dataset DatasetOf(CountDataset id, const char* name, int32_t partitions) {
  mt::Dataset dataset;
  dataset.id = id;
  dataset.name = name;
  dataset.partitions = partitions;
  dataset.cached = id == kInput || id == kDoubled;
  mt::Dependency dependency;
  if (id == kCountByKey || id == kKeysByCount) {
    dependency.kind = mt::Dependency::Kind::kShuffle;
    dependency.dataset = id - 1;
    dependency.shuffle = id - 1;
    dataset.dependencies.push_back(dependency);
  } else if (id == kDoubled) {
    dependency.dataset = kInput;
    dataset.dependencies.push_back(dependency);
  }
  return dataset;
}

}  // namespace

CountDriver::CountDriver(env_sim::World& world, env_sim::Machine& machine, std::vector<env::Endpoint> schedulers,
                         const JobSpec& job, model::ApplicationAttemptId attempt, endpoints::yarn::RpcToken token,
                         Ledger& ledger, std::function<void(int exit_code)> exit)
    : world_(world),
      machine_(machine),
      schedulers_(std::move(schedulers)),
      job_(job),
      attempt_(attempt),
      token_(std::move(token)),
      ledger_(ledger),
      exit_(std::move(exit)),
      jobs_(machine.loop(), TasksConfig(), *this) {
  uint8_t bytes[16];
  machine_.loop().RandomBytes(bytes);
  secret_.assign(reinterpret_cast<const char*>(bytes), sizeof bytes);
  machine_.loop().After(Duration::Millis(100), alive_([this] { Start(); }));
}

CountDriver::~CountDriver() = default;

process::driver::ExecutorLaunch CountDriver::MakeLaunch(const env::Endpoint& driver) const {
  process::driver::ExecutorLaunch launch;
  launch.memory_mib = job_.task_size.memory_mib();
  launch.cores = static_cast<int32_t>(job_.task_size.vcores());
  launch.job_url = "file:///job";
  launch.command = {"simulate-executor", std::to_string(job_.number), driver.ToString()};
  endpoints::yarn::Credentials credentials;
  credentials.secrets[kExecutorSecret] = secret_;
  launch.tokens = EncodeCredentials(credentials);
  return launch;
}

void CountDriver::Start() {
  process::driver::FleetSettings settings;
  settings.host = machine_.host();
  settings.resource_managers = schedulers_;
  settings.am_rm_token = token_;
  settings.executors_max = job_.executors;
  settings.executors_min = 1;
  settings.cores = static_cast<int32_t>(job_.task_size.vcores());
  settings.build_id = "simulated";
  settings.secret = secret_;
  process::driver::ExecutorFleet::Callbacks callbacks;
  callbacks.on_failed = [this](const std::string& reason) { Finish(reason); };
  callbacks.progress = [] { return 0.5f; };
  callbacks.on_news = [](const std::string&) {};
  callbacks.make_launch = [this](const env::Endpoint& driver) { return MakeLaunch(driver); };
  fleet_ = std::make_unique<process::driver::ExecutorFleet>(machine_.loop(), machine_.net(), jobs_, std::move(settings),
                                                            std::move(callbacks));
  jobs_.AddListener(this);
  if (job_.merges) {
    process::driver::MergeSettings merges;
    merges.when = tasks::MergeWhen::kAlways;
    merges.application_id = ToString(attempt_.app);
    merges.app_attempt = attempt_.attempt;
    jobs_.MergeShuffles(machine_.net(), std::move(merges));
  }
  if (const base::Status started = fleet_->Start(); !started.ok()) {
    ledger_.Violation(ToString(attempt_) + " cannot listen: " + started.error().message);
    return exit_(1);
  }
  Submit(0);
}

void CountDriver::Submit(size_t number) {
  const CountDataset target = kTargets[number];
  mt::SubmitJob job;
  job.job = static_cast<mt::JobId>(number);
  if (number == 0) {
    job.datasets = {DatasetOf(kInput, "input", job_.tasks), DatasetOf(kCountByKey, "count by key", job_.reduces),
                    DatasetOf(kKeysByCount, "keys by count", kHistogramPartitions),
                    DatasetOf(kDoubled, "doubled", job_.tasks)};
  }
  job.target = target;
  const int32_t partitions = target == kKeysByCount ? kHistogramPartitions : job_.tasks;
  for (int32_t partition = 0; partition < partitions; ++partition) job.partitions.push_back(partition);
  result_.clear();
  process::driver::JobDriver::JobCallbacks callbacks;
  callbacks.on_result = [this](int32_t, const std::string& result) {
    if (!DecodeInto(result, result_)) ledger_.Violation(ToString(attempt_) + " got a malformed result");
  };
  callbacks.on_end = [this, number](const mt::JobEnded& end) { OnJobEnded(number, end); };
  jobs_.Submit(std::move(job), std::move(callbacks));
}

void CountDriver::OnJobEnded(size_t job, const mt::JobEnded& end) {
  if (finishing_) return;
  if (!end.succeeded) {
    ++world_.counts()["job fails with a reason"];
    if (end.error.empty()) ledger_.Violation(ToString(attempt_) + "'s job failed without a reason");
    return Finish(end.error);
  }
  if (result_ != Expected(job_, kTargets[job])) {
    ledger_.Violation(ToString(attempt_) + "'s job " + std::to_string(job) + " ended with a wrong result");
  }
  if (job + 1 < std::size(kTargets)) {
    if (kTargets[job] == kDoubled) jobs_.Forget({kDoubled}, {});
    return machine_.loop().Post(alive_([this, next = job + 1] {
      if (!finishing_) Submit(next);
    }));
  }
  ledger_.ResultRight(attempt_.app);
  Finish("");
}

void CountDriver::Finish(const std::string& error) {
  if (std::exchange(finishing_, true)) return;
  fleet_->Finish(error, [this, code = error.empty() ? 0 : 1] { exit_(code); });
}

std::string CountDriver::PlanOf(const mt::StageSubmitted& stage) {
  StagePlan plan;
  if (!stage.reads.empty()) plan.reads = stage.reads.front();
  plan.writes = stage.shuffle;
  plan.reduces = stage.reduce_partitions;
  if (stage.dataset == kDoubled) plan.kept = {kDoubled, kInput};
  if (stage.dataset == kInput) plan.kept = {kInput};
  plan.commits = stage.shuffle < 0;
  plan.input_seed = job_.input_seed;
  std::string bytes;
  base::Encode(bytes, plan);
  return bytes;
}

void CountDriver::OnMerged(const process::driver::MergeResult& result) {
  for (size_t i = 0; i < result.services.size(); ++i) {
    if (!result.statuses[i]) {
      ++world_.counts()["merge ended without its service"];
      continue;
    }
    ledger_.merges().Claimed(ToString(attempt_), ToString(attempt_.app), result.services[i].host, result.shuffle,
                             *result.statuses[i]);
  }
  if (result.merged > 0) ++world_.counts()["shuffle merged"];
}

void CountDriver::OnEffect(const mt::Effect& effect) {
  if (const auto* submitted = std::get_if<mt::StageSubmitted>(&effect)) {
    if (submitted->attempt > 0) ++world_.counts()["stage runs again"];
  } else if (const auto* answer = std::get_if<mt::CommitAnswered>(&effect)) {
    if (answer->granted) ledger_.MayCommit(ToString(attempt_), answer->task);
  } else if (const auto* ended = std::get_if<mt::TaskEnded>(&effect)) {
    if (ended->kind == mt::EndKind::kFetchFailed) ++world_.counts()["map output cannot be fetched"];
    if (ended->kind == mt::EndKind::kExecutorLost || ended->kind == mt::EndKind::kExecutorLostByApp) {
      ++world_.counts()["task lost with its executor"];
    }
  }
}

}  // namespace fairlead::sim
