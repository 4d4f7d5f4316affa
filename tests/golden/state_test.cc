// Opens what each release stored (tests/golden/state/RELEASE): rows.txt has a line a record, "table key value json",
// key and value in hexadecimal, and store.db is a store with the same rows. A new release adds a folder of its own:
//   build/tests/golden_state_test --write tests/golden/state/RELEASE
// and keeps those of the releases before, whose every record must be read, with defaults for what has been added since.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/check.h"
#include "base/stored.h"
#include "endpoints/yarn/tokens.h"
#include "env_posix/posix_loop.h"
#include "model/nm.h"
#include "model/rm.h"
#include "model/shuffle.h"
#include "model/shuffle_merge.h"
#include "process/spark_master/standalone_store.h"
#include "process/spark_master/stored_application.h"
#include "shell/nm/supervisor.h"
#include "shell/rm/journal.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kGolden = fs::path(FAIRLEAD_SOURCE_DIR) / "tests/golden/state";

/// Another value in every field, of what is nested, too.
class Filler {
 public:
  template <class T>
  void Fill(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = true;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(1);
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = static_cast<T>(++count_);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = "text " + std::to_string(++count_);
    } else if constexpr (base::IsIndex<T>::value) {
      value.value = static_cast<uint32_t>(++count_);
    } else if constexpr (std::is_same_v<T, base::Instant> || std::is_same_v<T, base::Duration>) {
      value.ns = ++count_;
    } else if constexpr (std::is_same_v<T, base::WallTime>) {
      value.ms = ++count_;
    } else if constexpr (base::IsVector<T>::value || base::IsSet<T>::value) {
      typename T::value_type item{};
      Fill(item);
      value.insert(value.end(), std::move(item));
    } else if constexpr (base::IsMap<T>::value) {
      typename T::key_type key{};
      Fill(key);
      Fill(value[std::move(key)]);
    } else if constexpr (base::IsArray<T>::value) {
      for (auto& item : value) Fill(item);
    } else if constexpr (base::IsOptional<T>::value) {
      Fill(value.emplace());
    } else if constexpr (base::IsVariant<T>::value) {
      Fill(value.template emplace<std::variant_size_v<T> - 1>());
    } else {
      T::VisitFields(value, [this](std::string_view, auto& field) { this->Fill(field); });
    }
  }

 private:
  int64_t count_ = 0;
};

/// Calls `see` with the name and a value of every kind of record that is stored. A journal's events are not among them:
/// only the build that wrote a journal replays it.
template <class See>
void ForEachRecord(const See& see) {
  see("rm/app", model::rm::AppRecord{});
  see("rm/attempt", model::rm::AttemptRecord{});
  see("rm/key", endpoints::yarn::MasterKeys{});
  see("rm/epoch", int32_t{});
  see("nm_apps", model::nm::AppRecord{});
  see("nm_containers", model::nm::ContainerRecord{});
  see("nm_resources", model::nm::ResourceRecord{});
  see("nm_spent_tokens", model::nm::SpentToken{});
  see("nm_port", int64_t{});
  see("nm_tokens", endpoints::yarn::NodeTokens::State{});
  see("nm_logs", base::WallTime{});
  see("nm_service_ports", uint16_t{});
  see("applications", process::spark_master::StoredApplication{});
  see("shuffle_apps", std::string{});
  see("shuffle_executors", model::shuffle::Executor{});
  see("shuffle_merge_dirs", model::shuffle::MergeDirs{});
  see("shuffle_merged", model::shuffle::MergedShuffle{});
  see("supervisor spec", shell::SupervisorSpec{});
  see("supervisor exit", shell::SupervisorExit{});
  see("supervisor pid", shell::SupervisorPid{});
  see("journal header", shell::JournalHeader{});
  see("journal batch", shell::JournalBatch{});
  see(process::spark_master::kStandaloneWorkers, process::spark_master::StoredStandaloneWorker{});
  see(process::spark_master::kStandaloneApplications, process::spark_master::StoredStandaloneApplication{});
  see(process::spark_master::kStandaloneDrivers, process::spark_master::StoredStandaloneDriver{});
}

template <class T>
json JsonOf(const T& value) {
  std::string text;
  base::ToJson(text, value);
  return json::parse(text);
}

std::string Hex(const std::string& bytes) {
  std::string out;
  char digits[3];
  for (const char c : bytes) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    out += digits;
  }
  return out;
}

std::string FromHex(const std::string& text) {
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return out;
}

struct GoldenRow {
  std::string table;
  std::string key;
  std::string value;
  json expected;
};

std::vector<GoldenRow> ReadRows(const fs::path& release) {
  std::vector<GoldenRow> rows;
  std::ifstream file(release / "rows.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string table, key, value, text;
    std::getline(fields, table, '\t');
    std::getline(fields, key, '\t');
    std::getline(fields, value, '\t');
    std::getline(fields, text);
    rows.push_back({table, FromHex(key), FromHex(value), json::parse(text)});
  }
  return rows;
}

