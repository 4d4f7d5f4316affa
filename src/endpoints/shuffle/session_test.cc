#include "endpoints/shuffle/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/spark_shuffle/layout.h"
#include "wire/spark_shuffle/passed_block.h"

// What the recordings of the real service cannot show: answers that come late, a host that is full, rights, bounds.

namespace fairlead::endpoints::shuffle {
namespace {

namespace transport = wire::spark_transport;
namespace messages = wire::spark_shuffle;
using testing::ElementsAre;
using testing::HasSubstr;

class TestHost final : public SessionHost {
 public:
  std::string& Output() override { return out; }
  void SendFile(std::shared_ptr<BlockFile>, int64_t offset, int64_t length) override {
    out += "<" + std::to_string(offset) + "+" + std::to_string(length) + ">";
    out.append(static_cast<size_t>(length) - (2 + std::to_string(offset).size() + 1 + std::to_string(length).size()),
               '.');
  }
  bool IsLocal() const override { return local; }
  bool MayPassFile() const override { return may_pass; }
  void PassFile(std::shared_ptr<BlockFile>) override { ++passed; }
  void EncryptFromHere(transport::ChannelCipher* to) override { cipher = to; }
  void CloseAfterFlush() override { closing = true; }
  bool Full() const override { return full; }
  BlockResult OpenBlock(BlockStream&, const BlockRef& block) override {
    opened.push_back(block);
    if (later) return Later();
    BlockResult result;
    result.kind = BlockResult::Kind::kBytes;
    result.offset = block.start;
    result.length = result.available = block_length;
    return result;
  }
  static BlockResult Later() {
    BlockResult result;
    result.kind = BlockResult::Kind::kLater;
    return result;
  }
  void FindStream(int64_t stream_id) override { wanted_streams.push_back(stream_id); }
  const model::shuffle::Executor* FindExecutor(std::string_view, std::string_view executor) override {
    return executor == "1" || executor == "2" ? &executor_ : nullptr;
  }
  void RegisterExecutor(messages::RegisterExecutor request) override { registered.push_back(request.exec_id); }
  void RemoveBlocks(const model::shuffle::Executor&, std::vector<std::string> files) override { removed = files; }
  void Diagnose(const model::shuffle::Executor&, const messages::DiagnoseCorruption&) override {}
  bool Merges() const override { return merges; }
  void Push(PushPart part) override {
    parts.push_back((part.begin ? "begin " : "") + part.bytes + (part.end ? " end" : "") + (part.cut ? " cut" : ""));
  }
  const model::shuffle::Executor* FindMergeDirs(std::string_view app) override {
    return app == "app" ? &merge_dirs : nullptr;
  }
  std::optional<std::string> SecretOf(std::string_view app) override {
    return app == "nobody" ? std::nullopt : std::optional<std::string>("secret of " + std::string(app));
  }
  void RandomBytes(std::span<uint8_t> bytes) override { std::fill(bytes.begin(), bytes.end(), uint8_t{9}); }
  void BelongsTo(const std::string& app) override { belongs_to = app; }

  std::string out;
  bool full = false;
  bool later = false;
  bool closing = false;
  bool local = false;
  bool may_pass = true;
  int passed = 0;
  int64_t block_length = 40;
  transport::ChannelCipher* cipher = nullptr;
  std::vector<BlockRef> opened;
  std::vector<int64_t> wanted_streams;
  std::vector<std::string> registered;
  std::vector<std::string> removed;
  std::string belongs_to;
  bool merges = false;
  std::vector<std::string> parts;
  model::shuffle::Executor merge_dirs{{{"/r/merge_manager", 0, "merge_manager"}}, 64, "m", 2};

