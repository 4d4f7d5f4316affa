#include "engine/driver/driver_session.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "base/codec.h"
#include "engine/plan/plan.h"
#include "engine/plan/shared_values.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

namespace mt = model::tasks;

/// A program's thread waits here for its job.
struct DriverSession::Wait {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> ended = false;
  std::string error;
  std::exception_ptr thrown;  // by on_result

  void Await() {
    // A job of one short task is over sooner than a core that went to sleep wakes up (85 us in a virtual machine).
    // The loop's thread may have been woken on this very core.
    const auto soon = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    while (!ended && std::chrono::steady_clock::now() < soon) std::this_thread::yield();
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ended.load(); });
  }
};

namespace {
/// Of this thread; a program has one session.
thread_local std::string pool_of_thread;
}  // namespace

DatasetNode::~DatasetNode() {
  if (session == nullptr || id < 0) return;
  std::vector<int32_t> ids;
  for (const Shuffle& shuffle : shuffles) ids.push_back(shuffle.id);
  session->Drop(id, std::move(ids));
}

DriverSession::DriverSession(std::string application_id, int32_t parallelism, tasks::Config config)
    : application_id_(std::move(application_id)),
      parallelism_(parallelism),
      loop_(env_posix::MakePosixLoop(env_posix::WhenIdle::kPollFirst)),
      driver_(std::make_unique<process::driver::JobDriver>(*loop_, std::move(config), *this)) {
  driver_->AddListener(this);
  thread_ = std::thread([this] { loop_->Run(); });
}

DriverSession::~DriverSession() { Stop(); }

void DriverSession::Stop() {
  if (!thread_.joinable()) return;
  loop_->Stop();
  thread_.join();
}

int64_t DriverSession::PutBroadcast(std::string value) {
  static std::atomic<int64_t> next{0};  // of the process, as decoded values are
  const int64_t id = next++;
  loop_->Post([this, id, value = std::move(value)]() mutable { driver_->PutBroadcast(id, std::move(value)); });
  return id;
}

void DriverSession::DropBroadcast(int64_t id) {
  DecodedBroadcasts::Forget(id);
  if (thread_.joinable()) loop_->Post([this, id] { driver_->DropBroadcast(id); });
}

int64_t DriverSession::CounterValue(int64_t id) const {
  const std::lock_guard lock(counters_mutex_);
  const auto found = counters_.find(id);
  return found == counters_.end() ? 0 : found->second;
}

void DriverSession::OnTaskDone(const wire::engine::TaskDone& done) {
  if (done.counters.empty()) return;
  const std::lock_guard lock(counters_mutex_);
  for (const auto& [id, amount] : done.counters) counters_[id] += amount;
}

void DriverSession::OnLoop(const std::function<void()>& work) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  loop_->Post([&] {
    work();
    const std::lock_guard lock(mutex);
    done = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done; });
}

void DriverSession::Drop(int32_t dataset, std::vector<int32_t> shuffles) {
  if (!thread_.joinable()) return;
  loop_->Post([this, dataset, ids = std::move(shuffles)]() mutable {
    for (const int32_t shuffle : ids) shuffles_.erase(shuffle);
    if (nodes_.erase(dataset) != 0) driver_->Forget({dataset}, std::move(ids));
  });
}

void DriverSession::Describe(const std::shared_ptr<DatasetNode>& node, std::vector<mt::Dataset>& out) {
  if (nodes_.count(node->id) != 0) return;
  nodes_[node->id] = node;
  mt::Dataset dataset;
  dataset.id = node->id;
  dataset.name = node->name;
  dataset.partitions = node->partitions;
  dataset.cached = node->cached;
  dataset.order_sensitive = node->order_sensitive;
  if (node->random) dataset.determinism = mt::Determinism::kIndeterminate;
  for (const DatasetNode::Narrow& input : node->narrow) {
    Describe(input.parent, out);
    mt::Dependency dependency;
    const bool whole = input.out_start == 0 && input.in_start == 0 && input.length == node->partitions;
    dependency.kind = whole ? mt::Dependency::Kind::kOneToOne : mt::Dependency::Kind::kRange;
    dependency.dataset = input.parent->id;
    dependency.in_start = input.in_start;
    dependency.out_start = input.out_start;
    dependency.length = input.length;
    dataset.dependencies.push_back(dependency);
  }
  for (const DatasetNode::Shuffle& shuffle : node->shuffles) {
    Describe(shuffle.parent, out);
    shuffles_[shuffle.id] = &shuffle;
    mt::Dependency dependency;
    dependency.kind = mt::Dependency::Kind::kShuffle;
    dependency.dataset = shuffle.parent->id;
    dependency.shuffle = shuffle.id;
    dataset.dependencies.push_back(dependency);
  }
  for (const std::vector<DataHost>& hosts : node->places.of_partition) {
    std::vector<mt::TaskLocation> locations;
    for (const auto& [host, in_memory] : hosts) {
      locations.push_back({in_memory ? mt::TaskLocation::Kind::kHdfsCache : mt::TaskLocation::Kind::kHost, host, {}});
    }
    dataset.preferred.push_back(std::move(locations));
  }
  for (const auto& [host, rack] : node->places.racks) driver_->KnowRack(host, rack);
  out.push_back(std::move(dataset));
}

