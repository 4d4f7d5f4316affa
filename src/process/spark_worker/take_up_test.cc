#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/stored.h"
#include "env/log.h"
#include "env_sim/world.h"
#include "process/spark_worker/spark_worker.h"
#include "process/spark_worker/worker_page.h"

namespace fairlead::process::spark_worker {
namespace {

/// Notes what it is asked.
class NotedSupervision final : public Supervision {
 public:
  void Listen(Listener) override {}
  void Start(RunOrder) override {}
  void End(const std::string& key) override { ended.push_back(key); }
  void Forget(const std::string& key) override { forgotten.push_back(key); }
  void KeepFor(base::Duration) override {}
  void Quit() override {}
  std::vector<std::string> ended;
  std::vector<std::string> forgotten;
};

/// `pid` 0: it has ended meanwhile.
SupervisedRun Left(std::string key, std::string record, int64_t pid) {
  SupervisedRun run;
  run.key = std::move(key);
  run.record = std::move(record);
  run.pid = pid;
  if (pid == 0) run.code = 1;
  return run;
}

TEST(TakeUp, WhatCannotBeReadIsEndedAndCountedAndTheRestIsTakenUp) {
  env_sim::World world(1);
  env_sim::Machine& machine = world.AddMachine("worker");
  env::NullLog log;
  NotedSupervision supervision;
  const endpoints::spark::SparkBuild build;
  SparkWorkerSettings settings;
  settings.listen = {"worker", 35000};
  settings.host = "worker";
  settings.work_directory = "/work";
  RunRecord record;
  record.application = "app-1";
  record.executor = 3;
  settings.runs = {Left("app-1/1", "\x01\xff", 7), Left("app-1/2", "", 0),
                   Left("app-1/3", base::EncodeStored(record), 9)};
  const auto worker = SparkWorker::Start({machine.loop(), machine.net(), supervision, machine.disk(), log}, build,
                                         std::move(settings), [](const std::string&) {});
  ASSERT_TRUE(worker.ok()) << worker.error().message;
  EXPECT_EQ((*worker)->unread(), (std::vector<std::string>{"app-1/1", "app-1/2"}));
  EXPECT_EQ(supervision.ended, std::vector<std::string>{"app-1/1"});
  EXPECT_EQ(supervision.forgotten, std::vector<std::string>{"app-1/2"});
  ASSERT_EQ((*worker)->executors().size(), 1U);
  EXPECT_EQ((*worker)->executors().begin()->second.launch.executor, 3);
  EXPECT_NE(WorkerNotices(**worker).find("the record of app-1/2"), std::string::npos);
  EXPECT_NE(WorkerMetrics(**worker, {}).body.find("fairlead_spark_worker_runs_unread 2"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::process::spark_worker