 private:
  model::shuffle::Executor executor_{{{"/r/a", 0, "a"}, {"/r/b", 0, "b"}}, 64, "m", 1};
};

class SessionTest : public testing::Test {
 protected:
  void Rpc(int64_t id, const messages::Message& message) {
    std::string bytes;
    transport::AppendRpcRequest(bytes, id, messages::EncodeMessage(message));
    session().OnBytes(bytes);
  }
  void Chunk(int64_t stream, int32_t index) {
    std::string bytes;
    transport::AppendChunkFetchRequest(bytes, stream, index);
    session().OnBytes(bytes);
  }
  /// Type and text of every frame answered since the last call.
  std::vector<std::string> Answers() {
    transport::FrameReader reader(1 << 20);
    std::vector<std::string> out;
    const std::string bytes = std::exchange(host_.out, {});
    reader.Feed(bytes);
    while (reader.Next() == transport::FrameReader::Outcome::kFrame) {
      const auto& frame = reader.frame();
      out.push_back(std::string(transport::EnumName(frame.type)) + " " + std::to_string(frame.id) +
                    (frame.text.empty() ? "" : " " + std::string(frame.text)));
      last_body_ = frame.body;
    }
    return out;
  }
  static messages::FetchShuffleBlocks Fetch(std::vector<int64_t> maps, std::vector<int32_t> reduces) {
    messages::FetchShuffleBlocks fetch;
    fetch.app_id = "app";
    fetch.exec_id = "1";
    fetch.map_ids = std::move(maps);
    for (size_t i = 0; i < fetch.map_ids.size(); ++i) fetch.reduce_ids.Add(reduces);
    return fetch;
  }
  Session& session() {
    if (!session_) session_ = std::make_unique<Session>(5, config_, streams_, counters_, host_);
    return *session_;
  }

