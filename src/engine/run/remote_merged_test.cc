#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>

#include "base/bytes.h"
#include "engine/records/frame.h"
#include "engine/run/reading_task_for_test.h"
#include "engine/run/remote_blocks.h"
#include "env_posix/loop_thread.h"
#include "env_posix/posix_confined_files.h"
#include "env_posix/posix_loop.h"
#include "process/executor/shuffle_pusher.h"
#include "process/shuffle/io_worker.h"
#include "process/shuffle/service.h"
#include "tasks/map_outputs.h"
#include "wire/spark_shuffle/layout.h"
#include "wire/spark_shuffle/passed_block.h"

// How a reducer reads a merged partition, and what it does when that is not there.

namespace fairlead::engine {
namespace {

namespace layout = wire::spark_shuffle;
namespace fs = std::filesystem;
using base::Duration;
using process::executor::ShuffleClient;

constexpr int32_t kMaps = 8;

class RemoteMergedTest : public testing::TestWithParam<bool> {
 protected:
  RemoteMergedTest() : root_(testing::TempDir() + "remote_merged_test_" + std::to_string(::getpid())) {
    fs::remove_all(root_);
    config_.core.local_roots = {root_};
    config_.merges = true;
    config_.merge_limits.chunk_bytes_min = 5000;  // some chunks
    for (int i = 0; i < layout::kSubDirsPerLocalDir; ++i) {
      char sub[32];
      std::snprintf(sub, sizeof sub, "/merge_manager_1/%02x", static_cast<unsigned>(i));
      fs::create_directories(root_ + sub);
    }
    for (int32_t map = 0; map < kMaps; ++map) PutOutput(map);
    serving_.Run([&] {
      service_ =
          std::make_unique<process::shuffle::Service>(*serving_.loop, *disk_, nullptr, log_, config_, files_.get());
      ASSERT_TRUE(service_->Recover().ok());
      worker_ = std::make_unique<process::shuffle::IoWorker>(*serving_.loop, *serving_.loop, *disk_, nullptr, log_,
                                                             config_, *service_);
      service_->AddWorker(*worker_);
      ASSERT_TRUE(worker_->Listen({"127.0.0.1", 0}).ok());
      address_ = worker_->local();
      const std::string name = wire::spark_shuffle::LocalServiceName(address_.host, address_.port);
      ASSERT_TRUE(worker_->ListenLocal(*serving_.loop, name).ok());
    });
    reading_.Run([&] {
      client_ = std::make_unique<ShuffleClient>(*reading_.loop, *reading_.loop, "app", ShuffleClient::Limits());
      if (GetParam()) client_->UseLocalSockets(*reading_.loop, ::geteuid());
      client_->KeepMergedIn("merge_manager_1", 1);
    });
    std::promise<base::Status> registered;
    reading_.Run([&] {
      client_->Register(address_, "1", {root_ + "/e"}, [&](const base::Status& done) { registered.set_value(done); });
    });
    EXPECT_TRUE(registered.get_future().get().ok());
  }
  ~RemoteMergedTest() override {
    reading_.Run([&] { client_.reset(); });
    serving_.Run([&] {
      worker_.reset();
      service_.reset();
    });
    fs::remove_all(root_);
  }

  static std::string RecordsOf(int32_t map) { return std::string(2000, static_cast<char>('a' + map)); }
  void PutOutput(int32_t map) {
    Buffer frame, scratch;
    frame.Resize(kFrameHeader);
    frame.Append(RecordsOf(map));
    const std::string data(SealFrame(frame, Compression::kNone, scratch));
    std::string index;
    base::ByteWriter writer(index);
    writer.I64(0);
    writer.I64(static_cast<int64_t>(data.size()));
    Put(layout::ShuffleDataName(0, map), data);
    Put(layout::ShuffleIndexName(0, map), index);
    const int64_t about = tasks::DecodeSize(tasks::EncodeSize(static_cast<int64_t>(data.size())));
    blocks_.push_back({.map = map, .place = 0, .task = map, .bytes = about});
  }
  void Put(const std::string& name, const std::string& bytes) const {
    const std::string path = layout::BlockPath({root_ + "/e"}, name);
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }

  /// Pushes all outputs but the last, and ends the merge.
  void PushAndFinalize() {
    process::executor::ShufflePusher::Hooks hooks;
    std::promise<void> pushed;
    int left = kMaps - 1;
    hooks.done = [&](const wire::engine::MapPushed&) {
      if (--left == 0) pushed.set_value();
    };
    std::unique_ptr<process::executor::ShufflePusher> pusher;
    reading_.Run([&] {
      pusher = std::make_unique<process::executor::ShufflePusher>(*reading_.loop, *disk_, *client_,
                                                                  std::vector{root_ + "/e"},
                                                                  process::executor::ShufflePusher::Limits(), hooks);
      for (int32_t map = 0; map < kMaps - 1; ++map) pusher->Wrote(0, map, map);
      pusher->Begin({0, 1, {Merger()}});
    });
    pushed.get_future().get();
    std::promise<size_t> finalized;
    reading_.Run([&] {
      client_->FinalizeMerge(address_, 1, 0, [&](base::Result<std::vector<layout::MergeStatus>> statuses) {
        finalized.set_value(statuses.ok() && !statuses->empty() ? statuses->front().maps.size() : 0);
      });
    });
    EXPECT_EQ(finalized.get_future().get(), static_cast<size_t>(kMaps - 1));
    reading_.Run([&] { pusher.reset(); });
  }
  wire::engine::Merger Merger() const { return {address_.host, address_.port}; }

