#include "process/shuffle/service.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "base/bytes.h"
#include "base/sanitized.h"
#include "env_posix/posix_loop.h"
#include "env_sim/sim_disk.h"
#include "env_sim/world.h"
#include "process/shuffle/block_work.h"
#include "process/shuffle/service_test.h"
#include "wire/spark_shuffle/layout.h"
#include "wire/spark_shuffle/messages.h"
#include "wire/spark_transport/frames.h"

namespace fairlead::process::shuffle {
namespace {

using base::Duration;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST_F(ShuffleService, ARowThatCannotBeReadIsLeftOutToldCountedAndKept) {
  Start();
  {
    const auto client = Connect();
    EXPECT_THAT(Ask(*client, Registration("1")), ElementsAre("RpcResponse"));
    EXPECT_THAT(Ask(*client, Registration("2")), ElementsAre("RpcResponse"));
  }
  EXPECT_THAT(service_->unread(), IsEmpty());
  const std::string table(fairlead::shuffle::kExecutorTable);
  const std::string key = server_.store().Load(table).value().front().key;
  const std::string garbage = "\x01\xff\xff";
  server_.store().Commit({{table, key, garbage}}, [](const env::CommitStatus&) {});
  Run(Duration::Seconds(1));
  for (size_t life = 1; life <= 2; ++life) {
    CrashAndStart();
    EXPECT_EQ(service_->registry()->executors(), 1U);
    ASSERT_EQ(service_->unread().size(), 1U);
    EXPECT_EQ(service_->unread()[0].key, key);
    EXPECT_EQ(log_.errors.size(), life);
    EXPECT_EQ(server_.store().Load(table).value().front().value, garbage);
  }
}

TEST_F(ShuffleService, ConnectionsGoToTheThreadWithTheFewest) {
  const auto workers = StartWorkers(3);
  const auto counts = [&] {
    std::vector<size_t> out;
    for (const auto& worker : workers) out.push_back(worker->Metrics().connections);
    return out;
  };
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 6; ++i) {  // together: most are on their way when the last is given its place
    client_.net().Connect(config_.listen, Duration::Seconds(1), [&](auto stream) {
      ASSERT_TRUE(stream.ok());
      clients.push_back(std::make_unique<Client>(*std::move(stream)));
    });
  }
  Run(Duration::Millis(100));
  EXPECT_THAT(counts(), ElementsAre(2, 2, 2));
  for (const auto& client : clients) EXPECT_THAT(Ask(*client, Registration()), ElementsAre("RpcResponse"));

