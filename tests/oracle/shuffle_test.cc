// The runner itself: a changed recording fails, and so does what it cannot read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "oracle/shuffle_replay.h"

namespace fairlead::oracle {
namespace {

const char* const kFolder = FAIRLEAD_SOURCE_DIR "/tests/oracles/shuffle";

size_t Failures(const ShuffleRecording& recording, const ShuffleRecordings& all, size_t piece = 0) {
  size_t failed = 0;
  for (const auto& outcome : ReplayShuffle(recording, all, piece)) {
    if (!outcome.difference.empty()) ++failed;
  }
  return failed;
}

TEST(ShuffleOracle, PassesInPiecesOfAnySize) {
  const auto all = ReadShuffleRecordings(kFolder);
  ASSERT_TRUE(all.ok()) << all.error().message;
  for (const auto& recording : all->files) {
    for (const size_t piece : {1, 7, 100}) {
      EXPECT_EQ(Failures(recording, *all, piece), 0u) << recording.name << " in pieces of " << piece;
    }
  }
}

TEST(ShuffleOracle, AChangedRecordingFails) {
  const auto all = ReadShuffleRecordings(kFolder);
  ASSERT_TRUE(all.ok());
  for (const auto& original : all->files) {
    if (original.mode != "plain") continue;
    size_t changed = 0;
    for (size_t e = 0; e < original.exchanges.size(); ++e) {
      ShuffleRecording recording = original;
      WireStep* last = nullptr;
      for (WireStep& step : recording.exchanges[e].steps) {
        if (step.kind == WireStep::Kind::kToClient) last = &step;
      }
      if (last == nullptr) continue;
      ++changed;
      if (last->error) {
        last->error->append("x");
      } else {
        last->bytes.back() = static_cast<char>(last->bytes.back() ^ 1);
      }
      EXPECT_EQ(Failures(recording, *all), 1u) << original.name << "/" << recording.exchanges[e].name;
    }
    EXPECT_GT(changed, 60u);
  }
}

TEST(ShuffleOracle, ADifferentFileBehindTheBlocksFails) {
  auto all = ReadShuffleRecordings(kFolder);
  ASSERT_TRUE(all.ok());
  for (auto& [path, bytes] : all->blocks) {
    if (path.ends_with("shuffle_0_7_0.data")) bytes[0] = static_cast<char>(bytes[0] ^ 1);
  }
  for (const auto& recording : all->files) {
    if (recording.mode != "plain") continue;
    EXPECT_GT(Failures(recording, *all), 0u);
  }
}

TEST(ShuffleOracle, AClosedConnectionThatWasRecordedOpenFails) {
  const auto all = ReadShuffleRecordings(kFolder);
  ASSERT_TRUE(all.ok());
  ShuffleRecording recording = all->files.back();
  for (const auto& file : all->files) {
    if (file.name == "plain-4.3.0") recording = file;
  }
  size_t found = 0;
  for (Exchange& exchange : recording.exchanges) {
    if (exchange.name != "raw-frame-type-50") continue;
    ++found;
    std::erase_if(exchange.steps, [](const WireStep& step) {
      return step.kind == WireStep::Kind::kServerClosed || step.kind == WireStep::Kind::kClientClosed;
    });
  }
  ASSERT_EQ(found, 1u);
  EXPECT_EQ(Failures(recording, *all), 1u);
}

TEST(ShuffleOracle, FoldersThatCannotBeReadFail) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "shuffle_oracle_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  EXPECT_FALSE(ReadShuffleRecordings(folder).ok()) << "empty";
  EXPECT_FALSE(ReadShuffleRecordings(folder / "missing").ok());
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; };
  write("a.json", R"({"spark":"4.3.0","mode":"plain","app":"a","root":"/r","exchanges":[{"name":"x","wire":[]}]})");
  EXPECT_TRUE(ReadShuffleRecordings(folder).ok());
  write("other.bin", "?");
  EXPECT_FALSE(ReadShuffleRecordings(folder).ok()) << "unread file";
  fs::remove(folder / "other.bin");
  write("a.json", R"({"spark":"4.3.0","mode":"plain","exchanges":[{"name":"x","wire":[{"conn":1,"event":"odd"}]}]})");
  EXPECT_FALSE(ReadShuffleRecordings(folder).ok()) << "unknown step";
  write("a.json", "{");
  EXPECT_FALSE(ReadShuffleRecordings(folder).ok()) << "broken file";
  write("a.json", R"({"spark":"4.3.0","mode":"odd","app":"a","root":"/r","exchanges":[{"name":"x","wire":[]}]})");
  const auto odd = ReadShuffleRecordings(folder);
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(Failures(odd->files[0], *odd), 1u) << "unknown mode";
  fs::remove_all(folder);
}

}  // namespace
}  // namespace fairlead::oracle