std::string DriverSession::PlanOf(const mt::StageSubmitted& stage) {
  StagePlan plan;
  std::shared_ptr<DatasetNode> last;
  if (const auto found = nodes_.find(stage.dataset); found != nodes_.end()) last = found->second.lock();
  if (!last) return {};  // dropped meanwhile: executors answer that the plan is malformed
  if (stage.shuffle >= 0) {
    const auto shuffle = shuffles_.find(stage.shuffle);
    if (shuffle == shuffles_.end()) return {};
    plan.sink_op = shuffle->second->writer_op;
    plan.sink_payload = shuffle->second->writer_payload;
    plan.shuffle = stage.shuffle;
    plan.reduce_partitions = stage.reduce_partitions;
  } else {
    const auto job = jobs_.find(stage.job);
    if (job == jobs_.end()) return {};
    plan.sink_op = job->second.action.sink_op;
    plan.sink_payload = job->second.action.sink_payload;
    plan.sample_records = job->second.action.sample_records;
    plan.description = job->second.action.description;
  }
  std::map<int32_t, int32_t> places;  // dataset -> index in the plan
  const std::function<int32_t(const DatasetNode&)> add = [&](const DatasetNode& node) {
    if (const auto known = places.find(node.id); known != places.end()) return known->second;
    PlanNode out;
    out.dataset = node.id;
    out.op = node.op;
    out.payload = node.payload;
    out.partitions = node.partitions;
    out.cached = node.cached;
    out.keeps_records = node.keeps_records;
    for (const DatasetNode::Narrow& input : node.narrow) {
      out.inputs.push_back({add(*input.parent), input.out_start, input.in_start, input.length});
    }
    for (const DatasetNode::Shuffle& shuffle : node.shuffles) out.shuffles.push_back(shuffle.id);
    plan.nodes.push_back(std::move(out));
    return places[node.id] = static_cast<int32_t>(plan.nodes.size()) - 1;
  };
  add(*last);
  std::string bytes;
  base::Encode(bytes, plan);
  return bytes;
}

void DriverSession::SetPool(std::string pool) { pool_of_thread = std::move(pool); }

void DriverSession::RunJob(const std::shared_ptr<DatasetNode>& target, const std::vector<int32_t>& partitions,
                           const ActionPlan& action,
                           const std::function<void(int32_t output, std::string result)>& on_result) {
  auto wait = std::make_shared<Wait>();
  loop_->Post([&, wait, pool = pool_of_thread] {
    if (!failure_.empty()) {
      const std::lock_guard lock(wait->mutex);
      wait->error = failure_;
      wait->ended = true;
      wait->changed.notify_all();
      return;
    }
    mt::SubmitJob job;
    job.job = next_job_++;
    Describe(target, job.datasets);
    job.target = target->id;
    job.partitions = partitions;
    job.pool = pool;
    job.description = action.description;
    jobs_[job.job] = {target, action, wait};
    process::driver::JobDriver::JobCallbacks callbacks;
    callbacks.on_result = [wait, &on_result](int32_t output, std::string result) {
      if (wait->thrown) return;
      try {
        on_result(output, std::move(result));
      } catch (...) {
        wait->thrown = std::current_exception();
      }
    };
    callbacks.on_end = [this, wait, id = job.job](const mt::JobEnded& end) {
      jobs_.erase(id);
      const std::lock_guard lock(wait->mutex);
      if (!end.succeeded) wait->error = end.error.empty() ? "job was cancelled" : end.error;
      wait->ended = true;
      wait->changed.notify_all();
    };
    driver_->Submit(std::move(job), std::move(callbacks));
  });
  wait->Await();
  if (wait->thrown) std::rethrow_exception(wait->thrown);
  if (!wait->error.empty()) throw JobError(wait->error);
}

void DriverSession::Fail(const std::string& reason) {
  loop_->Post([this, reason] {
    if (failure_.empty()) failure_ = reason;
    std::vector<int32_t> ids;
    for (const auto& [id, job] : jobs_) ids.push_back(id);
    for (const int32_t id : ids) driver_->Cancel(id, reason);
  });
}

}  // namespace fairlead::engine