  clients.erase(clients.begin() + 1);  // they were given to the workers in turns
  Run(Duration::Millis(100));
  EXPECT_THAT(counts(), ElementsAre(2, 1, 2));
  clients.push_back(Connect());
  EXPECT_THAT(counts(), ElementsAre(2, 2, 2));
  clients.clear();
  Run(Duration::Millis(100));
  EXPECT_THAT(counts(), ElementsAre(0, 0, 0));
}

TEST_F(ShuffleService, AStreamOfAnotherThreadIsRefusedAsOneOfAnotherConnection) {
  const auto workers = StartWorkers(2);
  const auto owner = Connect();
  const auto other = Connect();
  Ask(*owner, Registration());
  Ask(*owner, Fetch({0, 1}));
  other->stream_id = owner->stream_id;
  EXPECT_THAT(AskChunk(*other, 0), ElementsAre(HasSubstr("Channel not authorized to read stream")));
  other->stream_id += 1;
  EXPECT_THAT(AskChunk(*other, 0), ElementsAre(HasSubstr("Unknown stream ID.")));
  EXPECT_THAT(AskChunk(*owner, 0), ElementsAre("ChunkFetchSuccess"));
}

TEST_F(ShuffleService, ServesAcrossACrash) {
  Start();
  auto client = Connect();
  EXPECT_THAT(Ask(*client, Registration()), ElementsAre("RpcResponse"));
  CrashAndStart();
  Run(Duration::Millis(100));
  EXPECT_TRUE(client->closed);
  client = Connect();
  Ask(*client, Fetch({1, 2}));
  EXPECT_THAT(AskChunk(*client, 0), ElementsAre("ChunkFetchSuccess"));
  EXPECT_EQ(client->body, "bbbbbbbbbb");
  AskChunk(*client, 1);
  EXPECT_EQ(client->body, "ccc");
}

TEST_F(ShuffleService, ARegistrationThatCannotBeStoredIsRefused) {
  Start();
  auto client = Connect();
  world_.faults().store_failure = 1;
  EXPECT_THAT(Ask(*client, Registration()), ElementsAre(HasSubstr("cannot store")));
  EXPECT_EQ(service_->registry()->executors(), 0u);
  Run(Duration::Seconds(5));
  EXPECT_NE(service_->store_error(), "") << "it goes on to try";
  world_.faults().store_failure = 0;
  Run(Duration::Seconds(2));
  EXPECT_EQ(service_->store_error(), "") << "nobody asked";
  EXPECT_THAT(Ask(*client, Registration()), ElementsAre("RpcResponse"));
}

// ---- disk faults: never a wrong byte, always a named cause ---------------------------------------------------------

TEST_F(ShuffleService, ADiskThatFailsIsNamedOnceAndServesAgainWhenHealed) {
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  for (const int error : {EIO, EACCES, ENODEV}) {
    Faults().FailBelow("/data", error);
    for (int i = 0; i < 3; ++i) {
      Ask(*client, Fetch({1}));
      const auto answers = AskChunk(*client, 0);
      ASSERT_EQ(answers.size(), 1u);
      EXPECT_THAT(answers[0],
                  StartsWith("ChunkFetchFailure java.lang.RuntimeException: Failed to open file: /data/b/"));
      EXPECT_THAT(answers[0], HasSubstr(std::strerror(error)));
    }
    Faults().FailBelow("/data", 0);
  }
  EXPECT_EQ(log_.errors.size(), 3u) << "one line for each cause";
  EXPECT_EQ(worker_->Metrics().disks[0].errors, 9u);
  Ask(*client, Fetch({1}));
  EXPECT_THAT(AskChunk(*client, 0), ElementsAre("ChunkFetchSuccess"));
}

TEST_F(ShuffleService, DataThatFailsAfterItsIndexEndsTheConnection) {
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  Ask(*client, Fetch({0, 1}));
  AskChunk(*client, 0);
  Run(Duration::Seconds(5));  // the open file is let go
  Faults().FailBelow(messages::FilePath({"/data/b"}, 64, messages::ShuffleDataName(0, 7)), EIO);
  EXPECT_THAT(AskChunk(*client, 1), IsEmpty());
  EXPECT_TRUE(client->closed);
  EXPECT_EQ(log_.errors.size(), 1u);
}

TEST_F(ShuffleService, FullDiskForTheStoreOnly) {
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  Faults().SetFreeBytes(0);
  Ask(*client, Fetch({1}));
  EXPECT_THAT(AskChunk(*client, 0), ElementsAre("ChunkFetchSuccess")) << "reading needs no space";
}

TEST_F(ShuffleService, AReadOnlyDiskServesAndNamesWhatItDoesNotDo) {
  Put("/data/b", "rdd_4_1", "x");
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  Faults().FailWritesBelow("/data", EROFS);
  Ask(*client, Fetch({1}));
  EXPECT_THAT(AskChunk(*client, 0), ElementsAre("ChunkFetchSuccess"));
  for (int i = 0; i < 2; ++i) {
    client->Rpc(messages::RemoveBlocks{"app", "1", {"rdd_4_1", "rdd_9_9"}});
    Run(Duration::Millis(100));
    EXPECT_THAT(client->Take(), ElementsAre("RpcResponse"));
  }
  EXPECT_TRUE(Disk().Stat(messages::FilePath({"/data/b"}, 64, "rdd_4_1")).ok());
  EXPECT_EQ(log_.errors.size(), 1u) << "reported once";
  EXPECT_EQ(worker_->Metrics().disks[0].errors, 2u);
  EXPECT_EQ(worker_->Metrics().disks[0].last_errno, EROFS);
}

TEST_F(ShuffleService, DamagedIndexesGiveNoBytes) {
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  const std::vector<std::pair<std::string, std::string>> damaged = {
      {IndexOf({0, 5, 15, 18}).substr(0, 13), "java.lang.IndexOutOfBoundsException"},
      {"", "java.lang.IndexOutOfBoundsException"},
      {IndexOf({0, -5, 15, 18}), "position : -5 (expected: >= 0)"},
      {IndexOf({0, 15, 5, 18}), "count : -10 (expected: >= 0)"},
      {IndexOf({0, INT64_MIN, 1, 18}), "position : -9223372036854775808 (expected: >= 0)"},
  };
  int64_t map = 100;
  for (const auto& [index, error] : damaged) {
    Put("/data/b", messages::ShuffleDataName(0, map), "aaaaabbbbbbbbbbccc");
    Put("/data/b", messages::ShuffleIndexName(0, map), index);
    Ask(*client, Fetch({1}, map++));
    EXPECT_THAT(AskChunk(*client, 0), ElementsAre("ChunkFetchFailure " + error));
  }
  // Longer than the data: what there is goes out, then the connection ends; the client never sees a whole frame.
  for (const int64_t end : {int64_t{1000}, int64_t{1} << 30}) {
    Put("/data/b", messages::ShuffleDataName(0, map), "aaaaabbbbbbbbbbccc");
    Put("/data/b", messages::ShuffleIndexName(0, map), IndexOf({0, 5, end, end}));
    client = Connect();
    Ask(*client, Fetch({1}, map++));
    EXPECT_THAT(AskChunk(*client, 0), IsEmpty());
    EXPECT_TRUE(client->closed);
  }
}

// As Spark 3.5.5 and 4.3.0 answer.
TEST_F(ShuffleService, DiagnosesWhatThereIsOfABlock) {
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  constexpr int64_t kOfAll = 0xcbf53a1c;  // crc32("12345")
  constexpr int64_t kOfNothing = 0;
  struct Case {
    std::vector<int64_t> index;  // its last block is asked for
    std::optional<std::string> data;
    int64_t checksum;
    messages::Cause cause;
  };
  const std::vector<Case> cases = {
      {{0, 10, 20}, "12345", kOfNothing, messages::Cause::kChecksumVerifyPass},
      {{0, 10, 20}, "12345", kOfAll, messages::Cause::kDiskIssue},
      {{-5, 3}, "12345", kOfAll, messages::Cause::kChecksumVerifyPass},
      {{5, 3}, "12345", kOfAll, messages::Cause::kUnknownIssue},
      {{0, 0}, std::nullopt, kOfNothing, messages::Cause::kUnknownIssue},
      {{0, 5, 5}, "12345", kOfNothing, messages::Cause::kChecksumVerifyPass},
      {{0, int64_t{1} << 40}, "12345", kOfAll, messages::Cause::kChecksumVerifyPass},
      {{INT64_MIN, 0}, "12345", kOfAll, messages::Cause::kUnknownIssue},
  };
  int64_t map = 200;
  for (const Case& one : cases) {
    if (one.data) Put("/data/b", messages::ShuffleDataName(0, map), *one.data);
    Put("/data/b", messages::ShuffleIndexName(0, map), IndexOf(one.index));
    const auto block = static_cast<int32_t>(one.index.size()) - 2;
    Put("/data/b", messages::ShuffleChecksumName(0, map, "CRC32"),
        IndexOf(std::vector<int64_t>(static_cast<size_t>(block) + 1, one.checksum)));
    EXPECT_THAT(Ask(*client, messages::DiagnoseCorruption{"app", "1", 0, map, block, one.checksum, "CRC32"}),
                ElementsAre("RpcResponse"));
    EXPECT_EQ(client->body, messages::EncodeMessage(messages::CorruptionCause{one.cause})) << map;
    ++map;
  }
}

/// Not even to a request that lay behind the removal, though the file is still open.
TEST_F(ShuffleService, WhatWasRemovedIsServedNoMore) {
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  Ask(*client, Fetch({0, 1}));
  EXPECT_THAT(AskChunk(*client, 0), ElementsAre("ChunkFetchSuccess"));
  std::string both;
  const messages::RemoveBlocks removal{"app", "1", {messages::ShuffleDataName(0, 7)}};
  transport::AppendRpcRequest(both, 1, messages::EncodeMessage(removal));
  transport::AppendChunkFetchRequest(both, client->stream_id, 1);
  client->Send(std::move(both));
  Run(Duration::Millis(100));
  EXPECT_THAT(client->Take(), ElementsAre("RpcResponse"));
  EXPECT_TRUE(client->closed) << "as Spark's: the header was sent before the file was looked for";
}

TEST_F(ShuffleService, ANameTooLongIsNoTroubleOfTheDisk) {
  Start();
  auto client = Connect();
  Ask(*client, Registration("1", {"/data/" + std::string(300, 'x')}));
  Ask(*client, messages::OpenBlocks{"app", "1", {"rdd_1_1"}});
  Faults().FailBelow("/data/xxx", ENAMETOOLONG);
  EXPECT_THAT(AskChunk(*client, 0), ElementsAre(HasSubstr("Chunk was not found")));
  EXPECT_TRUE(log_.errors.empty());
}

TEST_F(ShuffleService, AnIndexLargerThanTheCacheIsRefusedByName) {
  config_.index_cache_bytes = 1000;
  Put("/data/b", messages::ShuffleIndexName(0, 50), std::string(8 * 1000, '\0'));
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  Ask(*client, Fetch({1}, 50));
  EXPECT_THAT(AskChunk(*client, 0)[0], HasSubstr("do not fit into the index cache"));
}

TEST_F(ShuffleService, TheIndexCacheKeepsItsBound) {
  config_.index_cache_bytes = 4000;
  for (int map = 0; map < 50; ++map) {
    Put("/data/b", messages::ShuffleDataName(1, map), "0123456789");
    Put("/data/b", messages::ShuffleIndexName(1, map), IndexOf({0, 1, 2, 10}));
  }
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  for (int round = 0; round < 2; ++round) {
    for (int map = 0; map < 50; ++map) {
      auto fetch = Fetch({2}, map);
      fetch.shuffle_id = 1;
      Ask(*client, fetch);
      EXPECT_THAT(AskChunk(*client, 0), ElementsAre("ChunkFetchSuccess"));
      EXPECT_EQ(client->body, "23456789");
      EXPECT_LE(worker_->Metrics().index_cache_bytes, 4000u);
    }
  }
}

// ---- life
// ------------------------------------------------------------------------------------------------------------

TEST_F(ShuffleService, RemoveBlocksStaysInItsDirectory) {
  Put("/data/b", "rdd_4_1", "x");
  ASSERT_TRUE(Disk().WriteFileAtomically("/data/secret", "x").ok());
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  client->Rpc(messages::RemoveBlocks{"app", "1", {"rdd_4_1", "../../secret", "..", "", "rdd_9_9", "a/b"}});
  Run(Duration::Millis(100));
  EXPECT_THAT(client->Take(), ElementsAre("RpcResponse"));
  EXPECT_TRUE(Disk().Stat("/data/secret").ok());
  EXPECT_FALSE(Disk().Stat(messages::FilePath({"/data/b"}, 64, "rdd_4_1")).ok());
}

TEST_F(ShuffleService, AnApplicationsEndRemovesItsDirectoriesWhenAskedTo) {
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  std::string outcome = "none";
  service_->StopApp("app", true, [&](const std::string& error) { outcome = error; });
  Run(Duration::Millis(200));
  EXPECT_EQ(outcome, "");
  EXPECT_FALSE(Disk().Stat("/data/b").ok());
  EXPECT_TRUE(Disk().Stat("/data").ok());
  Ask(*client, Fetch({1}));
  EXPECT_THAT(AskChunk(*client, 0)[0], HasSubstr("Executor is not registered (appId=app, execId=1)"));
  CrashAndStart();
  EXPECT_EQ(service_->registry()->executors(), 0u);
}

TEST_F(ShuffleService, ExecutorGoneLeavesWhatIsServed) {
  Put("/data/b", "temp_shuffle_1", "x");
  Put("/data/b", messages::ShuffleChecksumName(0, 7, "ADLER32"), "x");
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  service_->ExecutorGone("app", "1");
  Run(Duration::Millis(100));
  EXPECT_FALSE(Disk().Stat(messages::FilePath({"/data/b"}, 64, "temp_shuffle_1")).ok());
  Ask(*client, Fetch({1}));
  EXPECT_THAT(AskChunk(*client, 0), ElementsAre("ChunkFetchSuccess"));
}

TEST_F(ShuffleService, TheSweepForgetsAnApplicationWhoseDirectoriesAreGone) {
  config_.core.sweep_interval = Duration::Seconds(200);
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  client.reset();
  Run(Duration::Seconds(500));
  EXPECT_EQ(service_->registry()->executors(), 1u) << "its directories are there";
  ASSERT_TRUE(Disk().RemoveTree("/data/b").ok());
  Faults().FailBelow("/data", EIO);
  Run(Duration::Seconds(500));
  EXPECT_EQ(service_->registry()->executors(), 1u) << "a disk that does not answer proves nothing";
  Faults().FailBelow("/data", 0);
  Run(Duration::Seconds(500));
  EXPECT_EQ(service_->registry()->executors(), 0u);
}

TEST_F(ShuffleService, IdleConnectionsAreClosedAndOthersAreNot) {
  Start();
  auto idle = Connect();
  auto busy = Connect();
  Ask(*busy, Registration());
  for (int i = 0; i < 15; ++i) {
    Run(Duration::Seconds(10));
    Ask(*busy, messages::GetLocalDirsForExecutors{"app", {"1"}});
  }
  EXPECT_TRUE(idle->closed);
  EXPECT_FALSE(busy->closed);
}

TEST_F(ShuffleService, DrainsBeforeItStops) {
  Start();
  auto client = Connect();
  Ask(*client, Registration());
  bool drained = false;
  worker_->Drain(Duration::Seconds(30), [&] { drained = true; });
  Ask(*client, Fetch({1}));
  EXPECT_THAT(AskChunk(*client, 0), ElementsAre("ChunkFetchSuccess"));
  EXPECT_FALSE(drained);
  EXPECT_EQ(Connect(), nullptr);
  client.reset();
  Run(Duration::Seconds(2));
  EXPECT_TRUE(drained);
}

TEST_F(ShuffleService, RequestsWithoutReadingAreBounded) {
  config_.stream_bytes_max = 100'000;
  Start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(Connect());
  Ask(*clients[0], Registration());
  for (int round = 0; round < 100; ++round) {
    for (auto& client : clients) client->Rpc(Fetch({0, 1, 2}));
  }
  Run(Duration::Seconds(1));
  EXPECT_LE(worker_->Metrics().stream_bytes, 100'000u);
  EXPECT_THAT(clients[5]->Take().back(), HasSubstr("too many open streams"));
  clients.clear();
  Run(Duration::Seconds(1));
  EXPECT_EQ(worker_->Metrics().streams, 0u);
  EXPECT_EQ(worker_->Metrics().queued_bytes, 0u);
}

TEST_F(ShuffleService, SecretsComeAndGoWithTheirApplication) {
  config_.session.security.authenticate = true;
  Start();
  EXPECT_EQ(SecretInPayload("plain"), "plain");
  EXPECT_EQ(SecretInPayload(R"( {"spark.yarn.shuffle.server.recovery.disabled":true,"secret":"a\"b"})"), "a\"b");
  service_->StartApp("app", R"({"secret":"s"})", nullptr);
  Run(Duration::Millis(100));
  EXPECT_EQ(worker_->SecretOf("app"), "s");
  CrashAndStart();
  Run(Duration::Millis(100));
  EXPECT_EQ(worker_->SecretOf("app"), "s");
  service_->StopApp("app", false, nullptr);
  Run(Duration::Millis(100));
  EXPECT_EQ(worker_->SecretOf("app"), std::nullopt);
}

// ---- on the real file system ---------------------------------------------------------------------------------------

class RealDisk : public testing::Test {
 protected:
  RealDisk() : root_(testing::TempDir() + "shuffle_service_test") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ + "/roots/b");
    std::filesystem::create_directories(root_ + "/outside");
  }
  ~RealDisk() override { std::filesystem::remove_all(root_); }
  static void Put(const std::string& dir, const std::string& name, const std::string& bytes) {
    const std::string path = messages::FilePath({dir}, 64, name);
    std::filesystem::create_directories(path.substr(0, path.rfind('/')));
    std::ofstream(path, std::ios::binary) << bytes;
  }
  const std::string root_;
  std::unique_ptr<env::Disk> disk_ = env_posix::MakePosixDisk();
};

