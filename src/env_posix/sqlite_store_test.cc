#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "env_posix/posix_loop.h"
#include "env_posix/test_directory.h"

namespace fairlead::env_posix {
namespace {

namespace fs = std::filesystem;
using Rows = std::map<std::pair<std::string, std::string>, std::string>;
using Files = std::map<std::string, std::string>;  // name -> bytes

constexpr const char* kHolds = "what the test put there";
const std::vector<std::string> kTables = {"apps", "keys"};

std::string Bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SqliteStore : public ::testing::Test {
 protected:
  base::Result<std::unique_ptr<env::Store>> Open(Durability durability = Durability::kMachine) {
    return OpenSqliteStore(path(), *loop_, durability, kHolds);
  }
  std::string path() const { return top_ / "state.db"; }

  env::CommitStatus Commit(env::Store& store, std::vector<env::Row> rows) {
    env::CommitStatus out;
    store.Commit(std::move(rows), [&](const env::CommitStatus& status) {
      out = status;
      loop_->Stop();
    });
    loop_->Run();
    return out;
  }

  static Rows RowsOf(env::Store& store) {
    Rows out;
    for (const std::string& table : kTables) {
      const auto rows = store.Load(table);
      EXPECT_TRUE(rows.ok());
      if (!rows.ok()) continue;
      for (const env::Row& row : *rows) out[{row.table, row.key}] = *row.value;
    }
    return out;
  }

  /// Some transactions: rows come, change and go.
  Rows Fill(env::Store& store) {
    for (int i = 0; i < 8; ++i) {
      const std::string key = "application_1_000" + std::to_string(i);
      EXPECT_TRUE(Commit(store, {{"apps", key, std::string(60 + 9 * static_cast<size_t>(i), 'a')}}).ok());
      std::vector<env::Row> rows{{"apps", key, "short"}, {"keys", "amrm", key + std::string("\0x", 2)}};
      if (i % 4 == 2) rows.push_back({"apps", key, std::nullopt});
      if (i % 2 == 1 || i % 4 == 2) {
        EXPECT_TRUE(Commit(store, std::move(rows)).ok());
      }
    }
    return RowsOf(store);
  }

  /// Of a store that is closed: what a statement gives in its first column, -1: nothing.
  int64_t Number(const char* sql) const {
    sqlite3* database = nullptr;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(::sqlite3_open(path().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(::sqlite3_prepare_v2(database, sql, -1, &statement, nullptr), SQLITE_OK) << sql;
    const int64_t number = ::sqlite3_step(statement) == SQLITE_ROW ? ::sqlite3_column_int64(statement, 0) : -1;
    ::sqlite3_finalize(statement);
    ::sqlite3_close(database);
    return number;
  }

  /// What a process that is killed leaves: the files as they are while it runs.
  Files Snapshot() const {
    Files out;
    for (const auto& entry : fs::directory_iterator(top_)) out[entry.path().filename()] = Bytes(entry.path());
    return out;
  }
  void Restore(const Files& files) {
    for (const auto& entry : fs::directory_iterator(top_)) fs::remove_all(entry.path());
    for (const auto& [name, bytes] : files) {
      std::ofstream(top_ / name, std::ios::binary) << bytes;
      ::chmod((top_ / name).c_str(), 0600);
    }
  }
  /// Opens a damaged state: refused by name with what is lost and what to do, or every row is right.
  ::testing::AssertionResult IsRefusedOrRight(const Files& files, const Rows& right) {
    Restore(files);
    auto store = Open();
    if (store.ok()) {
      if (RowsOf(**store) == right) return ::testing::AssertionSuccess();
      return ::testing::AssertionFailure() << "rows are lost or changed, and nobody says so";
    }
    const std::string& why = store.error().message;
    if (why.find(path()) == std::string::npos) return ::testing::AssertionFailure() << "no file named: " << why;
    if (why.find("backup") == std::string::npos && why.find("state.db-wal") == std::string::npos) {
      return ::testing::AssertionFailure() << "no remedy: " << why;
    }
    ++refused_;
    return ::testing::AssertionSuccess();
  }

  // In memory, where a sync costs nothing: thousands of stores are opened.
  const TestDirectory directory_{fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path()};
  const fs::path top_ = directory_.path();
  std::unique_ptr<PosixLoop> loop_ = MakePosixLoop();
  int refused_ = 0;
};

TEST_F(SqliteStore, CommittedRowsAreThereAfterReopening) {
  {
    auto store = Open();
    ASSERT_TRUE(store.ok()) << store.error().message;
    EXPECT_TRUE(Commit(**store, {{"apps", "a", "1"}, {"apps", "b", std::string("\0x", 2)}, {"apps", "c", ""}}).ok());
    EXPECT_TRUE(Commit(**store, {{"apps", "a", std::nullopt}, {"keys", "a", "n"}}).ok());
    EXPECT_EQ((*store)->Name(), path());
  }
  for (int i = 0; i < 3; ++i) {
    auto store = Open();
    ASSERT_TRUE(store.ok()) << store.error().message;
    EXPECT_EQ(RowsOf(**store),
              (Rows{{{"apps", "b"}, std::string("\0x", 2)}, {{"apps", "c"}, ""}, {{"keys", "a"}, "n"}}));
  }
}

TEST_F(SqliteStore, LargeValuesComeAndGoAsOthers) {
  const std::string large(3 << 20, 'l'), larger(5 << 20, 'm');
  {
    const auto store = Open();
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(Commit(**store, {{"apps", "a", large}, {"apps", "b", large}, {"apps", "c", "small"}}).ok());
    ASSERT_TRUE(Commit(**store, {{"apps", "a", larger}, {"apps", "b", "small"}, {"apps", "c", large}}).ok());
    ASSERT_TRUE(Commit(**store, {{"apps", "c", std::nullopt}}).ok());
  }
  {
    const auto store = Open();
    ASSERT_TRUE(store.ok()) << store.error().message;
    EXPECT_TRUE(RowsOf(**store) == (Rows{{{"apps", "a"}, larger}, {{"apps", "b"}, "small"}}));
  }
  EXPECT_EQ(Number("SELECT count(*) FROM large"), 1);
}

// A search compares with rows of every size.
TEST_F(SqliteStore, LargeValuesSlowNoOthersDown) {
  const auto store = Open();
  ASSERT_TRUE(store.ok());
  const auto time_of_others = [&](const std::string& prefix) {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(Commit(**store, {{"apps", prefix + std::to_string(i), "small"}}).ok());
    }
    return std::chrono::steady_clock::now() - began;
  };
  const auto before = time_of_others("a");
  for (const char* key : {"a1", "b", "b11", "b7", "c"}) {
    ASSERT_TRUE(Commit(**store, {{"apps", key, std::string(20 << 20, 'l')}}).ok());
  }
  EXPECT_LT(time_of_others("b1"), before * 20 + std::chrono::seconds(2)) << "eleven seconds were the fault";
}

// The release that wrote format 1 alone made no table for large values, and refuses format 2 by its number.
TEST_F(SqliteStore, ItsFormatIsTheEarlierOneUntilThereIsALargeValue) {
  {
    const auto store = Open();
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(Commit(**store, {{"apps", "a", std::string(60 << 10, 's')}}).ok());
  }
  EXPECT_EQ(Number("PRAGMA user_version"), 1);
  Number("DROP TABLE large");
  {
    const auto store = Open();
    ASSERT_TRUE(store.ok()) << store.error().message;
    ASSERT_TRUE(Commit(**store, {{"apps", "b", std::string(70 << 10, 'l')}}).ok());
  }
  EXPECT_EQ(Number("PRAGMA user_version"), 2);
}

TEST_F(SqliteStore, ALostLargeValueIsNoticed) {
  {
    const auto store = Open();
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(Commit(**store, {{"apps", "a", std::string(1 << 20, 'l')}}).ok());
  }
  Number("DELETE FROM large");
  const auto store = Open();
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.error().message.find("is damaged"), std::string::npos) << store.error().message;
}

TEST_F(SqliteStore, ItsFilesAreItsUsersAlone) {
  const mode_t before = ::umask(0);
  auto store = Open();
  ASSERT_TRUE(store.ok()) << store.error().message;
  Fill(**store);
  ::umask(before);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(top_)) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 3) << "database, log and mark";
}

