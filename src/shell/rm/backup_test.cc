#include "shell/rm/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/stored.h"
#include "env/store.h"
#include "env_posix/posix_loop.h"
#include "process/rm/stored_state.h"
#include "rm/apps.h"
#include "shell/rm/state_file.h"

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Backup : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_);
    fs::permissions(root_, fs::perms::owner_all);
    fs::create_directories(directory_);
    fs::permissions(directory_, fs::perms::owner_all);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::unique_ptr<env::Store> Open() {
    auto store =
        env_posix::OpenSqliteStore(directory_ + "/" + kRmDatabase, *loop_, env_posix::Durability::kProcess, "");
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    return store.ok() ? std::move(*store) : nullptr;
  }
  void Commit(env::Store& store, std::vector<env::Row> rows) {
    store.Commit(std::move(rows), [this](const env::CommitStatus& status) {
      EXPECT_TRUE(status.ok());
      loop_->Stop();
    });
    loop_->Run();
  }
  static env::Row App(int number) { return {rm::kAppTable, std::to_string(number), std::string(2000, 'a')}; }

  std::unique_ptr<env_posix::PosixLoop> loop_ = env_posix::MakePosixLoop();
  const std::string root_ = testing::TempDir() + "fl_backup_" + std::to_string(::getpid());
  const std::string directory_ = root_ + "/rm";
  const std::string file_ = root_ + "/copy";
};

TEST(ChangesOfAState, LeaveTheMarkOfARestoreToTheEnd) {
  const std::vector<env::Row> now = {
      {"t", "1", "old"}, {"t", "2", "gone"}, {process::rm::kRestoringTable, "", "begun"}};
  const auto changes = ChangesOf(now, {{"t", "1", "new"}, {"u", "1", "more"}});
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].key, "2");
  EXPECT_FALSE(changes[0].value);
  EXPECT_EQ(changes[1].value, "new");
  EXPECT_EQ(changes[2].table, "u");
}

/// Goes while it writes, as one does whose process leads no more.
class LostStore : public env::Store {
 public:
  explicit LostStore(env_posix::PosixLoop& loop) : loop_(loop) {}
  void Commit(std::vector<env::Row>, std::function<void(env::CommitStatus)>) override {
    loop_.Post([this] { loop_.Stop(); });
  }
  base::Result<std::vector<env::Row>> Load(const std::string&) override { return std::vector<env::Row>(); }
  std::string Name() const override { return "lost"; }

 private:
  env_posix::PosixLoop& loop_;
};

TEST_F(Backup, WhatIsNotSaidToBeStoredIsNot) {
  LostStore store(*loop_);
  const base::Status done = CommitRows(store, *loop_, {App(1)});
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("not known whether"));
}

TEST_F(Backup, TakesWhatWasCommittedWhileTheStoreIsInUse) {
  const auto store = Open();
  for (int i = 0; i < 50; ++i) Commit(*store, {App(i)});  // most of it in SQLite's log alone
  const auto copy = BackUpState(directory_, file_);
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(copy->applications, 50);
  EXPECT_EQ(copy->bytes, fs::file_size(file_));
  EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(root_)) files += entry.exists() ? 1 : 0;
  EXPECT_EQ(files, 2);  // the state and its copy
  Commit(*store, {App(50)});
}

/// The loop's thread commits on and on; copies that it wrote into are seen and made again.
TEST_F(Backup, IsWholeBesideAWriter) {
  auto store = Open();
  std::atomic<bool> stop = false;
  std::atomic<int> committed = 0;
  std::function<void()> next = [&] {
    if (stop) return loop_->Stop();
    store->Commit({App(committed), {process::rm::kEpochTable, "", base::EncodeStored(int32_t{7})}},
                  [&](const env::CommitStatus&) {
                    ++committed;
                    next();
                  });
  };
  std::thread writer([&] {
    next();
    loop_->Run();
  });
  while (committed < 100) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) {
    const size_t before = static_cast<size_t>(committed);
    const auto copy = BackUpState(directory_, file_ + std::to_string(i));
    ASSERT_TRUE(copy.ok()) << copy.error().message;
    EXPECT_GE(copy->applications, before);
    EXPECT_LE(copy->applications, static_cast<size_t>(committed) + 1);
  }
  stop = true;
  writer.join();
}

TEST_F(Backup, IsRestoredWithAnEpochFarAhead) {
  auto store = Open();
  Commit(*store, {App(1), App(2), {process::rm::kEpochTable, "", base::EncodeStored(int32_t{7})}});
  ASSERT_TRUE(BackUpState(directory_, file_).ok());
  Commit(*store, {App(3)});
  const auto refused = RestoreState(directory_, file_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("another process uses it; stop the resource manager first"));
  store.reset();
  const auto copy = RestoreState(directory_, file_);
  ASSERT_TRUE(copy.ok()) << copy.error().message;
  EXPECT_EQ(copy->applications, 2);
  EXPECT_TRUE(fs::exists(copy->set_aside));
  store = Open();
  ASSERT_TRUE(store);
  EXPECT_EQ(store->Load(rm::kAppTable)->size(), 2);
  const auto epochs = env::LoadRecords<int32_t>(*store, process::rm::kEpochTable);
  EXPECT_EQ(epochs->front().second, 1007);
}

TEST_F(Backup, IsRestoredIntoAnEmptyPlaceAndOverADamagedState) {
  auto store = Open();
  Commit(*store, {App(1)});
  ASSERT_TRUE(BackUpState(directory_, file_).ok());
  store.reset();
  const std::string database = directory_ + "/" + kRmDatabase;
  std::ofstream(database) << "this was a database";
  ASSERT_TRUE(RestoreState(directory_, file_).ok());
  store = Open();
  ASSERT_TRUE(store);
  EXPECT_EQ(store->Load(rm::kAppTable)->size(), 1);
  const auto elsewhere = RestoreState(root_ + "/new", file_);
  ASSERT_TRUE(elsewhere.ok()) << elsewhere.error().message;
  EXPECT_EQ(elsewhere->set_aside, "");
}

TEST_F(Backup, WhatCannotBeIsToldByName) {
  EXPECT_EQ(BackUpState(directory_, file_).error().code, ENOENT);
  EXPECT_EQ(RestoreState(directory_, file_).error().code, ENOENT);
  Open();
  std::ofstream(file_) << "somebody else's";
  EXPECT_THAT(BackUpState(directory_, file_).error().message, HasSubstr("is there already"));
  EXPECT_THAT(RestoreState(directory_, file_).error().message, HasSubstr(file_ + " is no whole state"));
  ASSERT_TRUE(Open());  // as it was
}

}  // namespace
}  // namespace fairlead::shell