TEST_F(RealDisk, LinksLeadNowhere) {
  Put(root_ + "/outside", messages::ShuffleDataName(0, 7), "secret");
  Put(root_ + "/outside", messages::ShuffleIndexName(0, 7), IndexOf({0, 6}));
  std::filesystem::create_directory_symlink(root_ + "/outside", root_ + "/roots/link");
  Config config;
  config.core.local_roots = {root_ + "/roots"};
  TestLog log;
  BlockStore store(*disk_, nullptr, log, config);
  model::shuffle::Executor executor;
  executor.dirs = {fairlead::shuffle::PlaceDir(root_ + "/roots/link", config.core.local_roots)};
  ASSERT_EQ(executor.dirs[0].root, 0u);
  endpoints::shuffle::BlockRef block;
  block.map_id = 7;
  block.end = 1;
  EXPECT_EQ(store.Open(executor, block, {}, Access::kDisk).kind, endpoints::shuffle::BlockResult::Kind::kFailed);
  EXPECT_EQ(RemoveFiles(*disk_, config.core.local_roots, executor, {messages::ShuffleDataName(0, 7)}).count, 0);
  EXPECT_FALSE(RemoveDirectory(*disk_, root_ + "/roots", "link/x").ok());
  RemoveUnserved(*disk_, root_ + "/roots", "link", false);
  EXPECT_TRUE(std::filesystem::exists(messages::FilePath({root_ + "/outside"}, 64, messages::ShuffleDataName(0, 7))));
  // The link itself, planted inside of a directory that goes, is removed as a link.
  std::filesystem::create_directory_symlink(root_ + "/outside", root_ + "/roots/b/link");
  EXPECT_TRUE(RemoveDirectory(*disk_, root_ + "/roots", "b").ok());
  EXPECT_FALSE(std::filesystem::exists(root_ + "/roots/b"));
  EXPECT_TRUE(std::filesystem::exists(root_ + "/outside"));
  EXPECT_FALSE(RemoveDirectory(*disk_, root_ + "/roots", "").ok()) << "a root stays";
}