TEST_F(SqliteStore, ASecondProcessIsKeptOut) {
  auto store = Open();
  ASSERT_TRUE(store.ok());
  Fill(**store);
  if (::fork() == 0) {
    auto second = Open();
    ::_exit(!second.ok() && second.error().message.find("another process uses it") != std::string::npos ? 7 : 0);
  }
  int status = 0;
  ::wait(&status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

// Every byte of a small state, every fifth of the log, which holds most pages several times.
TEST_F(SqliteStore, NoFlippedByteIsSilent) {
  Files files;
  Rows right;
  {
    auto store = Open();
    right = Fill(**store);
    files = Snapshot();  // killed: a log with everything
  }
  ASSERT_GT(right.size(), 5U);
  ASSERT_EQ(files.size(), 3U);
  const Files closed = Snapshot();  // ended: a database without a log
  ASSERT_EQ(closed.size(), 2U);
  for (const Files& whole : {files, closed}) {
    refused_ = 0;
    int flips = 0;
    for (const auto& [name, bytes] : whole) {
      for (size_t i = 0; i < bytes.size(); i += name.ends_with("-wal") ? 5 : 1) {
        if (bytes[i] == 0 && i % 64 != 0) continue;  // mostly unused room
        Files damaged = whole;
        damaged[name][i] = static_cast<char>(bytes[i] ^ (i % 2 == 0 ? 0xff : 0x01));
        ++flips;
        ASSERT_TRUE(IsRefusedOrRight(damaged, right)) << name << " byte " << i << " of " << bytes.size();
      }
    }
    EXPECT_GT(refused_, flips / 8);
    EXPECT_LT(refused_, flips) << "a byte in unused room harms nobody";
  }
}

TEST_F(SqliteStore, NoLostSectorTruncationOrFileIsSilent) {
  Files files;
  Rows right;
  {
    auto store = Open();
    right = Fill(**store);
    files = Snapshot();
  }
  const Files closed = Snapshot();
  for (const Files& whole : {files, closed}) {
    for (const auto& [name, bytes] : whole) {
      for (size_t i = 0; i < bytes.size(); i += 512) {
        Files damaged = whole;
        damaged[name].replace(i, std::min<size_t>(512, bytes.size() - i), std::min<size_t>(512, bytes.size() - i),
                              '\0');
        ASSERT_TRUE(IsRefusedOrRight(damaged, right)) << name << " sector at " << i;
        damaged = whole;
        damaged[name].resize(i);
        ASSERT_TRUE(IsRefusedOrRight(damaged, right)) << name << " cut to " << i;
      }
      Files damaged = whole;
      damaged.erase(name);
      ASSERT_TRUE(IsRefusedOrRight(damaged, right)) << name << " missing";
    }
  }
}

TEST_F(SqliteStore, AnEarlierStateInItsPlaceIsNoticed) {
  Files before;
  Files after;
  {
    auto store = Open();
    Fill(**store);
    before = Snapshot();
    ASSERT_TRUE(Commit(**store, {{"apps", "last", "acknowledged"}}).ok());
    after = Snapshot();
  }
  Files mixed = before;
  mixed["state.db.mark"] = after["state.db.mark"];
  Restore(mixed);
  const auto store = Open();
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.error().message.find("its last 1 transactions are lost"), std::string::npos) << store.error().message;
  EXPECT_NE(store.error().message.find(kHolds), std::string::npos);
  // What describes processes of this machine alone may lose its last transactions with the machine.
  std::string& mark = mixed["state.db.mark"];
  Restore(mixed);
  EXPECT_FALSE(Open(Durability::kProcess).ok()) << "the machine has not started since";
  mark.resize(mark.size() - 1);
  Restore(mixed);
  EXPECT_NE(Open().error().message.find("state.db.mark is damaged"), std::string::npos);
}

TEST_F(SqliteStore, WhatRelease010WroteIsRefusedByName) {
  sqlite3* db = nullptr;
  ASSERT_EQ(::sqlite3_open(path().c_str(), &db), SQLITE_OK);
  const char* statements =
      "CREATE TABLE rows (tab TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (tab, key))"
      " WITHOUT ROWID; INSERT INTO rows VALUES ('rm/app', 'a', 'b')";
  ASSERT_EQ(::sqlite3_exec(db, statements, nullptr, nullptr, nullptr), SQLITE_OK);
  ::sqlite3_close(db);
  const auto store = Open();
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.error().message.find("release 0.1.0 wrote it"), std::string::npos) << store.error().message;
}

TEST_F(SqliteStore, AStoreThatIsRemovedWhileInUseIsGone) {
  auto store = Open();
  ASSERT_TRUE(store.ok());
  Fill(**store);
  for (const auto& entry : fs::directory_iterator(top_)) fs::remove(entry.path());
  const env::CommitStatus status = Commit(**store, {{"apps", "x", "y"}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, env::CommitFailure::kGone);
  EXPECT_NE(status.error().message.find("was removed while in use"), std::string::npos);
}

TEST_F(SqliteStore, ARemovedStoreIsANewOne) {
  {
    auto store = Open();
    Fill(**store);
  }
  RemoveSqliteStore(path());
  EXPECT_TRUE(fs::is_empty(top_));
  auto store = Open();
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_TRUE(RowsOf(**store).empty());
}

}  // namespace
}  // namespace fairlead::env_posix
