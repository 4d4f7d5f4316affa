#include "process/shuffle/merger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <set>

#include "base/rng.h"
#include "process/shuffle/merge_registration.h"
#include "process/shuffle/service_test.h"
#include "wire/spark_shuffle/merge_statuses.h"

namespace fairlead::process::shuffle {
namespace {

using base::Duration;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kSortWithDir =
    "org.apache.spark.shuffle.sort.SortShuffleManager:{\"mergeDir\":\"merge_manager\"}";

class MergingService : public ShuffleService {
 protected:
  MergingService() {
    config_.merges = true;
    for (int i = 0; i < 64; ++i) {
      char name[40];
      std::snprintf(name, sizeof name, "/data/merge_manager/%02x", static_cast<unsigned>(i));
      EXPECT_TRUE(Disk().MakeDirectories(name).ok());
    }
  }
  static messages::RegisterExecutor MergeRegistration(std::string manager = kSortWithDir) {
    messages::RegisterExecutor out = Registration();
    out.shuffle_manager = std::move(manager);
    return out;
  }
  static std::string PushFrame(int32_t map, int32_t reduce, int64_t bytes, int32_t merge = 0) {
    std::string out;
    const messages::PushBlockStream push{"app", -1, 0, merge, map, reduce, 0};
    transport::AppendUploadStream(out, 1000 + map, messages::EncodeMessage(push), bytes);
    return out;
  }
  /// The answer's code, or its failure.
  std::string Push(Client& client, int32_t map, int32_t reduce, const std::string& block, int32_t merge = 0) {
    client.Send(PushFrame(map, reduce, static_cast<int64_t>(block.size()), merge) + block);
    return Answer(client);
  }
  std::string Answer(Client& client) {
    Run(Duration::Millis(100));
    const auto answers = client.Take();
    if (answers.size() != 1) return std::to_string(answers.size()) + " answers";
    if (answers[0] != "RpcResponse") return answers[0];
    const auto message = messages::DecodeMessage(client.body);
    return message.ok() ? std::to_string(std::get<messages::BlockPushReturnCode>(*message).code) : "no message";
  }
  std::vector<messages::MergeStatus> Finalize(Client& client, int32_t merge = 0) {
    EXPECT_THAT(Ask(client, messages::FinalizeShuffleMerge{"app", -1, 0, merge}), ElementsAre("RpcResponse"));
    const auto message = messages::DecodeMessage(client.body);
    if (!message.ok()) return {};
    return *messages::ReadMergeStatuses(std::get<messages::MergeStatuses>(*message));
  }
  std::vector<std::string> AskMeta(Client& client, int32_t reduce, int32_t merge = 0) {
    std::string bytes;
    transport::AppendMergedBlockMetaRequest(bytes, 9, "app", 0, merge, reduce);
    client.Send(std::move(bytes));
    Run(Duration::Millis(100));
    return client.Take();
  }
  /// All chunks of the partition, one behind the other; or the answer that is none.
  std::string Read(Client& client, int32_t reduce, int32_t chunks, int32_t merge = 0) {
    messages::FetchShuffleBlockChunks fetch{"app", "shuffle-push-merger", 0, merge, {reduce}, {}};
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < chunks; ++i) ids.push_back(i);
    fetch.chunk_ids.Add(ids);
    Ask(client, fetch);
    std::string out;
    for (const int32_t chunk : ids) {
      const auto answers = AskChunk(client, chunk);
      if (answers.size() != 1 || answers[0] != "ChunkFetchSuccess") return answers.empty() ? "silence" : answers[0];
      out += client.body;
    }
    return out;
  }
  std::string Merged(const std::string& suffix, int32_t reduce, int32_t merge = 0) {
    const std::string name = fairlead::shuffle::MergedFileName("app", 0, merge, reduce) + suffix;
    const auto bytes = Disk().ReadFile(messages::FilePath({"/data/merge_manager"}, 64, name));
    return bytes.ok() ? *bytes : "missing";
  }
};

TEST_F(MergingService, MergesAndServesChunksAfterTheEnd) {
  config_.merge_limits.chunk_bytes_min = 4;
  Start();
  const auto client = Connect();
  EXPECT_THAT(Ask(*client, MergeRegistration()), ElementsAre("RpcResponse"));
  EXPECT_EQ(Push(*client, 5, 2, "aaaaa"), "0");
  EXPECT_EQ(Push(*client, 1, 2, "bb"), "0");
  EXPECT_EQ(Push(*client, 1, 2, "bb"), "0") << "again: success, and merged once";
  EXPECT_EQ(Push(*client, 0, 3, ""), "0");
  EXPECT_THAT(AskMeta(*client, 2), ElementsAre(HasSubstr("Merged shuffle index file /data/merge_manager/")));
  const auto statuses = Finalize(*client);
  ASSERT_EQ(statuses.size(), 2u);
  EXPECT_EQ(statuses[0].reduce_id, 2);
  EXPECT_EQ(statuses[0].bytes, 7);
  EXPECT_THAT(statuses[0].maps.Indices(), ElementsAre(1, 5));
  EXPECT_EQ(statuses[1].bytes, 0);
  EXPECT_THAT(AskMeta(*client, 2), ElementsAre("MergedBlockMetaSuccess"));
  EXPECT_EQ(client->chunks, 2);
  const auto maps = messages::ReadChunkMaps(client->body, 2);
  ASSERT_TRUE(maps.ok());
  EXPECT_THAT((*maps)[1].Indices(), ElementsAre(1));
  EXPECT_EQ(Read(*client, 2, 2), "aaaaabb");
  EXPECT_THAT(Read(*client, 2, 3), HasSubstr("IndexOutOfBoundsException"));
  EXPECT_THAT(AskMeta(*client, 3), ElementsAre(HasSubstr(" is empty")));
  EXPECT_EQ(Push(*client, 7, 2, "late"), "1");
  EXPECT_EQ(Merged(".data", 2), "aaaaabb");
  EXPECT_EQ(Merged(".index", 2), IndexOf({0, 5, 7}));
  messages::GetLocalDirsForExecutors dirs{"app", {"shuffle-push-merger"}};
  EXPECT_THAT(Ask(*client, dirs), ElementsAre("RpcResponse"));
  EXPECT_THAT(client->body, HasSubstr("/data/merge_manager"));
}

TEST_F(MergingService, ABlockInPiecesCollidesWithAnother) {
  Start();
  const auto slow = Connect();
  const auto fast = Connect();
  Ask(*slow, MergeRegistration());
  slow->Send(PushFrame(1, 0, 6) + "aaa");
  Run(Duration::Millis(100));
  EXPECT_EQ(Push(*fast, 2, 0, "bbb"), "2");
  slow->Send("AAA");
  EXPECT_EQ(Answer(*slow), "0");
  EXPECT_EQ(Push(*fast, 2, 0, "bbb"), "0");
  ASSERT_EQ(Finalize(*fast).size(), 1u);
  EXPECT_EQ(Read(*fast, 0, 1), "aaaAAAbbb");
}

TEST_F(MergingService, ManyBlocksAtOnceAreAnsweredEachAndACutOneIsNotMerged) {
  Start();
  auto client = Connect();
  Ask(*client, MergeRegistration());
  std::string bytes;
  for (int32_t map = 0; map < 500; ++map) bytes += PushFrame(map, map % 3, 4) + "abcd";
  client->Send(bytes + PushFrame(600, 0, 100) + "half");
  Run(Duration::Millis(200));
  EXPECT_EQ(client->Take().size(), 500u);
  client.reset();
  Run(Duration::Millis(200));
  client = Connect();
  const auto statuses = Finalize(*client);
  ASSERT_EQ(statuses.size(), 3u);
  EXPECT_EQ(statuses[0].maps.size() + statuses[1].maps.size() + statuses[2].maps.size(), 500u);
  EXPECT_EQ(service_->merger()->book().counters().pushes_cut, 1u);
  EXPECT_EQ(service_->merger()->book().memory_bytes(), 0u);
}

TEST_F(MergingService, WhatWasAcknowledgedAsMergedOutlivesACrashAndNothingElseIsClaimed) {
  Start();
  auto client = Connect();
  Ask(*client, MergeRegistration());
  EXPECT_EQ(Push(*client, 1, 0, "aaa"), "0");
  ASSERT_EQ(Finalize(*client).size(), 1u);
  CrashAndStart();
  client = Connect();
  EXPECT_EQ(Read(*client, 0, 1), "aaa");
  EXPECT_EQ(Push(*client, 2, 0, "late"), "1") << "the end outlived it, too";
  EXPECT_EQ(Push(*client, 1, 0, "again", 1), "0") << "of a later merge, that has not ended";
  CrashAndStart();
  client = Connect();
  EXPECT_EQ(Push(*client, 2, 0, "next", 1), "0");
  const auto statuses = Finalize(*client, 1);
  ASSERT_EQ(statuses.size(), 1u);
  EXPECT_THAT(statuses[0].maps.Indices(), ElementsAre(2)) << "map 1's block was lost with the process";
  EXPECT_EQ(Read(*client, 0, 1, 1), "next");
  EXPECT_THAT(Read(*client, 0, 1), HasSubstr("stale shuffle block fetch request"));
}

TEST_F(MergingService, FilesThatAreGoneAreAnErrorAtOnce) {
  Start();
  auto client = Connect();
  Ask(*client, MergeRegistration());
  Push(*client, 1, 0, "aaa");
  ASSERT_EQ(Finalize(*client).size(), 1u);
  ASSERT_TRUE(Disk().RemoveTree("/data/merge_manager").ok());
  CrashAndStart();
  client = Connect();
  EXPECT_THAT(AskMeta(*client, 0), ElementsAre(HasSubstr("Merged shuffle index file")));
  EXPECT_THAT(Read(*client, 0, 1), HasSubstr("Merged shuffle data file"));
}

TEST_F(MergingService, AnEndThatCannotBeStoredOrWrittenClaimsNothing) {
  Start();
  const auto client = Connect();
  Ask(*client, MergeRegistration());
  Push(*client, 1, 0, "aaa");
  Faults().SetFreeBytes(0);
  EXPECT_THAT(Finalize(*client), IsEmpty()) << "the disk is full";
  EXPECT_EQ(service_->merger()->book().counters().write_failures, 1u);
  EXPECT_EQ(service_->merger()->book().counters().partitions_lost, 1u);
  Faults().SetFreeBytes(1 << 30);
  Push(*client, 1, 0, "aaa", 1);
  world_.faults().store_failure = 1;
  EXPECT_THAT(Ask(*client, messages::FinalizeShuffleMerge{"app", -1, 0, 1}), ElementsAre(HasSubstr("cannot store")));
  EXPECT_FALSE(log_.errors.empty());
}

TEST_F(MergingService, ADiskThatIsFullInMidMergeLosesThosePartitionsAndNoOthers) {
  config_.merge_limits.memory_bytes = 20'000;
  Start();
  const auto client = Connect();
  Ask(*client, MergeRegistration());
  EXPECT_EQ(Push(*client, 1, 0, std::string(12'000, 'x')), "0");
  Run(Duration::Millis(100));
  EXPECT_EQ(Merged(".data", 0).size(), 12'000u) << "written before the end";
  Faults().FailWritesBelow("/data", ENOSPC);
  EXPECT_EQ(Push(*client, 1, 1, std::string(15'000, 'y')), "0");
  Run(Duration::Seconds(1));
  EXPECT_EQ(Merged(".data", 1), "missing") << "what is given up takes no room";
  EXPECT_THAT(Push(*client, 2, 1, "more"), HasSubstr("IOExceptions exceeded the threshold"));
  Faults().FailWritesBelow("/data", 0);
  const auto again = Connect();
  EXPECT_EQ(Push(*again, 2, 0, "zz"), "0");
  const auto statuses = Finalize(*again);
  ASSERT_EQ(statuses.size(), 1u);
  EXPECT_EQ(statuses[0].bytes, 12'002);
}

TEST_F(MergingService, NoFileKeepsBytesOfAPushThatWasCut) {
  config_.merge_limits.memory_bytes = 20'000;
  Start();
  const auto client = Connect();
  Ask(*client, MergeRegistration());
  EXPECT_EQ(Push(*client, 1, 0, std::string(1'000, 'x')), "0");
  for (const int32_t reduce : {0, 1}) {
    const auto cut = Connect();
    cut->Send(PushFrame(2, reduce, 15'000) + std::string(12'000, 'y'));
    Run(Duration::Millis(100));
    EXPECT_GE(Merged(".data", reduce).size(), 12'000u) << "written before its end";
  }
  Run(Duration::Millis(100));
  const auto statuses = Finalize(*client);
  ASSERT_EQ(statuses.size(), 1u);
  EXPECT_EQ(Merged(".data", 0).size(), 1'000u);
  EXPECT_TRUE(Merged(".data", 1) == "missing") << "nothing of it was merged";
}

TEST_F(MergingService, AChunkAskedForTooEarlyDoesNotHarmLaterReaders) {
  config_.merge_limits.memory_bytes = 20'000;
  Start();
  const auto client = Connect();
  Ask(*client, MergeRegistration());
  EXPECT_EQ(Push(*client, 1, 0, std::string(12'000, 'x')), "0");
  Run(Duration::Millis(100));
  EXPECT_THAT(Read(*client, 0, 1), HasSubstr("Failed to open merged shuffle index file"));
  EXPECT_EQ(Push(*client, 2, 0, "yyy"), "0");
  ASSERT_EQ(Finalize(*client).size(), 1u);
  EXPECT_EQ(Read(*client, 0, 1).size(), 12'003u);
}

TEST_F(MergingService, AMergeThatIsRemovedOrReplacedWhileItEndsLeavesNothing) {
  Start();
  const auto driver = Connect();
  const auto other = Connect();
  Ask(*driver, MergeRegistration());
  const auto ends = [&](int32_t merge, const std::string& meanwhile) {
    Push(*driver, 1, 0, "aaa", merge);
    driver->Rpc(messages::FinalizeShuffleMerge{"app", -1, 0, merge});
    other->Send(meanwhile);
    Run(Duration::Millis(100));
    driver->Take();
    const auto message = messages::DecodeMessage(driver->body);
    const auto statuses = messages::ReadMergeStatuses(std::get<messages::MergeStatuses>(*message));
    EXPECT_THAT(*statuses, IsEmpty()) << "what is gone is not claimed";
    for (const char* suffix : {".data", ".index", ".meta"}) EXPECT_EQ(Merged(suffix, 0, merge), "missing") << suffix;
  };
  std::string removal;
  transport::AppendRpcRequest(removal, 1, messages::EncodeMessage(messages::RemoveShuffleMerge{"app", -1, 0, 0}));
  ends(0, removal);
  ends(1, PushFrame(1, 0, 3, 2) + "bbb");
  EXPECT_EQ(Finalize(*driver, 2).size(), 1u);
  EXPECT_EQ(Read(*driver, 0, 1, 2), "bbb");
  CrashAndStart();
  const auto client = Connect();
  EXPECT_THAT(Read(*client, 0, 1), HasSubstr("stale shuffle block fetch request"));
  EXPECT_EQ(Read(*client, 0, 1, 2), "bbb");
}

TEST_F(MergingService, RemovedMergesAreGoneAndAnEndedApplicationsFilesToo) {
  Start();
  auto client = Connect();
  Ask(*client, MergeRegistration());
  Push(*client, 1, 0, "aaa");
  ASSERT_EQ(Finalize(*client).size(), 1u);
  EXPECT_EQ(Read(*client, 0, 1), "aaa") << "its file stays open for the next reader";
  EXPECT_THAT(Ask(*client, messages::RemoveShuffleMerge{"app", -1, 0, 0}), IsEmpty()) << "no answer but a failure";
  EXPECT_EQ(Merged(".data", 0), "missing");
  EXPECT_THAT(Read(*client, 0, 1), HasSubstr("Merged shuffle data file"));
  EXPECT_THAT(AskMeta(*client, 0), ElementsAre(HasSubstr("Merged shuffle index file")));
  EXPECT_THAT(Ask(*client, messages::RemoveShuffleMerge{"app", 5, 0, 0}), ElementsAre(HasSubstr("attempt id 5")));
  Push(*client, 1, 0, "aaa", 1);
  ASSERT_EQ(Finalize(*client, 1).size(), 1u);
  service_->StopApp("app", true, nullptr);
  Run(Duration::Seconds(1));
  EXPECT_FALSE(Disk().Stat("/data/merge_manager").ok());
  EXPECT_THAT(Push(*client, 2, 0, "x"), HasSubstr("is not registered or NM was restarted"));
  EXPECT_TRUE(client->closed);
}

TEST_F(MergingService, WithoutMergingEverythingIsRefusedAsSparksOtherServiceDoes) {
  config_.merges = false;
  Start();
  const auto client = Connect();
  Ask(*client, MergeRegistration());
  EXPECT_THAT(Push(*client, 1, 0, "x"), HasSubstr("Cannot handle shuffle block merge"));
  const auto other = Connect();
  EXPECT_THAT(Push(*other, 2, 0, "x"), HasSubstr("Cannot handle shuffle block merge"));
  EXPECT_EQ(worker_->Metrics().sessions.push_requests, 2u);
  Run(Duration::Seconds(2));
  EXPECT_THAT(log_.warnings, ElementsAre(HasSubstr("this service does not merge"))) << "once";
}

/// A block that says which it is, and how long.
std::string SelfDescribed(int32_t map, int32_t reduce, int32_t merge) {
  const std::string name = std::to_string(map) + "/" + std::to_string(reduce) + "/" + std::to_string(merge) + "/" +
                           std::to_string(map % 50) + ";";
  return name + std::string(static_cast<size_t>(map % 50), static_cast<char>('a' + map % 26));
}

/// Takes blocks off merged bytes; false where something else lies there, or a block twice.
bool TakeBlocks(std::string_view bytes, int32_t reduce, int32_t merge, std::set<int32_t>& maps) {
  while (!bytes.empty()) {
    const auto map = static_cast<int32_t>(std::atoi(std::string(bytes.substr(0, bytes.find('/'))).c_str()));
    const std::string block = SelfDescribed(map, reduce, merge);
    if (!bytes.starts_with(block) || !maps.insert(map).second) return false;
    bytes.remove_prefix(block.size());
  }
  return true;
}

// The ledger of every byte: connections are cut, disks and the store fail, the process is killed; what a driver was
// told is read back to the last byte, and nothing else is in a chunk.
TEST_F(MergingService, UnderFaultsEveryClaimedByteIsReadBack) {
  config_.merge_limits.chunk_bytes_min = 200;
  config_.merge_limits.memory_bytes = 40'000;
  size_t claimed = 0;
  size_t crashes = 0;
  base::Rng rng(7);
  Start();
  for (int32_t merge = 0; merge < 60; ++merge) {
    std::vector<std::unique_ptr<Client>> clients(4);
    const auto client = [&](size_t at) -> Client& {
      while (clients[at] == nullptr || clients[at]->closed) {
        clients[at] = Connect();
        if (clients[at] == nullptr) continue;
        clients[at]->Rpc(MergeRegistration());
        Run(Duration::Millis(20));
      }
      return *clients[at];
    };
    for (int32_t push = 0; push < 120; ++push) {
      const auto map = static_cast<int32_t>(rng.Below(60));
      const auto reduce = static_cast<int32_t>(rng.Below(4));
      const std::string block = SelfDescribed(map, reduce, merge);
      const std::string whole = PushFrame(map, reduce, static_cast<int64_t>(block.size()), merge) + block;
      Client& pusher = client(rng.Below(4));
      const size_t half = rng.Below(whole.size());
      pusher.Send(whole.substr(0, half));
      if (rng.Below(4) == 0) Run(Duration::Millis(2));
      pusher.Send(whole.substr(half));
      world_.faults().cut_before_delivery = rng.Below(40) == 0 ? 0.2 : 0;
      world_.faults().store_failure = rng.Below(10) == 0 ? 0.5 : 0;
      Faults().FailWritesBelow("/data", rng.Below(15) == 0 ? ENOSPC : 0);
      if (rng.Below(200) == 0) {
        CrashAndStart();
        ++crashes;
      }
    }
    world_.faults().cut_before_delivery = 0;
    if (rng.Below(2) == 0) Faults().FailWritesBelow("/data", 0);
    Client& driver = client(0);
    Run(Duration::Millis(100));
    driver.Take();
    const auto answers = Ask(driver, messages::FinalizeShuffleMerge{"app", -1, 0, merge});
    world_.faults().store_failure = 0;
    Faults().FailWritesBelow("/data", 0);
    if (answers.empty() || answers[0] != "RpcResponse") continue;
    const auto message = messages::DecodeMessage(driver.body);
    ASSERT_TRUE(message.ok());
    const auto statuses = *messages::ReadMergeStatuses(std::get<messages::MergeStatuses>(*message));
    if (rng.Below(3) == 0) {
      clients.clear();
      CrashAndStart();
      ++crashes;
      clients.resize(4);
    }
    Client& reader = client(1);
    for (const messages::MergeStatus& status : statuses) {
      Run(Duration::Millis(100));
      reader.Take();
      ASSERT_THAT(AskMeta(reader, status.reduce_id, merge), ElementsAre("MergedBlockMetaSuccess"));
      const int32_t chunks = reader.chunks;
      const std::string bytes = Read(reader, status.reduce_id, chunks, merge);
      std::set<int32_t> maps;
      ASSERT_TRUE(TakeBlocks(bytes, status.reduce_id, merge, maps)) << bytes;
      EXPECT_EQ(static_cast<int64_t>(bytes.size()), status.bytes);
      const auto indices = status.maps.Indices();
      EXPECT_TRUE(std::equal(maps.begin(), maps.end(), indices.begin(), indices.end()));
      claimed += bytes.size();
    }
    ASSERT_EQ(service_->merger()->book().CheckInvariants(), "");
  }
  EXPECT_GT(claimed, 50'000u) << "the test merges";
  EXPECT_GT(crashes, 5u);
}

TEST(MergeRegistrationText, SaysWhereMergedFilesLieOrIsRefused) {
  const std::vector<std::string> roots = {"/data"};
  const auto read = [&](const std::string& manager, std::vector<std::string> dirs = {"/data/app/blockmgr-1"}) {
    return ReadMergeDirs(dirs, 64, manager, roots);
  };
  const auto good = read("sort:{\"mergeDir\":\"merge_manager_2\",\"attemptId\":\"2\"}");
  ASSERT_TRUE(good.ok() && good->has_value());
  EXPECT_EQ((*good)->attempt, 2);
  EXPECT_EQ((*good)->dirs.dirs[0].path, "/data/app/merge_manager_2");
  EXPECT_EQ((*good)->dirs.dirs[0].below_root, "app/merge_manager_2");
  const auto as_spark_writes = read("sort:{\"mergeDir\":\"merge_manager_2\",\"attemptId\":\"2\"}}}");
  ASSERT_TRUE(as_spark_writes.ok() && *as_spark_writes) << "two braces too many";
  EXPECT_EQ((*as_spark_writes)->attempt, 2);
  for (const char* none : {"sort", "sort:", "sort:{", "sort:[]", "sort:{\"mergeDir\":{}}"}) {
    const auto nothing = read(none);
    EXPECT_TRUE(nothing.ok() && !nothing->has_value()) << none;
  }
  EXPECT_THAT(read("sort:{}").error().message,
              StartsWith("java.lang.IllegalArgumentException: Failed to get the merge"));
  EXPECT_THAT(read("sort:{\"mergeDir\":\"m\",\"attemptId\":\"x\"}").error().message,
              HasSubstr("NumberFormatException"));
  for (const char* name : {"../other/merge_manager", "..", ".", "", "a/b"}) {
    const auto refused = read(std::string("sort:{\"mergeDir\":\"") + name + "\"}");
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_THAT(refused.error().message, HasSubstr("Invalid merge directory name"));
  }
  EXPECT_FALSE(read("sort:{\"mergeDir\":\"m\"}", {"relative"}).ok());
}

TEST_F(MergingService, AnApplicationWhoseIdLeadsElsewhereDoesNotMerge) {
  Start();
  for (const char* id : {"../app", "a/b", "/app", "..", ""}) {
    const auto client = Connect();
    messages::RegisterExecutor registration = MergeRegistration();
    registration.app_id = id;
    EXPECT_THAT(Ask(*client, registration), ElementsAre(HasSubstr("is part of file names"))) << id;
  }
}

}  // namespace
}  // namespace fairlead::process::shuffle