/// Nothing is in memory, ever.
class ColdCache final : public env::PageCache {
 public:
  bool Holds(const env::File&, uint64_t, uint64_t) override { return false; }
  base::Result<std::shared_ptr<env::File>> OpenBeneath(const std::string&, const std::string&) override {
    return base::Error{"not in memory", EAGAIN};
  }
};

/// Says what it is told to say, and counts how often it is asked.
class CountingCache final : public env::PageCache {
 public:
  bool Holds(const env::File&, uint64_t, uint64_t) override {
    ++asked;
    return warm;
  }
  base::Result<std::shared_ptr<env::File>> OpenBeneath(const std::string& root, const std::string& relative) override {
    return disk->OpenBeneath(root, relative);
  }
  std::unique_ptr<env::Disk> disk = env_posix::MakePosixDisk();
  int asked = 0;
  bool warm = true;
};

TEST_F(RealDisk, WhatWasInMemoryAMomentAgoIsNotAskedForAgain) {
  Put(root_ + "/roots/b", messages::ShuffleDataName(0, 7), std::string(4000, 'x'));
  std::vector<int64_t> offsets(101);
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<int64_t>(i) * 40;
  Put(root_ + "/roots/b", messages::ShuffleIndexName(0, 7), IndexOf(offsets));
  CountingCache cache;
  env::NullLog log;
  Config config;
  config.core.local_roots = {root_ + "/roots"};
  BlockStore store(*cache.disk, &cache, log, config);
  model::shuffle::Executor executor;
  executor.dirs = {{root_ + "/roots/b", 0, "b"}};
  executor.sub_dirs_per_local_dir = 64;
  using endpoints::shuffle::BlockRef;
  using endpoints::shuffle::BlockResult;
  const auto open = [&](int32_t reduce, int64_t ms) {
    BlockRef block;
    block.map_id = 7;
    block.start = reduce;
    block.end = reduce + 1;
    return store.Open(executor, block, base::Instant{ms * 1'000'000}, Access::kInMemory).kind;
  };
  for (int32_t reduce = 0; reduce < 100; ++reduce) EXPECT_EQ(open(reduce, 5000), BlockResult::Kind::kBytes);
  EXPECT_EQ(cache.asked, 3);  // of the index, the first block, and what lies around the second
  EXPECT_EQ(open(0, 5099), BlockResult::Kind::kBytes);
  EXPECT_EQ(cache.asked, 3);
  cache.warm = false;
  EXPECT_EQ(open(0, 5100), BlockResult::Kind::kLater);
  EXPECT_EQ(open(1, 5101), BlockResult::Kind::kLater);
}

