// What a Standalone Master does with stored rows that cannot be read, and while nothing can be stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "env_sim/world.h"
#include "oracle/spark_peer.h"
#include "process/spark_master/master_json.h"
#include "process/spark_master/standalone_master.h"

namespace fairlead::oracle {
namespace {

namespace sm = process::spark_master;
using nlohmann::json;
using ::testing::HasSubstr;
using Tables = std::map<std::string, std::map<std::string, std::string>>;

/// Keeps rows in memory, which outlives it.
class RowsStore final : public env::Store {
 public:
  RowsStore(env::Loop& loop, Tables& tables, const bool& refuses) : loop_(loop), tables_(tables), refuses_(refuses) {}
  void Commit(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) override {
    if (refuses_) {
      return loop_.Post([done] { done(env::CommitError{env::CommitFailure::kRefused, "the disk is full"}); });
    }
    for (const env::Row& row : rows) {
      if (row.value) tables_[row.table][row.key] = *row.value;
      if (!row.value) tables_[row.table].erase(row.key);
    }
    loop_.Post([done] { done({}); });
  }
  base::Result<std::vector<env::Row>> Load(const std::string& table) override {
    std::vector<env::Row> rows;
    for (const auto& [key, value] : tables_[table]) rows.push_back({table, key, value});
    return rows;
  }
  std::string Name() const override { return "rows"; }

 private:
  env::Loop& loop_;
  Tables& tables_;
  const bool& refuses_;
};

class SparkStore : public ::testing::Test {
 protected:
  SparkStore() { world_.AddMachine("master"); }

  base::Status Start() {
    env_sim::Machine& machine = world_.machine("master");
    sm::SparkMasterSettings master;
    master.listen = {"master", 7077};
    master.host = "master";
    master.builds = {build_};
    master_ = std::make_unique<sm::StandaloneMaster>(machine.loop(), machine.net(), log_,
                                                     sm::StandaloneMaster::Options{std::move(master), {}, {}});
    return master_->LeadAlone(std::make_unique<RowsStore>(machine.loop(), tables_, refuses_), {});
  }
  bool Await(const std::function<bool()>& done) {
    return world_.RunUntil(world_.now() + base::Duration::Seconds(90), done);
  }
  std::string Notices() { return sm::NoticesJson(master_->cluster()); }

  env_sim::World world_{1};
  env::NullLog log_;
  const endpoints::spark::SparkBuild build_{"/opt/spark", "4.3.0", CatalogOf("4.3.0")};
  Tables tables_;
  bool refuses_ = false;
  std::unique_ptr<sm::StandaloneMaster> master_;
};

TEST_F(SparkStore, RowsThatCannotBeReadAreSetAsideAndTheRestIsServed) {
  sm::StoredStandaloneWorker worker;
  worker.host = worker.endpoint_host = "node";
  worker.endpoint = "Worker";
  worker.cores = worker.memory_mib = worker.port = worker.endpoint_port = 1;
  tables_[sm::kStandaloneWorkers] = {{"good", base::EncodeStored(worker)}, {"bad", "\1\xff\xff"}};
  tables_[sm::kStandaloneDrivers] = {{"driver-1", "junk"}};
  sm::StoredStandaloneApplication application;
  application.registration = "no object stream";
  tables_[sm::kStandaloneApplications] = {{"app-1", base::EncodeStored(application)}, {"app-2", ""}};
  const Tables before = tables_;
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(master_->cluster().workers().all().size(), 1u);
  EXPECT_EQ(master_->cluster().set_aside().size(), 4u);
  EXPECT_THAT(Notices(), HasSubstr("bad-standalone_applications-app-1"));
  ASSERT_TRUE(Await([&] { return master_->cluster().alive(); })) << "the worker does not answer, and is given up";
  const auto& aside = tables_[sm::kSetAsideTable];
  EXPECT_EQ(aside.at("bad-standalone_workers-bad"), "\1\xff\xff");
  EXPECT_EQ(aside.at("bad-standalone_drivers-driver-1"), "junk");
  EXPECT_EQ(aside.at("bad-standalone_applications-app-1"), before.at(sm::kStandaloneApplications).at("app-1"));
  EXPECT_TRUE(tables_[sm::kStandaloneApplications].empty());
  master_.reset();
  ASSERT_TRUE(Start().ok());
  EXPECT_THAT(Notices(), HasSubstr("bad-standalone_workers-bad")) << "as long as it is there";
}

TEST_F(SparkStore, WhileNothingCanBeStoredThatIsToldThoughNothingHasToBe) {
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(json::parse(Notices()), json::array());
  refuses_ = true;
  ASSERT_TRUE(Await([&] { return !master_->cluster().store_error().empty(); }));
  EXPECT_THAT(Notices(), HasSubstr("the disk is full"));
  refuses_ = false;
  ASSERT_TRUE(Await([&] { return master_->cluster().store_error().empty(); }));
}

}  // namespace
}  // namespace fairlead::oracle