  /// What a reducer gets, sorted.
  std::string Read() {
    task_.metrics = {};
    RemoteBlocksOptions options;
    options.first_wait = Duration::Millis(10);
    RemoteBlocksOverNet remote(*reading_.loop, *client_, options);
    const auto input = remote.FindMerged(0, 0, blocks_, Merger(), task_);
    const auto request = [](const auto& block) { return BlockRequest{0, block.map, block.task, 0, block.bytes, 0}; };
    std::vector<ChunkRequest> chunks;
    std::vector<BlockRequest> rest;
    for (const auto& chunk : input.chunks) {
      chunks.push_back({Merger(), chunk.number, {}, chunk.bytes});
      for (const auto& block : chunk.blocks) chunks.back().blocks.push_back(request(block));
    }
    for (const auto& block : input.rest) rest.push_back(request(block));
    chunks_ = chunks.size();
    if (meanwhile_) meanwhile_();
    const auto blocks =
        remote.Fetch(std::move(rest), std::move(chunks), {{0, {0, "1", address_.host, address_.port}}}, task_);
    std::string all;
    Buffer scratch;
    for (ShuffleBlock block; blocks->Next(block);) {
      FrameReader frames(block.bytes);
      for (std::string_view records; frames.Next(records, scratch);) all += records;
      EXPECT_EQ(frames.error(), "");
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  static std::string Expected() {
    std::string all;
    for (int32_t map = 0; map < kMaps; ++map) all += RecordsOf(map);
    return all;
  }
  std::string MergedPath(const std::string& suffix) const {
    return layout::FilePath({root_ + "/merge_manager_1"}, layout::kSubDirsPerLocalDir,
                            "shuffleMerged_app_0_0_0" + suffix);
  }

  const std::string root_;
  env::NullLog log_;
  std::unique_ptr<env::Disk> disk_ = env_posix::MakePosixDisk();
  std::unique_ptr<env::ConfinedFiles> files_ = env_posix::MakePosixConfinedFiles();
  process::shuffle::Config config_;
  env::Endpoint address_;
  env_posix::LoopThread serving_, reading_;
  std::unique_ptr<process::shuffle::Service> service_;
  std::unique_ptr<process::shuffle::IoWorker> worker_;
  std::unique_ptr<ShuffleClient> client_;
  std::vector<tasks::MapOutputTable::Block> blocks_;
  ReadingTask task_;
  size_t chunks_ = 0;
  std::function<void()> meanwhile_;
};

TEST_P(RemoteMergedTest, ChunksAndWhatWasNotMerged) {
  PushAndFinalize();
  EXPECT_EQ(Read(), Expected());
  EXPECT_GT(chunks_, 1u);
  EXPECT_EQ(task_.metrics.blocks_read_merged, kMaps - 1);
  EXPECT_EQ(task_.metrics.merged_fallbacks, 0);
}

TEST_P(RemoteMergedTest, ADamagedChunkIsReplacedByItsBlocks) {
  PushAndFinalize();
  std::fstream data(MergedPath(".data"), std::ios::binary | std::ios::in | std::ios::out);
  data.seekp(1000);
  data.put('!');
  data.close();
  EXPECT_EQ(Read(), Expected());
  EXPECT_GT(task_.metrics.merged_fallbacks, 0);
  EXPECT_LT(task_.metrics.merged_fallbacks, kMaps - 1) << "other chunks are sound";
  EXPECT_EQ(task_.metrics.blocks_read_merged + task_.metrics.merged_fallbacks, kMaps - 1);
}

TEST_P(RemoteMergedTest, MergedFilesThatAreGoneAreReplacedByTheBlocks) {
  PushAndFinalize();
  for (const char* suffix : {".data", ".index", ".meta"}) fs::remove(MergedPath(suffix));
  EXPECT_EQ(Read(), Expected());
  EXPECT_EQ(chunks_, 0u);
  EXPECT_EQ(task_.metrics.merged_fallbacks, kMaps);
}

TEST_P(RemoteMergedTest, AChunkThatGoesBetweenIsReplacedByItsBlocks) {
  PushAndFinalize();
  meanwhile_ = [&] { fs::resize_file(MergedPath(".data"), 0); };
  EXPECT_EQ(Read(), Expected());
  EXPECT_GT(chunks_, 1u);
  EXPECT_EQ(task_.metrics.merged_fallbacks, kMaps - 1);
}

TEST_P(RemoteMergedTest, WithoutAMergeThereAreTheBlocks) {
  EXPECT_EQ(Read(), Expected());
  EXPECT_EQ(chunks_, 0u);
}

INSTANTIATE_TEST_SUITE_P(ThisHostOrAnother, RemoteMergedTest, testing::Bool(),
                         [](const auto& suite) { return suite.param ? "OpenFiles" : "Bytes"; });

}  // namespace
}  // namespace fairlead::engine