/// Everything on one real loop: sockets, sendfile, encryption.
TEST_F(RealDisk, LongAndShortBlocksArriveWholeWithAndWithoutEncryption) {
  std::string data(5'000'000, '\0');
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31 + (i >> 9));
  Put(root_ + "/roots/b", messages::ShuffleDataName(0, 7), data);
  Put(root_ + "/roots/b", messages::ShuffleIndexName(0, 7), IndexOf({0, 10, 4000, 100'000, 5'000'000}));
  ColdCache nothing_in_memory;
  for (const auto& [encrypted, cold] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
    const auto loop = env_posix::MakePosixLoop();
    Config config;
    config.listen = {"127.0.0.1", 0};
    config.core.local_roots = {root_ + "/roots"};
    config.session.security.authenticate = config.session.security.crypto = encrypted;
    if (encrypted) config.cluster_secret = "secret";
    config.disk_silence_max = Duration::Seconds(20);
    TestLog log;
    Service service(*loop, *disk_, nullptr, log, config);
    IoWorker worker(*loop, *loop, *disk_, cold ? &nothing_in_memory : nullptr, log, config, service);
    service.AddWorker(worker);
    ASSERT_TRUE(worker.Listen(config.listen).ok());

    class Reader final : public env::StreamHandler {
     public:
      void OnData(std::string_view bytes) override { on_data(bytes); }
      void OnClosed(const std::string& reason) override { ADD_FAILURE() << "closed: " << reason; }
      std::function<void(std::string_view)> on_data;
    } handler;
    std::unique_ptr<env::Stream> stream;
    std::unique_ptr<transport::ChannelCipher> cipher;
    transport::FrameReader frames(64 << 20);
    transport::AuthRandom random{};
    random.private_key.fill(5);
    const transport::AuthClient auth("app", "secret", transport::AuthVersion::kV1, random);
    std::string received, clear;
    const auto send = [&](const std::string& bytes) {
      std::string out;
      if (cipher) cipher->Encrypt(bytes, out);
      stream->Write(cipher ? out : bytes);
    };
    const auto rpc = [&](const std::string& body) {
      std::string out;
      transport::AppendRpcRequest(out, 1, body);
      send(out);
    };
    const auto begin = [&] {
      rpc(messages::EncodeMessage(messages::RegisterExecutor{"app", "1", {root_ + "/roots/b"}, 64, "m"}));
    };
    handler.on_data = [&](std::string_view bytes) {
      clear.clear();
      if (cipher) {
        ASSERT_TRUE(cipher->Decrypt(bytes, clear).ok());
        bytes = clear;
      }
      frames.Feed(bytes);
      while (frames.Next() == transport::FrameReader::Outcome::kFrame) {
        const auto& frame = frames.frame();
        if (frame.type == transport::FrameType::kChunkFetchSuccess) {
          received += frame.body;
          if (received.size() == data.size()) loop->Stop();
        } else if (encrypted && !cipher) {
          const auto keys = auth.Finish(frame.body);
          ASSERT_TRUE(keys.ok());
          cipher = transport::MakeClientCipher(*keys, transport::AuthCipher::kCtr, nullptr);
          begin();
        } else if (frame.body.empty()) {
          messages::FetchShuffleBlocks fetch{"app", "1", 0, {7}, {}, false};
          const int32_t reduces[] = {0, 1, 2, 3};
          fetch.reduce_ids.Add(reduces);
          rpc(messages::EncodeMessage(fetch));
        } else if (frame.body.size() == 13) {
          std::string out;
          for (int32_t i = 0; i < 4; ++i) {
            transport::AppendChunkFetchRequest(out, base::BigEndian<int64_t>(frame.body.substr(1)), i);
          }
          send(out);
        } else {
          FAIL() << frame.text;
        }
      }
    };
    loop->Connect(worker.local(), Duration::Seconds(5), [&](auto connected) {
      ASSERT_TRUE(connected.ok());
      stream = *std::move(connected);
      stream->Start(&handler);
      if (encrypted) {
        rpc(auth.challenge());
      } else {
        begin();
      }
    });
    loop->After(Duration::Seconds(30), [&] {
      ADD_FAILURE() << "not all arrived: " << received.size();
      loop->Stop();
    });
    loop->Run();
    EXPECT_TRUE(received == data) << (encrypted ? "encrypted" : "plain");
    EXPECT_EQ(worker.Metrics().read_ahead.reads > 0, cold);
    EXPECT_EQ(worker.Metrics().sessions.blocks, 4u);
  }
}

/// A connection of its own thread's, with plain calls.
class PlainClient {
 public:
  PlainClient(const env::Endpoint& service, int receive_buffer)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(service.port);
    ::inet_pton(AF_INET, service.host.c_str(), &address.sin_addr);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  PlainClient(const PlainClient&) = delete;
  PlainClient& operator=(const PlainClient&) = delete;
  ~PlainClient() { ::close(fd_); }
  bool connected() const { return connected_; }
  /// What the kernel takes of it.
  void Send(const std::string& bytes) const {
    (void)::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  /// Waits for a whole frame.
  std::string Frame() const {
    std::string out(8, '\0');
    if (::recv(fd_, out.data(), 8, MSG_WAITALL) != 8) return "";
    out.resize(static_cast<size_t>(base::BigEndian<int64_t>(out)));
    if (::recv(fd_, out.data() + 8, out.size() - 8, MSG_WAITALL) < 0) return "";
    return out;
  }
  void Rpc(const messages::Message& message) const {
    std::string bytes;
    transport::AppendRpcRequest(bytes, 1, messages::EncodeMessage(message));
    Send(bytes);
  }
  /// Opens reduce ids 0 to `blocks` of map 7.
  void Open(int32_t blocks) const {
    messages::FetchShuffleBlocks fetch{"app", "1", 0, {7}, {}, false};
    for (int32_t i = 0; i < blocks; ++i) fetch.reduce_ids.AddValue(i);
    fetch.reduce_ids.CloseList();
    Rpc(fetch);
  }
  /// Requests for the blocks of the stream that Open() is answered with.
  std::string Requests(int32_t blocks) const {
    const std::string answer = Frame();
    std::string out;
    if (answer.size() < 30) return out;
    const int64_t stream = base::BigEndian<int64_t>(std::string_view(answer).substr(22));
    for (int32_t block = 0; block < blocks; ++block) transport::AppendChunkFetchRequest(out, stream, block);
    return out;
  }

 private:
  const int fd_;
  bool connected_ = false;
};

/// 4 GB are asked for and nobody takes them: they stay on the disk, and who reads is served.
TEST_F(RealDisk, AThousandRequestsOnEachOfAThousandConnectionsThatDoNotRead) {
  constexpr int kConnections = base::kThreadsWatched ? 200 : 1000;  // connecting takes so much longer there
  constexpr int32_t kBlocks = 1000;
  constexpr int64_t kBlockBytes = 4096;
  env_posix::RaiseOpenFilesLimit();
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i <= kBlocks; ++i) offsets.push_back(i * kBlockBytes);
  Put(root_ + "/roots/b", messages::ShuffleDataName(0, 7), std::string(kBlocks * kBlockBytes, 'x'));
  Put(root_ + "/roots/b", messages::ShuffleIndexName(0, 7), IndexOf(offsets));
  const auto loop = env_posix::MakePosixLoop();
  Config config;
  config.core.local_roots = {root_ + "/roots"};
  // Queues are bounded here by what is in them alone. Limits in time would end those that do not read, which on a busy
  // machine is before all are connected; and after 10 s (kStalled) what they do not take is counted against them.
  config.handshake = config.request = config.connection_idle_max = base::Duration::Seconds(600);
  config.peers.bytes_max = 2 * config.queued_bytes_max;
  TestLog log;
  Service service(*loop, *disk_, nullptr, log, config);
  IoWorker worker(*loop, *loop, *disk_, nullptr, log, config, service);
  service.AddWorker(worker);
  ASSERT_TRUE(worker.Listen({"127.0.0.1", 0}).ok());
  std::thread serving([&] { loop->Run(); });
  {
    const PlainClient first(worker.local(), 1 << 20);
    first.Rpc(messages::RegisterExecutor{"app", "1", {root_ + "/roots/b"}, 64, "m"});
    ASSERT_FALSE(first.Frame().empty());
    std::vector<std::unique_ptr<PlainClient>> clients;
    for (int i = 0; i < kConnections; ++i) {
      clients.push_back(std::make_unique<PlainClient>(worker.local(), 4096));
      ASSERT_TRUE(clients.back()->connected()) << i;
      clients.back()->Open(kBlocks);
    }
    for (const auto& client : clients) client->Send(client->Requests(kBlocks));
    first.Open(1);
    first.Send(first.Requests(1));
    EXPECT_EQ(first.Frame().size(), transport::kChunkFetchSuccessHeaderBytes + kBlockBytes);
    std::promise<WorkerMetrics> metrics;
    loop->Post([&] { metrics.set_value(worker.Metrics()); });
    const WorkerMetrics now = metrics.get_future().get();
    EXPECT_EQ(now.connections, kConnections + 1u);
    EXPECT_GT(now.queued_bytes, 1u << 20);
    EXPECT_LE(now.queued_bytes, config.queued_bytes_max);
    EXPECT_LE(now.stream_bytes, config.stream_bytes_max);
  }
  loop->Stop();
  serving.join();
}

/// A disk with one root that can stop to answer.
class StoppableDisk final : public env::Disk {
 public:
  StoppableDisk(env::Disk& disk, std::string slow) : disk_(disk), slow_(std::move(slow)) {}
  void Stop(bool stopped) {
    const std::lock_guard lock(mutex_);
    stopped_ = stopped;
    changed_.notify_all();
  }
  base::Result<std::shared_ptr<env::File>> OpenBeneath(const std::string& root, const std::string& path) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !stopped_ || root != slow_; });
    return disk_.OpenBeneath(root, path);
  }
  base::Result<std::string> ReadFile(const std::string& p, uint64_t n) override { return disk_.ReadFile(p, n); }
  base::Status WriteFileAtomically(const std::string& p, std::string_view b, uint32_t m) override {
    return disk_.WriteFileAtomically(p, b, m);
  }
  base::Status MakeDirectories(const std::string& p, uint32_t m) override { return disk_.MakeDirectories(p, m); }
  base::Status RemoveTree(const std::string& p) override { return disk_.RemoveTree(p); }
  base::Status Rename(const std::string& a, const std::string& b) override { return disk_.Rename(a, b); }
  base::Result<std::vector<env::FileInfo>> List(const std::string& p) override { return disk_.List(p); }
  base::Result<env::FileInfo> Stat(const std::string& p) override { return disk_.Stat(p); }
  base::Result<env::DiskSpace> Space(const std::string& p) override { return disk_.Space(p); }
  base::Result<std::shared_ptr<env::File>> OpenForReading(const std::string& p) override {
    return disk_.OpenForReading(p);
  }
  base::Result<std::shared_ptr<env::File>> OpenForAppending(const std::string& p, uint32_t m) override {
    return disk_.OpenForAppending(p, m);
  }
  base::Result<bool> RemoveBeneath(const std::string& r, const std::string& p) override {
    return disk_.RemoveBeneath(r, p);
  }

 private:
  env::Disk& disk_;
  const std::string slow_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

