#include "shell/rm/backup.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
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

/// It would change a file, or is a moment between such calls.
bool Changes(const __ptrace_syscall_info& call) {
  static const std::set<uint64_t> kCalls = {
      SYS_write,    SYS_pwrite64,  SYS_sendfile, SYS_copy_file_range, SYS_fsync,    SYS_fdatasync, SYS_ftruncate,
      SYS_unlinkat, SYS_renameat2, SYS_renameat, SYS_linkat,          SYS_fchmodat, SYS_fchmod,    SYS_mkdirat,
#ifdef SYS_rename
      SYS_unlink,   SYS_rename,    SYS_link,     SYS_chmod,           SYS_mkdir,    SYS_rmdir,
#endif
  };
  return kCalls.contains(call.entry.nr) || (call.entry.nr == SYS_openat && (call.entry.args[2] & O_CREAT) != 0);
}

/// Does `work` in another process, which is killed as it is about to change files for the `count`th time. False: it has
/// come to its end before.
bool IsKilledAt(int count, const std::function<void()>& work) {
  const pid_t process = ::fork();
  if (process == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    ::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, process, nullptr, PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (pid_t thread = process; thread > 0; thread = ::waitpid(-1, &status, __WALL)) {
    if (thread == process && !WIFSTOPPED(status)) return false;
    __ptrace_syscall_info call{};
    if (WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80))
      ::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof call, &call);
    if (call.op == PTRACE_SYSCALL_INFO_ENTRY && Changes(call) && --count == 0) {
      ::kill(process, SIGKILL);
      while (::waitpid(-1, &status, __WALL) > 0) continue;
      return true;
    }
    if (WIFSTOPPED(status)) ::ptrace(PTRACE_SYSCALL, thread, nullptr, nullptr);
  }
  return false;
}

TEST_F(Backup, ARestoreThatIsKilledAtAnyMomentLeavesTheStateBeforeOrTheRestoredOne) {
  auto store = Open();
  Commit(*store, {App(1), App(2), {process::rm::kEpochTable, "", base::EncodeStored(int32_t{7})}});
  ASSERT_TRUE(BackUpState(directory_, file_).ok());
  Commit(*store, {App(3)});
  const std::string database = directory_ + "/" + kRmDatabase;
  const std::string left = root_ + "/left";  // as by a manager that was killed: the last change is in the log alone
  ASSERT_TRUE(CopyStateFiles(database, left).ok());
  store.reset();
  std::map<size_t, int> seen;
  for (int at = 1;; ++at) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    fs::permissions(directory_, fs::perms::owner_all);
    ASSERT_TRUE(CopyStateFiles(left, database).ok());
    if (!IsKilledAt(at, [&] { (void)RestoreState(directory_, file_); })) break;
    store = Open();
    ASSERT_TRUE(store) << "killed at change " << at;
    const size_t applications = store->Load(rm::kAppTable)->size();
    const auto epochs = env::LoadRecords<int32_t>(*store, process::rm::kEpochTable);
    ASSERT_EQ(epochs->front().second, applications == 3 ? 7 : 1007) << "killed at change " << at;
    ++seen[applications];
    store.reset();
    const auto again = RestoreState(directory_, file_);
    ASSERT_TRUE(again.ok()) << "after a kill at change " << at << ": " << again.error().message;
  }
  EXPECT_THAT(seen, testing::ElementsAre(testing::Pair(2, testing::Gt(0)), testing::Pair(3, testing::Gt(10))));
  EXPECT_EQ(Open()->Load(rm::kAppTable)->size(), 2);
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