std::vector<fs::path> Releases() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    if (entry.is_directory()) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// What was stored is there again; what later releases have added is beside it.
void ExpectHolds(const json& now, const json& stored, const std::string& place) {
  if (stored.is_object()) {
    for (const auto& [name, value] : stored.items()) {
      ASSERT_TRUE(now.is_object() && now.contains(name)) << place << "." << name << " has gone";
      ExpectHolds(now[name], value, place + "." + name);
    }
  } else if (stored.is_array()) {
    ASSERT_TRUE(now.is_array() && now.size() == stored.size()) << place;
    for (size_t i = 0; i < stored.size(); ++i) ExpectHolds(now[i], stored[i], place + "[" + std::to_string(i) + "]");
  } else {
    EXPECT_EQ(now, stored) << place;
  }
}

/// A store in a directory that is removed again, with the files of a release's.
class GoldenStore {
 public:
  GoldenStore() {
    std::string pattern = (fs::temp_directory_path() / "fairlead-golden-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~GoldenStore() { fs::remove_all(directory_); }
  fs::path path() const { return directory_ / "store.db"; }
  base::Result<std::unique_ptr<env::Store>> Open() {
    return env_posix::OpenSqliteStore(path(), *loop_, env_posix::Durability::kMachine, "golden rows");
  }
  env_posix::PosixLoop& loop() { return *loop_; }

 private:
  std::unique_ptr<env_posix::PosixLoop> loop_ = env_posix::MakePosixLoop();
  fs::path directory_;
};

TEST(GoldenState, EveryRecordOfEveryReleaseIsRead) {
  ASSERT_FALSE(Releases().empty());
  for (const fs::path& release : Releases()) {
    std::set<std::string> seen;
    const std::vector<GoldenRow> rows = ReadRows(release);
    ForEachRecord([&]<class T>(const std::string& table, const T&) {
      for (const GoldenRow& row : rows) {
        if (row.table != table) continue;
        const auto record = base::DecodeStored<T>(row.value);
        ASSERT_TRUE(record.ok()) << release << " " << table << ": " << record.error().message;
        ExpectHolds(JsonOf(*record), row.expected, table);
        seen.insert(table);
      }
    });
    for (const GoldenRow& row : rows) EXPECT_TRUE(seen.contains(row.table)) << "table " << row.table << " has gone";
  }
}

TEST(GoldenState, TheStoreOfEveryReleaseOpens) {
  for (const fs::path& release : Releases()) {
    GoldenStore golden;
    fs::copy_file(release / "store.db", golden.path());
    fs::copy_file(release / "store.db.mark", golden.path().string() + ".mark");
    auto store = golden.Open();
    ASSERT_TRUE(store.ok()) << store.error().message;
    for (const GoldenRow& row : ReadRows(release)) {
      const auto rows = (*store)->Load(row.table);
      ASSERT_TRUE(rows.ok() && rows->size() == 1) << row.table;
      EXPECT_EQ(rows->front().key, row.key);
      EXPECT_EQ(*rows->front().value, row.value);
    }
  }
}

// Every kind of record of today: what comes back is what was stored, and no prefix is taken for a whole.
TEST(GoldenState, EveryRecordComesBack) {
  ForEachRecord([]<class T>(const std::string& table, T value) {
    Filler().Fill(value);
    const std::string bytes = base::EncodeStored(value);
    const auto back = base::DecodeStored<T>(bytes);
    ASSERT_TRUE(back.ok()) << table << ": " << back.error().message;
    EXPECT_EQ(JsonOf(*back), JsonOf(value)) << table;
    for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(base::DecodeStored<T>(bytes.substr(0, n)).ok()) << table;
  });
}

/// The rows of this release, for those that come after it.
void Write(const fs::path& to) {
  fs::create_directories(to);
  std::ofstream out(to / "rows.txt");
  std::vector<env::Row> rows;
  ForEachRecord([&]<class T>(const std::string& table, T value) {
    Filler().Fill(value);
    rows.push_back({table, "key of " + table, base::EncodeStored(value)});
    out << table << '\t' << Hex(rows.back().key) << '\t' << Hex(*rows.back().value) << '\t' << JsonOf(value).dump()
        << '\n';
  });
  GoldenStore golden;
  {
    auto store = golden.Open();
    FL_CHECK(store.ok(), "no store to write to");
    (*store)->Commit(rows, [&](const env::CommitStatus& status) {
      FL_CHECK(status.ok(), "the rows are not stored");
      golden.loop().Stop();
    });
    golden.loop().Run();
  }
  for (const char* suffix : {"", ".mark"}) {
    fs::copy_file(golden.path().string() + suffix, to / (std::string("store.db") + suffix),
                  fs::copy_options::overwrite_existing);
  }
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3 || std::string_view(argv[1]) != "--write") return RUN_ALL_TESTS();
  fairlead::Write(argv[2]);
}