TEST_F(RealDisk, ADiskThatDoesNotAnswerHoldsUpNobodyElse) {
  const std::string slow = root_ + "/slow";
  const std::string fast = root_ + "/roots";
  for (const std::string& dir : {slow + "/b", fast + "/b"}) {
    Put(dir, messages::ShuffleDataName(0, 7), "0123456789");
    Put(dir, messages::ShuffleIndexName(0, 7), IndexOf({0, 4, 10}));
  }
  StoppableDisk disk(*disk_, slow);
  ColdCache cold;
  const auto loop = env_posix::MakePosixLoop();
  Config config;
  config.listen = {"127.0.0.1", 0};
  config.core.local_roots = {slow, fast};
  config.disk_silence_max = Duration::Millis(1500);
  TestLog log;
  Service service(*loop, disk, nullptr, log, config);
  IoWorker worker(*loop, *loop, disk, &cold, log, config, service);
  service.AddWorker(worker);
  ASSERT_TRUE(worker.Listen(config.listen).ok());
  const auto connect = [&] {
    std::unique_ptr<Client> out;
    loop->Connect(worker.local(), Duration::Seconds(5), [&](auto stream) {
      ASSERT_TRUE(stream.ok());
      out = std::make_unique<Client>(*std::move(stream));
      loop->Stop();
    });
    loop->Run();
    return out;
  };
  const auto wait = [&](const std::function<bool()>& condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::function<void()> look = [&] {
      if (condition() || std::chrono::steady_clock::now() > limit) return loop->Stop();
      loop->After(Duration::Millis(2), look);
    };
    look();
    loop->Run();
    return condition();
  };
  const auto open = [&](Client& client, const std::string& executor, const std::string& dir) {
    client.Rpc(messages::RegisterExecutor{"app", executor, {dir}, 64, "m"});
    messages::FetchShuffleBlocks fetch{"app", executor, 0, {7}, {}, false};
    fetch.reduce_ids.AddValue(1);
    fetch.reduce_ids.CloseList();
    client.Rpc(fetch);
    EXPECT_TRUE(wait([&] { return client.answers.size() == 2; }));
    client.Take();
    client.Chunk(0);
  };
  const auto one = connect();
  const auto other = connect();
  disk.Stop(true);
  open(*one, "slow", slow + "/b");
  open(*other, "fast", fast + "/b");
  EXPECT_TRUE(wait([&] { return !other->answers.empty(); }));
  EXPECT_THAT(other->Take(), ElementsAre("ChunkFetchSuccess"));
  EXPECT_EQ(other->body, "456789");
  EXPECT_THAT(one->answers, IsEmpty());
  EXPECT_TRUE(wait([&] { return !one->answers.empty(); }));
  const auto failure = one->Take();
  ASSERT_EQ(failure.size(), 1u);
  EXPECT_THAT(failure[0], StartsWith("ChunkFetchFailure java.io.IOException: cannot read " + slow));
  EXPECT_THAT(failure[0], HasSubstr("no answer from its disk"));
  EXPECT_EQ(log.errors.size(), 1u);
  EXPECT_EQ(worker.Metrics().disks[0].errors, 1u);
  EXPECT_EQ(worker.Metrics().disks[1].errors, 0u);
  disk.Stop(false);
  // Served again, once the disk has answered what was asked of it before.
  EXPECT_TRUE(wait([&] { return worker.Metrics().read_ahead.waiting == 0; }));
  open(*one, "slow", slow + "/b");
  EXPECT_TRUE(wait([&] { return !one->answers.empty(); }));
  EXPECT_THAT(one->Take(), ElementsAre("ChunkFetchSuccess"));
  EXPECT_EQ(one->body, "456789");
}