  SessionConfig config_;
  StreamTable streams_{1000, 10'000};
  SessionCounters counters_;
  TestHost host_;
  std::unique_ptr<Session> session_;
  std::string last_body_;
};

std::string PushOf(int64_t request, std::string_view block) {
  std::string out;
  transport::AppendUploadStream(out, request,
                                messages::EncodeMessage(messages::PushBlockStream{"app", -1, 0, 0, 1, 2, 0}),
                                static_cast<int64_t>(block.size()));
  return out.append(block);
}

TEST_F(SessionTest, PushesAreReadOnWhileTheirAnswersAreToCome) {
  host_.merges = true;
  session().OnBytes(PushOf(1, "abc") + PushOf(2, "") + PushOf(3, "defg").substr(0, PushOf(3, "defg").size() - 2));
  EXPECT_THAT(host_.parts, ElementsAre("begin abc end", "begin  end", "begin de"));
  session().OnBytes("f");
  session().OnBytes("g");
  EXPECT_THAT(host_.parts, ElementsAre("begin abc end", "begin  end", "begin de", "f", "g end"));
  EXPECT_EQ(session().pushes(), 3u);
  session().FinishPush(3, {});
  session().FinishPush(1, {2, "shufflePush_0_0_1_2", {}, false});
  EXPECT_THAT(Answers(), ElementsAre("RpcResponse 3", "RpcResponse 1"));
  session().FinishPush(2, {0, {}, "java.lang.X: no", true});
  EXPECT_THAT(Answers(), ElementsAre("RpcFailure 2 java.lang.X: no"));
  EXPECT_TRUE(session().closed() && host_.closing);
}

TEST_F(SessionTest, APushWhoseConnectionEndsIsCut) {
  host_.merges = true;
  session().OnBytes(PushOf(1, "abc").substr(0, PushOf(1, "abc").size() - 1));
  session().Close();
  EXPECT_THAT(host_.parts, ElementsAre("begin ab", " cut"));
}

TEST_F(SessionTest, MergedDirectoriesAreAmongTheLocalOnes) {
  host_.merges = true;
  Rpc(1, messages::GetLocalDirsForExecutors{"app", {"1", "shuffle-push-merger"}});
  EXPECT_THAT(Answers(), ElementsAre("RpcResponse 1"));
  const auto reply = messages::DecodeMessage(last_body_);
  ASSERT_TRUE(reply.ok());
  EXPECT_THAT(std::get<messages::LocalDirsForExecutors>(*reply).all_dirs,
              testing::UnorderedElementsAre("/r/a", "/r/b", "/r/merge_manager"));
  Rpc(2, messages::GetLocalDirsForExecutors{"other", {"shuffle-push-merger"}});
  EXPECT_THAT(Answers(), ElementsAre(HasSubstr("application other is not registered")));
}

TEST_F(SessionTest, RegistrationIsAnsweredWhenTheHostSaysSo) {
  Rpc(1, messages::RegisterExecutor{"app", "1", {"/r/a"}, 64, "m"});
  Rpc(2, messages::GetLocalDirsForExecutors{"app", {"1"}});
  EXPECT_THAT(host_.registered, ElementsAre("1"));
  EXPECT_TRUE(host_.out.empty());
  EXPECT_FALSE(session().WantsMore());
  session().FinishRpc(std::string());
  EXPECT_THAT(Answers(), ElementsAre("RpcResponse 1", "RpcResponse 2"));
  EXPECT_TRUE(session().WantsMore());
  EXPECT_EQ(host_.belongs_to, "app");
}

TEST_F(SessionTest, AFrameThatIsTooLongEndsTheConnection) {
  const std::string head("\0\0\0\0\x0c\x80\0\0\x03", 9);  // 200 MiB of an RpcRequest
  session().OnBytes(head);
  const std::string more(64 << 10, 'x');
  size_t sent = 0;
  for (; !session().closed() && sent < 30 << 20; sent += more.size()) session().OnBytes(more);
  EXPECT_TRUE(session().closed() && host_.closing);
  EXPECT_LE(sent, size_t{6} << 20);
}

TEST_F(SessionTest, ListsAndIdsHaveAnEnd) {
  messages::RegisterExecutor wide{"app", "1", {}, 64, "m"};
  wide.local_dirs.resize(1001);
  Rpc(1, wide);
  Rpc(2, messages::RegisterExecutor{"app", "1", {"/r/a"}, 64, std::string(70'000, 'm')});
  messages::OpenBlocks open{"app", "1", std::vector<std::string>(100'001, "rdd_1_1")};
  Rpc(3, open);
  Rpc(4, messages::RemoveBlocks{"app", "1", open.block_ids});
  Rpc(5, messages::OpenBlocks{std::string(1025, 'a'), "1", {"rdd_1_1"}});
  Rpc(6, messages::OpenBlocks{"app", "1", std::vector<std::string>(1000, std::string(1000, '\xff'))});
  Rpc(7, messages::GetLocalDirsForExecutors{"app", std::vector<std::string>(60'000, "1")});
  auto fetch = Fetch({7}, {2});
  for (int i = 0; i < 1001; ++i) fetch.reduce_ids.Add({});
  Rpc(8, fetch);
  // Each grows to less than an id may have, and all of them to more than their bytes.
  Rpc(9, messages::GetLocalDirsForExecutors{"app", std::vector<std::string>(300, std::string(341, '\xff'))});
  const std::string refused = " java.lang.IllegalArgumentException: ";
  EXPECT_THAT(Answers(),
              ElementsAre("RpcFailure 1" + refused + "1001 entries of a list; this service takes 1000",
                          HasSubstr("bytes in such a request; this service takes 65536"),
                          "RpcFailure 3" + refused + "100001 entries of a list; this service takes 100000",
                          "RpcFailure 4" + refused + "100001 entries of a list; this service takes 100000",
                          "RpcFailure 5" + refused + "1025 bytes in an id; this service takes 1024",
                          HasSubstr("3000 bytes in an id"), HasSubstr("such a request; this service takes 262144"),
                          "RpcFailure 8" + refused + "1002 entries of a list; this service takes 1001",
                          HasSubstr("bytes of ids; this service takes")));
  EXPECT_TRUE(host_.registered.empty() && host_.removed.empty());
}

TEST_F(SessionTest, AnApplicationsIdIsBounded) {
  host_.merges = true;
  std::string bytes;
  transport::AppendMergedBlockMetaRequest(bytes, 4, std::string(1025, 'a'), 0, 0, 0);
  session().OnBytes(bytes);
  EXPECT_THAT(Answers(), ElementsAre(HasSubstr("an appId of 1025 bytes")));
}

TEST_F(SessionTest, LocalDirectoriesOfTooManyAreNotTold) {
  host_.merge_dirs.dirs.assign(200'000, {"/r/merge_manager", 0, "merge_manager"});
  host_.merges = true;
  Rpc(1, messages::GetLocalDirsForExecutors{"app", {"shuffle-push-merger"}});
  EXPECT_THAT(Answers(), ElementsAre(HasSubstr("local directories of too many executors")));
}

TEST_F(SessionTest, OfAHundredThousandBlocksEachIsEightBytes) {
  StreamTable streams(1, 10 << 20);
  Session session(6, config_, streams, counters_, host_);
  messages::OpenBlocks open{"app", "1", {}};
  for (int i = 0; i < 100'000; ++i) open.block_ids.push_back("shuffle_0_" + std::to_string(i) + "_-5");
  std::string bytes;
  transport::AppendRpcRequest(bytes, 1, messages::EncodeMessage(open));
  for (size_t at = 0; at < bytes.size(); at += 65'536) session.OnBytes(std::string_view(bytes).substr(at, 65'536));
  EXPECT_THAT(Answers(), ElementsAre("RpcResponse 1"));
  EXPECT_LT(streams.memory_bytes(), size_t{100'000} * 8 + 1000);
  transport::AppendChunkFetchRequest(bytes = {}, 1, 0);
  transport::AppendChunkFetchRequest(bytes, 1, 1);
  session.OnBytes(bytes);
  EXPECT_EQ(host_.opened.back().map_id, 1);
  EXPECT_EQ(host_.opened.back().start, -5);
  EXPECT_EQ(host_.opened.back().end, -4);
}

TEST_F(SessionTest, BlocksComeInOrderOfMapsAndReduces) {
  Rpc(1, Fetch({7, 9}, {2, 3}));
  Answers();
  for (int i = 0; i < 4; ++i) Chunk(1000, i);
  EXPECT_EQ(Answers().size(), 4u);
  ASSERT_EQ(host_.opened.size(), 4u);
  EXPECT_EQ(host_.opened[1].map_id, 7);
  EXPECT_EQ(host_.opened[1].start, 3);
  EXPECT_EQ(host_.opened[2].map_id, 9);
  EXPECT_EQ(streams_.size(), 0u) << "read to its end";
}

TEST_F(SessionTest, RequestsWaitWhileTheHostIsFull) {
  Rpc(1, Fetch({7}, {0, 1, 2}));
  Answers();
  host_.full = true;
  Chunk(1000, 0);
  EXPECT_TRUE(host_.opened.empty());
  EXPECT_FALSE(session().WantsMore());
  host_.full = false;
  session().Resume();
  EXPECT_TRUE(session().WantsMore());
  EXPECT_EQ(host_.opened.size(), 1u);
}

TEST_F(SessionTest, ALateBlockKeepsTheOrder) {
  Rpc(1, Fetch({7}, {0, 1}));
  Answers();
  host_.later = true;
  std::string both;
  transport::AppendChunkFetchRequest(both, 1000, 0);
  transport::AppendChunkFetchRequest(both, 1000, 1);
  session().OnBytes(both);
  EXPECT_EQ(host_.opened.size(), 1u);
  host_.later = false;
  BlockResult result;
  result.error = "java.io.IOException: gone";
  session().FinishBlock(std::move(result));
  EXPECT_THAT(Answers(), ElementsAre("ChunkFetchFailure 1000 java.io.IOException: gone", "ChunkFetchSuccess 1000"));
  // Spark's iterator does not move on when a block cannot be opened.
  EXPECT_EQ(host_.opened[1].start, 0);
}

TEST_F(SessionTest, AStreamOfAnotherThreadIsRefusedAsOneOfAnotherConnection) {
  std::string both;
  transport::AppendChunkFetchRequest(both, 77, 0);
  transport::AppendChunkFetchRequest(both, 78, 0);
  session().OnBytes(both);
  EXPECT_THAT(host_.wanted_streams, ElementsAre(77)) << "one after another";
  session().FinishStream("app");
  session().FinishStream(std::nullopt);
  EXPECT_THAT(host_.wanted_streams, ElementsAre(77, 78));
  EXPECT_THAT(Answers(), ElementsAre("ChunkFetchFailure 77 java.lang.SecurityException: Channel not authorized to read "
                                     "stream 77: streams may only be read from the connection that registered them.",
                                     "ChunkFetchFailure 78 java.lang.IllegalArgumentException: Unknown stream ID."));
}

TEST_F(SessionTest, CloseDropsItsStreams) {
  Rpc(1, Fetch({7}, {0, 1}));
  EXPECT_EQ(streams_.size(), 1u);
  session_.reset();
  EXPECT_EQ(streams_.size(), 0u);
}

TEST_F(SessionTest, OpenStreamsAreBounded) {
  std::vector<int32_t> many(1000);
  for (int i = 0; i < 10; ++i) Rpc(i, Fetch({1}, many));
  const auto answers = Answers();
  EXPECT_THAT(answers.back(), HasSubstr("too many open streams"));
  EXPECT_LE(streams_.memory_bytes(), 10'000u);
  EXPECT_GT(streams_.size(), 0u);
}

TEST_F(SessionTest, ListsOfDifferentLengthsFailAsInJava) {
  auto fetch = Fetch({7}, {0});
  fetch.map_ids.push_back(8);
  Rpc(1, fetch);
  Answers();
  Chunk(1000, 0);
  EXPECT_THAT(Answers()[0], HasSubstr("java.lang.ArrayIndexOutOfBoundsException: Index 1 out of bounds for length 1"));
}

TEST_F(SessionTest, LocalDirsComeInJavasHashOrder) {
  Rpc(1, messages::GetLocalDirsForExecutors{"app", {"2", "1"}});
  Answers();
  const auto decoded = messages::DecodeMessage(last_body_);
  ASSERT_TRUE(decoded.ok());
  const auto& dirs = std::get<messages::LocalDirsForExecutors>(*decoded);
  EXPECT_THAT(dirs.exec_ids, ElementsAre("1", "2"));
  EXPECT_THAT(dirs.num_dirs_by_exec, ElementsAre(2, 2));
  // As java.util.HashMap of JDK 17 prints its keySet().
  EXPECT_THAT(JavaHashOrder({"driver", "10", "1", "2", "shuffle"}, 16),
              ElementsAre("1", "2", "driver", "shuffle", "10"));
}

TEST_F(SessionTest, AnExecutorAskedForTwice) {
  config_.answer_as = AnswerAs::kSpark35;
  Rpc(1, messages::GetLocalDirsForExecutors{"app", {"2", "1", "2"}});
  EXPECT_THAT(Answers(), ElementsAre("RpcResponse 1"));
  config_.answer_as = AnswerAs::kSpark43;
  Rpc(2, messages::GetLocalDirsForExecutors{"app", {"2", "1", "2"}});
  EXPECT_THAT(Answers(), ElementsAre("RpcFailure 2 java.lang.IllegalArgumentException: duplicate element: 2"));
}

TEST_F(SessionTest, TheFirstUnknownExecutorIsThatOfTheReleasesHashSet) {
  config_.answer_as = AnswerAs::kSpark35;
  Rpc(1, messages::GetLocalDirsForExecutors{"app", {"5", "3", "9"}});
  EXPECT_THAT(Answers()[0], HasSubstr("execId=5)"));
  Rpc(2, messages::GetLocalDirsForExecutors{"app", {"5", "3", "9", "7"}});
  EXPECT_THAT(Answers()[0], HasSubstr("execId=9)"));
  config_.answer_as = AnswerAs::kSpark43;
  Rpc(3, messages::GetLocalDirsForExecutors{"app", {"5", "9", "3"}});
  EXPECT_THAT(Answers()[0], HasSubstr("execId=3)"));
}

TEST_F(SessionTest, AOneWayMessageIsDoneAndNotAnswered) {
  const auto send = [&](const messages::Message& message) {
    std::string bytes;
    transport::AppendOneWayMessage(bytes, messages::EncodeMessage(message));
    session().OnBytes(bytes);
  };
  send(messages::RegisterExecutor{"app", "1", {"/r/a"}, 64, "m"});
  EXPECT_THAT(host_.registered, ElementsAre("1"));
  session().FinishRpc(std::string());
  send(messages::RemoveBlocks{"app", "1", {"rdd_1_1"}});
  EXPECT_THAT(host_.removed, ElementsAre("rdd_1_1"));
  session().FinishRpc(base::Error{"no"});
  send(messages::RemoveBlocks{"app", "nobody", {"rdd_1_1"}});
  send(messages::RemoveShuffleMerge{"app", 1, 2, 3});
  send(Fetch({7}, {2}));
  session().OnBytes(std::string("\0\0\0\0\0\0\0\x0e\x09\0\0\0\0\x63", 14));
  EXPECT_TRUE(host_.out.empty());
  Rpc(5, messages::GetLocalDirsForExecutors{"app", {"1"}});
  EXPECT_THAT(Answers(), ElementsAre("RpcResponse 5"));
}

TEST_F(SessionTest, AOneWayMessageBeforeTheHandshakeIsIgnored) {
  config_.security.authenticate = true;
  std::string bytes;
  transport::AppendOneWayMessage(bytes,
                                 messages::EncodeMessage(messages::RegisterExecutor{"app", "1", {"/r/a"}, 64, "m"}));
  session().OnBytes(bytes);
  EXPECT_TRUE(host_.registered.empty());
  EXPECT_FALSE(host_.closing);
}

TEST_F(SessionTest, AnUploadBeyondTheHeapOf35EndsItsConnectionWithoutAWord) {
  config_.answer_as = AnswerAs::kSpark35;
  std::string bytes;
  transport::AppendUploadStream(bytes, 3, "\x02\x7f\xff\xff\xffmeta", 0);
  session().OnBytes(bytes);
  EXPECT_TRUE(host_.closing);
  EXPECT_TRUE(host_.out.empty());
}

TEST_F(SessionTest, AuthenticatedAppsSeeOnlyTheirOwn) {
  config_.security.authenticate = true;
  const auto sasl = [&](int64_t id, const std::string& app, const std::string& token) {
    std::string bytes;
    transport::AppendRpcRequest(bytes, id, transport::EncodeSaslMessage({app, token}));
    session().OnBytes(bytes);
    Answers();
    return last_body_;
  };
  transport::SaslClient client("Y25vbmNl", "secret of app", false);
  const std::string challenge = sasl(1, "app", "");
  EXPECT_TRUE(client.Finish(sasl(2, "app", *client.Respond(challenge))).ok());
  ASSERT_TRUE(session().authenticated());
  const messages::Message requests[] = {
      messages::RegisterExecutor{"other", "1", {"/r/a"}, 64, "m"},
      messages::OpenBlocks{"other", "1", {"rdd_1_1"}},
      messages::FetchShuffleBlocks{"other", "1", 0, {1}, {}, false},
      messages::GetLocalDirsForExecutors{"other", {"1"}},
      messages::RemoveBlocks{"other", "1", {"x"}},
      messages::DiagnoseCorruption{"other", "1", 0, 1, 0, 0, "CRC32"},
      messages::FinalizeShuffleMerge{"other", 1, 2, 3},
      messages::RemoveShuffleMerge{"other", 1, 2, 3},
      messages::FetchShuffleBlockChunks{"other", "1", 0, 0, {}, {}},
  };
  for (const auto& request : requests) {
    Rpc(3, request);
    EXPECT_THAT(Answers(), ElementsAre("RpcFailure 3 java.lang.SecurityException: Client for app not authorized for "
                                       "application other."))
        << request.index();
  }
  host_.merges = true;
  std::string bytes;
  transport::AppendMergedBlockMetaRequest(bytes, 4, "other", 0, 0, 0);
  session().OnBytes(bytes);
  EXPECT_THAT(Answers(), ElementsAre(HasSubstr("not authorized for application other")));
  bytes.clear();
  const messages::PushBlockStream push{"other", -1, 0, 0, 1, 2, 0};
  transport::AppendUploadStream(bytes, 5, messages::EncodeMessage(push), 3);
  session().OnBytes(bytes + "abc");
  EXPECT_THAT(Answers(), ElementsAre(HasSubstr("not authorized for application other")));
  EXPECT_TRUE(host_.parts.empty() && host_.closing);
  EXPECT_TRUE(host_.registered.empty());
  EXPECT_TRUE(host_.removed.empty());
}

TEST_F(SessionTest, NothingIsServedBeforeTheHandshake) {
  config_.security.authenticate = true;
  Rpc(1, messages::RegisterExecutor{"app", "1", {"/r/a"}, 64, "m"});
  EXPECT_THAT(Answers()[0], HasSubstr("Expected SaslMessage"));
  std::string bytes;
  transport::AppendMergedBlockMetaRequest(bytes, 2, "app", 1, 2, 3);
  session().OnBytes(bytes);
  EXPECT_THAT(Answers()[0], HasSubstr("Unauthenticated call to receiveMergeBlockMetaReq()"));
  bytes.clear();
  transport::AppendUploadStream(bytes, 3, "meta", 0);
  session().OnBytes(bytes);
  EXPECT_THAT(Answers()[0], HasSubstr("Unauthenticated call to receiveStream()"));
  EXPECT_TRUE(host_.closing);
  EXPECT_TRUE(host_.registered.empty());
}

TEST_F(SessionTest, AnAppWithoutASecretCannotAuthenticate) {
  config_.security.authenticate = true;
  config_.security.crypto = true;
  transport::AuthRandom random{};
  random.private_key.fill(3);
  const transport::AuthClient client("nobody", "", transport::AuthVersion::kV1, random);
  std::string bytes;
  transport::AppendRpcRequest(bytes, 1, client.challenge());
  session().OnBytes(bytes);
  EXPECT_THAT(Answers(), ElementsAre("RpcFailure 1 java.lang.IllegalArgumentException: Authentication failed."));
  EXPECT_TRUE(host_.closing);
}

TEST_F(SessionTest, BytesInTheClearBehindAHandshakeEndItsConnection) {
  config_.security.authenticate = config_.security.crypto = true;
  transport::AuthRandom random{};
  random.private_key.fill(3);
  const transport::AuthClient client("app", "secret of app", transport::AuthVersion::kV1, random);
  std::string register_message;
  transport::AppendRpcRequest(register_message, 2,
                              messages::EncodeMessage(messages::RegisterExecutor{"app", "1", {"/r/a"}, 64, "m"}));
  for (const size_t behind : {register_message.size(), size_t{3}}) {
    session_.reset();
    host_.closing = false;
    std::string bytes;
    transport::AppendRpcRequest(bytes, 1, client.challenge());
    session().OnBytes(bytes + register_message.substr(0, behind));
    EXPECT_THAT(host_.registered, testing::IsEmpty());
    EXPECT_TRUE(host_.closing);
    EXPECT_FALSE(session().authenticated());
  }
}

TEST_F(SessionTest, AnEmptyAppIdIsAnIdentityToo) {
  config_.security.authenticate = true;
  config_.security.crypto = true;
  transport::AuthRandom random{};
  random.private_key.fill(3);
  const transport::AuthClient client("", "secret of ", transport::AuthVersion::kV2, random);
  config_.security.version = transport::AuthVersion::kV2;
  std::string bytes;
  transport::AppendRpcRequest(bytes, 1, client.challenge());
  session().OnBytes(bytes);
  Answers();
  const auto keys = client.Finish(last_body_);
  ASSERT_TRUE(keys.ok());
  const auto cipher = transport::MakeClientCipher(*keys, transport::AuthCipher::kCtr, nullptr);
  bytes.clear();
  transport::AppendRpcRequest(bytes, 2, messages::EncodeMessage(messages::OpenBlocks{"app", "1", {"rdd_1_1"}}));
  std::string sealed;
  cipher->Encrypt(bytes, sealed);
  session().OnBytes(sealed);
  EXPECT_THAT(Answers()[0], HasSubstr("Client for  not authorized for application app."));
}

TEST_F(SessionTest, ALocalReaderGetsLongBlocksAsOpenFilesAndShortOnesAsBytes) {
  host_.local = true;
  Rpc(1, Fetch({7}, {3, 4, 5}));
  Answers();
  Chunk(1000, 0);
  EXPECT_THAT(Answers(), ElementsAre("ChunkFetchSuccess 1000"));
  EXPECT_EQ(last_body_.size(), 41u);
  EXPECT_EQ(last_body_[0], messages::kPassedAsBytes);
  EXPECT_EQ(host_.passed, 0);
  host_.block_length = messages::kPassedFileMin;
  Chunk(1000, 1);
  EXPECT_THAT(Answers(), ElementsAre("ChunkFetchSuccess 1000"));
  EXPECT_EQ(last_body_, messages::EncodePassedFile(4, messages::kPassedFileMin));
  EXPECT_EQ(host_.passed, 1);
  host_.may_pass = false;  // too many are on their way
  Chunk(1000, 2);
  Answers();
  EXPECT_EQ(last_body_.size(), 1u + messages::kPassedFileMin);
  EXPECT_EQ(host_.passed, 1);
  EXPECT_EQ(counters_.files_passed, 1u);
  EXPECT_EQ(counters_.blocks, 3u);
}

TEST_F(SessionTest, ALocalReaderGetsNoFileOfAnotherApplication) {
  host_.local = true;
  host_.block_length = messages::kPassedFileMin;
  SessionConfig open;  // without authentication somebody else opens a stream
  SessionCounters counters;
  Session other(6, open, streams_, counters, host_);
  std::string bytes;
  transport::AppendRpcRequest(bytes, 1, messages::EncodeMessage(Fetch({7}, {3})));
  other.OnBytes(bytes);
  Answers();
  Chunk(1000, 0);
  EXPECT_THAT(Answers(), ElementsAre(HasSubstr("Channel not authorized to read stream 1000")));
  config_.security.authenticate = true;
  session_.reset();
  Chunk(1000, 0);
  EXPECT_THAT(Answers(), ElementsAre(HasSubstr("ChunkFetchFailure")));
  EXPECT_EQ(host_.passed, 0);
}

TEST_F(SessionTest, AShortFileEndsTheConnectionAfterWhatItHas) {
  Rpc(1, Fetch({7}, {0, 1}));
  Answers();
  host_.later = true;
  Chunk(1000, 0);
  BlockResult result;
  result.kind = BlockResult::Kind::kBytes;
  result.length = 100;
  result.available = 30;
  session().FinishBlock(std::move(result));
  EXPECT_EQ(host_.out.size(), transport::kChunkFetchSuccessHeaderBytes + 30);
  EXPECT_TRUE(host_.closing);
  EXPECT_TRUE(session().closed());
}

TEST_F(SessionTest, ABlockTooLongForAChunkIsRefusedWithAdvice) {
  Rpc(1, Fetch({7}, {0, 1}));
  Answers();
  host_.later = true;
  Chunk(1000, 0);
  BlockResult result;
  result.kind = BlockResult::Kind::kBytes;
  result.length = result.available = int64_t{1} << 31;
  session().FinishBlock(std::move(result));
  EXPECT_THAT(Answers()[0], HasSubstr("maxRemoteBlockSizeFetchToMem"));
  EXPECT_FALSE(host_.closing);
}

TEST(JavaNumbers, ParseAsJavaDoes) {
  EXPECT_EQ(*JavaParseInt("+7"), 7);
  EXPECT_EQ(*JavaParseInt("-7"), -7);
  EXPECT_EQ(*JavaParseLong("9223372036854775807"), INT64_MAX);
  for (const char* bad : {"", "+", "-", "+-7", "2147483648", "7x", " 7"}) {
    ASSERT_FALSE(JavaParseInt(bad).ok()) << bad;
    EXPECT_EQ(JavaParseInt(bad).error().message,
              "java.lang.NumberFormatException: For input string: \"" + std::string(bad) + "\"");
  }
  EXPECT_EQ(JavaSplit("a_b__").size(), 2u);
  EXPECT_EQ(JavaSplit("").size(), 1u);
  EXPECT_EQ(JavaSplit("__").size(), 0u);
  EXPECT_EQ(JavaSplit("_a").size(), 2u);
}

}  // namespace
}  // namespace fairlead::endpoints::shuffle