/// Fetches the same blocks over and over.
class Fetcher final : public env::StreamHandler {
 public:
  Fetcher(env_posix::PosixLoop& loop, const env::Endpoint& service, std::string app, std::string dir, int32_t blocks)
      : app_(std::move(app)), dir_(std::move(dir)), blocks_(blocks) {
    loop.Connect(service, Duration::Seconds(5), [this](auto connected) {
      ASSERT_TRUE(connected.ok());
      stream_ = *std::move(connected);
      stream_->Start(this);
      Rpc(messages::RegisterExecutor{app_, "1", {dir_}, 64, "m"});
    });
  }
  void OnData(std::string_view bytes) override {
    received += bytes.size();
    frames_.Feed(bytes);
    while (frames_.Next() == transport::FrameReader::Outcome::kFrame) {
      const auto& frame = frames_.frame();
      if (frame.type == transport::FrameType::kChunkFetchSuccess) {
        if (frame.chunk_index + 1 == blocks_) Fetch();
      } else if (frame.body.empty()) {
        Fetch();
      } else {
        ASSERT_EQ(frame.body.size(), 13u) << frame.text;
        std::string out;
        for (int32_t i = 0; i < blocks_; ++i) {
          transport::AppendChunkFetchRequest(out, base::BigEndian<int64_t>(frame.body.substr(1)), i);
        }
        stream_->Write(std::move(out));
      }
    }
    if (on_progress) on_progress();
  }
  void OnClosed(const std::string& reason) override { ADD_FAILURE() << "closed: " << reason; }

  uint64_t received = 0;
  std::function<void()> on_progress;

 private:
  void Rpc(const messages::Message& message) {
    std::string out;
    transport::AppendRpcRequest(out, 1, messages::EncodeMessage(message));
    stream_->Write(std::move(out));
  }
  void Fetch() {
    messages::FetchShuffleBlocks fetch{app_, "1", 0, {7}, {}, false};
    for (int32_t i = 0; i < blocks_; ++i) fetch.reduce_ids.AddValue(i);
    fetch.reduce_ids.CloseList();
    Rpc(fetch);
  }

  const std::string app_;
  const std::string dir_;
  const int32_t blocks_;
  std::unique_ptr<env::Stream> stream_;
  transport::FrameReader frames_{64 << 20};
};

/// Eight connections of one application against one of another: both get about the same bytes, whatever the blocks'
/// size.
TEST_F(RealDisk, ApplicationsShareTheBandwidthNotTheirConnections) {
  for (const int64_t block : {int64_t{4'000}, int64_t{200'000}, int64_t{4'000'000}}) {
    const auto blocks = static_cast<int32_t>(8'000'000 / block);
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i <= blocks; ++i) offsets.push_back(i * block);
    Put(root_ + "/roots/b", messages::ShuffleDataName(0, 7), std::string(8'000'000, 'x'));
    Put(root_ + "/roots/b", messages::ShuffleIndexName(0, 7), IndexOf(offsets));
    const auto loop = env_posix::MakePosixLoop();
    Config config;
    config.listen = {"127.0.0.1", 0};
    config.core.local_roots = {root_ + "/roots"};
    TestLog log;
    Service service(*loop, *disk_, nullptr, log, config);
    IoWorker worker(*loop, *loop, *disk_, nullptr, log, config, service);
    service.AddWorker(worker);
    ASSERT_TRUE(worker.Listen(config.listen).ok());
    std::vector<std::unique_ptr<Fetcher>> many;
    for (int i = 0; i < 8; ++i) {
      many.push_back(std::make_unique<Fetcher>(*loop, worker.local(), "many", root_ + "/roots/b", blocks));
    }
    const auto sum = [&] {
      uint64_t bytes = 0;
      for (const auto& fetcher : many) bytes += fetcher->received;
      return bytes;
    };
    std::unique_ptr<Fetcher> one;
    uint64_t before = 0;
    // The one comes when the many are at full speed.
    many[0]->on_progress = [&] {
      if (one || sum() < 40'000'000) return;
      one = std::make_unique<Fetcher>(*loop, worker.local(), "one", root_ + "/roots/b", blocks);
      one->on_progress = [&] {
        if (before == 0) before = sum();
        if (one->received >= 80'000'000) loop->Stop();
      };
    };
    loop->After(Duration::Seconds(60), [&] {
      ADD_FAILURE() << "blocks of " << block << " did not arrive";
      loop->Stop();
    });
    loop->Run();
    ASSERT_NE(one, nullptr);
    const double ratio = static_cast<double>(sum() - before) / static_cast<double>(one->received);
    // Between two fetches the one asks for nothing, which the others may use. Turns by connection would give 8.
    EXPECT_LT(ratio, 2) << "blocks of " << block;
    EXPECT_GT(ratio, 0.6) << "blocks of " << block;
  }
}

}  // namespace
}  // namespace fairlead::process::shuffle
