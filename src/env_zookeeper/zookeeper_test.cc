// Election and store against a real server.

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/stored.h"
#include "env_posix/posix_loop.h"
#include "env_zookeeper/elector.h"
#include "env_zookeeper/layout.h"
#include "env_zookeeper/row_copy.h"
#include "env_zookeeper/session.h"
#include "env_zookeeper/snapshot.h"
#include "env_zookeeper/store.h"
#include "env_zookeeper/test_server.h"

/// The address sanitizer's hook. libzookeeper 3.8 forgets its notes of transactions that are under way when a session
/// is closed, and with them ours (free_completions: they are queued for a thread that ends).
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the sanitizer looks for this name
extern "C" const char* __lsan_default_suppressions() { return "leak:libzookeeper_mt\n"; }

namespace fairlead::env_zookeeper {
namespace {

using base::Duration;
using env::CommitFailure;
using env::Row;

constexpr Duration kSession = Duration::Millis(2000);  // as long as the test's server gives

/// One of several processes, as far as ZooKeeper sees; all share a loop.
struct Member {
  Member(env::Loop& loop, ElectorOptions options, bool may_warn = false)
      : elector(MakeElector(loop, std::move(options))) {
    env::Elector::Listener listener;
    listener.elected = [this](std::unique_ptr<env::Store> given) {
      store = std::move(given);
      ++elections;
    };
    listener.deposed = [this](const std::string& why) {
      store.reset();
      deposed = why;
    };
    listener.confirmed = [this] { ++confirmations; };
    listener.refused = [this](const base::Error& error) { refused = error.message; };
    listener.notice = [this](const std::string& what) {
      if (what.starts_with("elected over ")) elected_over = what;
    };
    listener.warning = [this, may_warn](const std::string& what) {
      warned = what;
      EXPECT_TRUE(may_warn) << what;
    };
    elector->Start(std::move(listener));
  }
  std::unique_ptr<env::Store> store;  // before the elector, which ends first
  int elections = 0;
  int confirmations = 0;
  std::string deposed;
  std::string refused;
  std::string warned;
  std::string elected_over;
  std::unique_ptr<env::Elector> elector;
};

class ZooKeeperTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = TestServer::Start(); }
  static void TearDownTestSuite() { server_.reset(); }

  ElectorOptions Options(const std::string& id, const std::string& cluster) {
    return {server_->address(),     kSession, "digest",     "fairlead:secret",
            "/fairlead/" + cluster, id,       "test " + id, {"", "the.place", "the.id"}};
  }
  std::unique_ptr<Member> Join(const std::string& id, const std::string& cluster) {
    return std::make_unique<Member>(*loop_, Options(id, cluster));
  }

  /// Runs the loop until it is so.
  void Await(const std::function<bool()>& condition, const std::string& what) {
    const base::Instant give_up = loop_->Now() + Duration::Seconds(30);
    while (!condition()) {
      ASSERT_LT(loop_->Now(), give_up) << "waited for " << what;
      loop_->After(Duration::Millis(5), [this] { loop_->Stop(); });
      loop_->Run();
    }
  }
  void AwaitLead(const Member& member) {
    Await([&] { return member.store && member.elector->MayAct(); }, "the lead");
  }

  env::CommitStatus Commit(env::Store& store, std::vector<Row> rows) {
    std::optional<env::CommitStatus> status;
    store.Commit(std::move(rows), [&](env::CommitStatus given) { status = std::move(given); });
    Await([&] { return status.has_value(); }, "a commit");
    return *status;
  }

  std::shared_ptr<Session> Connect() {
    connected_ = 0;
    auto session =
        std::make_shared<Session>(*loop_, Session::Options{server_->address(), kSession, "digest", "fairlead:secret"},
                                  [this](Session::Event event, const std::string&) {
                                    connected_ += event == Session::Event::kConnected ? 1 : 0;
                                  });
    Await([&] { return connected_ > 0; }, "a session");
    return session;
  }
  void Update(RowCopy& copy) {
    std::optional<Rc> rc;
    copy.Update([&](Rc given, const std::string&) { rc = given; });
    Await([&] { return rc.has_value(); }, "an update");
    EXPECT_EQ(*rc, Rc::kOk);
  }
  void Do(Session& session, std::vector<Op> ops) {
    std::optional<Rc> rc;
    session.Multi(std::move(ops), [&](const Session::MultiAnswer& answer) { rc = answer.rc; });
    Await([&] { return rc.has_value(); }, "a transaction");
    EXPECT_EQ(*rc, Rc::kOk);
  }

  static std::unique_ptr<TestServer> server_;
  std::unique_ptr<env_posix::PosixLoop> loop_ = env_posix::MakePosixLoop();
  int connected_ = 0;  // times that the session of Connect() was
};
std::unique_ptr<TestServer> ZooKeeperTest::server_;

std::string Describe(const env::CommitStatus& status) { return status.ok() ? "ok" : status.error().message; }

TEST_F(ZooKeeperTest, TheNextLeaderHasWhatWasCommitted) {
  const std::string longer_than_a_node(3 * kNodeBytesMax + 5, 'x');
  auto first = Join("a", "rows");
  AwaitLead(*first);
  EXPECT_EQ(first->elector->Leader(), "a");
  EXPECT_TRUE(first->store->Load("t")->empty());
  auto second = Join("b", "rows");
  Await([&] { return second->elector->Leader() == "a"; }, "b to know of a");
  const env::CommitStatus status =
      Commit(*first->store, {{"t", "1", "one"}, {"t", "2", "two"}, {"t", "long", longer_than_a_node}, {"u", "", "u"}});
  EXPECT_TRUE(status.ok()) << Describe(status);
  EXPECT_TRUE(Commit(*first->store, {{"t", "1", "uno"}, {"t", "2", std::nullopt}}).ok());
  first->elector->Yield();
  AwaitLead(*second);
  EXPECT_EQ(first->deposed, "it was told to step down");
  const std::vector<Row> rows = *second->store->Load("t");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].key + "=" + *rows[0].value, "1=uno");
  EXPECT_EQ(*rows[1].value, longer_than_a_node);
  EXPECT_EQ(second->store->Load("u")->size(), 1u);
}

TEST_F(ZooKeeperTest, TheSessionIsAsLongAsTheServerGaveIt) {
  ElectorOptions options = Options("a", "long");
  options.timeout = Duration::Seconds(60);
  const Member member(*loop_, options);
  EXPECT_EQ(member.elector->SessionTime(), Duration());
  AwaitLead(member);
  EXPECT_EQ(member.elector->SessionTime(), Duration::Seconds(2)) << "twenty of its ticks at most";
}

TEST_F(ZooKeeperTest, ASnapshotHasAllRowsWhileAnotherLeads) {
  std::optional<base::Result<std::vector<env::Row>>> read;
  const auto take = [&] {
    read.reset();
    const auto snapshot =
        ReadSnapshot(*loop_, Options("nobody", "snapshot"), [&](auto rows) { read = std::move(rows); });
    Await([&] { return read.has_value(); }, "the rows");
  };
  take();
  EXPECT_EQ(read->error().code, ENOENT) << read->error().message;
  const auto leader = Join("a", "snapshot");
  AwaitLead(*leader);
  const std::string large(3 << 20, 'x');
  EXPECT_TRUE(Commit(*leader->store, {{"t", "1", "one"}, {"t", "2", large}, {"u", "1", ""}}).ok());
  EXPECT_TRUE(Commit(*leader->store, {{"t", "1", std::nullopt}}).ok());
  take();
  ASSERT_TRUE(read->ok()) << read->error().message;
  ASSERT_EQ((*read)->size(), 2U);
  EXPECT_EQ((**read)[0].value, large);
  EXPECT_EQ((**read)[1].table, "u");
  EXPECT_TRUE(Commit(*leader->store, {{"t", "3", "three"}}).ok()) << "it leads as before";
}

TEST_F(ZooKeeperTest, ManyCommitsShareTransactions) {
  auto leader = Join("a", "many");
  AwaitLead(*leader);
  int done = 0;
  for (int i = 0; i < 5000; ++i) {
    leader->store->Commit({{"t", std::to_string(i), std::string(200, 'v')}}, [&](const env::CommitStatus& status) {
      EXPECT_TRUE(status.ok()) << Describe(status);
      ++done;
    });
  }
  Await([&] { return done == 5000; }, "the commits");
  leader.reset();
  leader = Join("a", "many");
  AwaitLead(*leader);
  EXPECT_EQ(leader->store->Load("t")->size(), 5000u);
}

// Who followed and who reads all at once find the same rows.
TEST_F(ZooKeeperTest, ACopyReadsWhatIsNewAlone) {
  auto leader = Join("a", "copy");
  AwaitLead(*leader);
  const std::string in_parts(2 * kNodeBytesMax + 1, 'p');
  EXPECT_TRUE(Commit(*leader->store, {{"t", "1", "one"}, {"t", "2", "two"}, {"t", "long", in_parts}}).ok());
  const std::shared_ptr<Session> session = Connect();
  const Layout layout{"/fairlead/copy"};
  RowCopy followed(session, layout);
  Update(followed);
  EXPECT_EQ(followed.fetched(), 6u) << "three rows, and the parts of one";
  EXPECT_TRUE(Commit(*leader->store, {{"t", "2", "due"}, {"t", "long", std::nullopt}, {"u", "", "u"}}).ok());
  // What a writer has left behind that died between the parts of a row and the row.
  Do(*session, {{Op::Kind::kCreate, layout.Row(ToString(RowName{"t", "late", 99, 0})), "part"}});
  Update(followed);
  EXPECT_EQ(followed.fetched(), 2u) << "nor the part that no row claims";
  RowCopy cold(session, layout);
  Update(cold);
  base::Result<LoadedRows> warm_rows = followed.Take();
  base::Result<LoadedRows> cold_rows = cold.Take();
  ASSERT_TRUE(warm_rows.ok()) << warm_rows.error().message;
  ASSERT_TRUE(cold_rows.ok()) << cold_rows.error().message;
  EXPECT_EQ(warm_rows->values,
            (std::map<RowId, std::string>{{{"t", "1"}, "one"}, {{"t", "2"}, "due"}, {{"u", ""}, "u"}}));
  EXPECT_EQ(warm_rows->values, cold_rows->values);
  EXPECT_EQ(warm_rows->places, cold_rows->places);
  EXPECT_EQ(warm_rows->leftovers, cold_rows->leftovers);
  EXPECT_EQ(warm_rows->head.version, cold_rows->head.version);
  EXPECT_EQ(warm_rows->head.rows, 3u);
}

// Who could write there has put rows among ours: none is read, and nothing of ours is lost by them.
TEST_F(ZooKeeperTest, NodesOfStrangersAreLeftOutAndTold) {
  const std::string in_parts(2 * kNodeBytesMax + 1, 'p');
  const std::shared_ptr<Session> session = Connect();
  const Layout layout{"/fairlead/strangers"};
  const auto plant = [&](const std::string& name) { Do(*session, {{Op::Kind::kCreate, layout.Row(name), "vjunk"}}); };
  auto leader = Join("a", "strangers");
  AwaitLead(*leader);
  EXPECT_EQ(leader->store->Foreign().count, 0u);
  EXPECT_TRUE(Commit(*leader->store, {{"t", "1", "one"}, {"t", "2", "two"}, {"t", "long", in_parts}}).ok());
  EXPECT_TRUE(Commit(*leader->store, {{"t", "2", "due"}, {"u", "", "u"}}).ok());
  const std::vector<std::string> ahead = {"t,3,3", "t,3,4", "t,3,ffffffffffffffff"};
  for (const std::string& name : ahead) plant(name);
  for (const char* name : {",", "..%2f..%2fetc", "T,1", "t,1,01", "t,4,1", "t,2,1", "t,5,2", "t,long,1,3"}) plant(name);
  plant("t,late,4,0");
  plant("t,late,4,0/below");
  RowCopy copy(session, layout);
  Update(copy);
  EXPECT_EQ(copy.fetched(), 7u) << "our rows, and three parts of one";
  // The next version's name is taken: the leader steps down and looks once more.
  EXPECT_FALSE(Commit(*leader->store, {{"t", "3", "three"}}).ok());
  Await([&] { return leader->elections == 2 && leader->store; }, "the second election");
  EXPECT_EQ(leader->store->Foreign().count, 10u);
  EXPECT_EQ(leader->store->Foreign().first, ",");
  EXPECT_TRUE(Commit(*leader->store, {{"t", "3", "three"}}).ok());
  EXPECT_TRUE(Commit(*leader->store, {{"t", "3", "tre"}}).ok());
  // Those of versions to come are removed: they would pass for ours later.
  for (Rc rc = Rc::kOk; rc != Rc::kNoNode;) {
    std::optional<Rc> looked;
    session->Look(layout.Row("t,3,3"), [&](Rc given, const Node&) { looked = given; });
    Await([&] { return looked.has_value(); }, "a look");
    rc = *looked;
  }
  leader.reset();
  leader = Join("b", "strangers");
  AwaitLead(*leader);
  std::map<std::string, std::string> found;
  const auto rows = leader->store->Load("t");
  ASSERT_TRUE(rows.ok());
  for (const Row& row : *rows) found[row.key] = *row.value;
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"1", "one"}, {"2", "due"}, {"3", "tre"}, {"long", in_parts}}));
  // A row of ours that is not there any more is missed as ever.
  leader.reset();
  Do(*session, {{Op::Kind::kDelete, layout.Row("t,1,1"), ""}});
  auto refused = std::make_unique<Member>(*loop_, Options("c", "strangers"));
  Await([&] { return !refused->refused.empty(); }, "a refusal");
  EXPECT_NE(refused->refused.find("has 3 rows that agree with each other where 5 were committed"), std::string::npos)
      << refused->refused;
}

// Somebody has removed the state to start empty: names are used a second time, for something else.
TEST_F(ZooKeeperTest, ACopyOfAPlaceThatWasMadeAnewIsReadAnew) {
  const std::shared_ptr<Session> session = Connect();
  const Layout layout{"/again"};
  const auto make = [&](const std::string& value) {
    Do(*session, {{Op::Kind::kCreate, layout.root, kMark},
                  {Op::Kind::kCreate, layout.Head(), base::EncodeStored(Head{1, 1})},
                  {Op::Kind::kCreate, layout.Rows(), ""},
                  {Op::Kind::kCreate, layout.Row(ToString(RowName{"t", "1", 1, {}})), InlineValue(value)}});
  };
  make("one");
  RowCopy copy(session, layout);
  Update(copy);
  Do(*session, {{Op::Kind::kDelete, layout.Row(ToString(RowName{"t", "1", 1, {}})), ""},
                {Op::Kind::kDelete, layout.Rows(), ""},
                {Op::Kind::kDelete, layout.Head(), ""},
                {Op::Kind::kDelete, layout.root, ""}});
  make("uno");
  Update(copy);
  base::Result<LoadedRows> rows = copy.Take();
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  EXPECT_EQ((rows->values.at({"t", "1"})), "uno");
}

TEST_F(ZooKeeperTest, AStandbyThatFollowsHasNotAllToReadAtItsElection) {
  auto leader = Join("a", "warm");
  AwaitLead(*leader);
  auto standby = Join("b", "warm");
  Await([&] { return standby->elector->Leader() == "a"; }, "b to know of a");
  size_t rows = 0;
  for (; rows < 100; ++rows) EXPECT_TRUE(Commit(*leader->store, {{"t", std::to_string(rows), "v"}}).ok());
  Await([&] { return standby->elector->Seen("t", std::to_string(rows - 1)).has_value(); }, "b to follow");
  leader->elector->Yield();
  AwaitLead(*standby);
  EXPECT_EQ(standby->store->Load("t")->size(), rows);
  const std::string all = std::to_string(rows);
  EXPECT_TRUE(standby->elected_over.starts_with("elected over " + all + " rows; ")) << standby->elected_over;
  EXPECT_FALSE(standby->elected_over.ends_with("; " + all + " nodes were read since")) << standby->elected_over;
  // It goes on following after a leadership of its own.
  EXPECT_TRUE(Commit(*standby->store, {{"t", "0", "changed"}}).ok());
  Await([&] { return leader->elector->Leader() == "b"; }, "a to know of b");
  standby->elector->Yield();
  AwaitLead(*leader);
  EXPECT_EQ(*leader->store->Load("t")->at(0).value, "changed");
}

TEST_F(ZooKeeperTest, ASessionMayEndWithTransactionsUnderWay) {
  std::shared_ptr<Session> session = Connect();
  int answered = 0;
  for (int n = 0; n < 50; ++n)
    session->Multi({{Op::Kind::kCreate, "/under-way-" + std::to_string(n), ""}, {Op::Kind::kCheck, "/nothing", "", 0}},
                   [&](const Session::MultiAnswer&) { ++answered; });
  session.reset();
  Connect();  // has been to the server and back
  EXPECT_EQ(answered, 0);
}

// The elector of a deposed leader may not have heard of it yet: its store is refused all the same.
TEST_F(ZooKeeperTest, ADeposedLeaderWritesNothing) {
  auto leader = Join("a", "fence");
  AwaitLead(*leader);
  EXPECT_TRUE(Commit(*leader->store, {{"t", "1", "one"}}).ok());
  bool connected = false;
  Session other(*loop_, {server_->address(), kSession, "digest", "fairlead:secret"},
                [&](Session::Event event, const std::string&) { connected |= event == Session::Event::kConnected; });
  Await([&] { return connected; }, "a session");
  std::optional<env::CommitStatus> status;
  const Layout layout{"/fairlead/fence"};
  other.Multi({{Op::Kind::kSet, layout.Epoch(), "b"}}, [&](const Session::MultiAnswer& answer) {
    EXPECT_EQ(answer.rc, Rc::kOk);
    leader->store->Commit({{"t", "1", "uno"}, {"t", "2", "two"}},
                          [&](env::CommitStatus given) { status = std::move(given); });
  });
  Await([&] { return status.has_value(); }, "the refusal");
  ASSERT_FALSE(status->ok());
  EXPECT_EQ(status->error().kind, CommitFailure::kFenced) << Describe(*status);
  // The node is still its own, so it leads again, over what was committed.
  Await([&] { return leader->elections == 2; }, "the second election");
  const std::vector<Row> rows = *leader->store->Load("t");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(*rows[0].value, "one");
}

TEST_F(ZooKeeperTest, TheRightToActEndsBeforeTheSession) {
  auto leader = Join("a", "lease");
  AwaitLead(*leader);
  server_->Stop();
  Await([&] { return !leader->elector->MayAct(); }, "the end of its right");
  server_->Continue();
  // Answers are back within the session: the same leadership goes on.
  Await([&] { return leader->elector->MayAct(); }, "its right again");
  EXPECT_EQ(leader->confirmations + leader->elections, 2) << leader->deposed;
  server_->Stop();
  Await([&] { return !leader->store; }, "it to step down");
  server_->Continue();
  AwaitLead(*leader);
  EXPECT_TRUE(Commit(*leader->store, {{"t", "1", "one"}}).ok());
}

TEST_F(ZooKeeperTest, CommitsOutliveARestartOfTheServer) {
  auto leader = Join("a", "restart");
  AwaitLead(*leader);
  int answered = 0;
  int committed = 0;
  for (int i = 0; i < 200; ++i) {
    leader->store->Commit({{"t", std::to_string(i), "v"}}, [&](const env::CommitStatus& status) {
      ++answered;
      committed += status.ok() ? 1 : 0;
    });
  }
  server_->Restart();
  Await([&] { return answered == 200 || (!leader->deposed.empty() && leader->store); }, "an end");
  AwaitLead(*leader);
  if (leader->elections == 2) {
    EXPECT_GE(static_cast<int>(leader->store->Load("t")->size()), committed);
  } else {
    EXPECT_EQ(committed, 200);
  }
}

// zoo_amulti of the client's library would end the process.
TEST_F(ZooKeeperTest, NodesThatLieOpenAreClosedAndTheNextLeaderIsTold) {
  ElectorOptions nobody = Options("a", "");
  nobody.root = "/made-before/lab";
  nobody.scheme = nobody.identity = "";
  ElectorOptions somebody = nobody;
  somebody.scheme = "digest";
  somebody.identity = "fairlead:secret";
  auto before = std::make_unique<Member>(*loop_, nobody);
  AwaitLead(*before);
  EXPECT_FALSE(before->store->WasOpen());
  EXPECT_TRUE(Commit(*before->store, {{"t", "1", "one"}, {"t", "2", "two"}}).ok());
  before.reset();
  somebody.id = "b";
  auto after = std::make_unique<Member>(*loop_, somebody, true);
  AwaitLead(*after);
  EXPECT_NE(after->warned.find("7 lay open to everybody who reaches it, /made-before/lab first"), std::string::npos)
      << after->warned;
  EXPECT_TRUE(after->store->WasOpen());
  EXPECT_EQ(after->store->Load("t")->size(), 2u);
  EXPECT_TRUE(Commit(*after->store, {{"t", "3", "three"}}).ok());
  EXPECT_FALSE(after->store->WasOpen());
  after.reset();
  auto later = std::make_unique<Member>(*loop_, somebody);
  AwaitLead(*later);
  EXPECT_FALSE(later->store->WasOpen());
  EXPECT_EQ(later->store->Load("t")->size(), 3u);
  // The one without an identity is refused now.
  auto refused = std::make_unique<Member>(*loop_, nobody);
  Await([&] { return !refused->refused.empty(); }, "a refusal");
  EXPECT_NE(refused->refused.find("its ACL is for another identity"), std::string::npos) << refused->refused;
}

TEST_F(ZooKeeperTest, ATransactionOfASessionThatIsOverIsRefused) {
  const std::shared_ptr<Session> session = Connect();
  const auto ask = [&](std::optional<Rc>& rc) {
    session->Multi({{Op::Kind::kCheck, "/a/path/that/is/not/there", ""},
                    {Op::Kind::kCreate, "/another/path/that/is/not/there", "value"},
                    {Op::Kind::kDelete, "/a/third/path/that/is/not/there", ""}},
                   [&rc](const Session::MultiAnswer& answer) { rc = answer.rc; });
  };
  std::optional<Rc> before;
  ask(before);
  Await([&] { return before.has_value(); }, "an answer");
  EXPECT_EQ(*before, Rc::kNoNode);
  while (!session->over()) {
    server_->Stop();
    const base::Instant ended = loop_->Now() + kSession * 3;
    Await([&] { return loop_->Now() > ended; }, "the session's time to pass");
    const int connected = connected_;
    server_->Continue();
    Await([&] { return session->over() || connected_ > connected; }, "the server's word on the session");
  }
  std::optional<Rc> after;
  ask(after);
  Await([&] { return after.has_value(); }, "an answer");
  EXPECT_EQ(*after, Rc::kExpired);
}

TEST_F(ZooKeeperTest, WhatIsNotOursIsRefused) {
  auto leader = Join("a", "refuse");
  AwaitLead(*leader);
  auto twin = Join("a", "refuse");
  ElectorOptions stranger_options = Options("b", "refuse");
  stranger_options.identity = "fairlead:wrong";
  Member stranger(*loop_, stranger_options);
  ElectorOptions foreign = Options("b", "refuse");
  foreign.root = "/fairlead/refuse/rows";  // a node that has no mark
  Member lost(*loop_, foreign);
  Await([&] { return !twin->refused.empty() && !stranger.refused.empty() && !lost.refused.empty(); }, "refusals");
  EXPECT_NE(twin->refused.find("another process takes part as a (test a)"), std::string::npos) << twin->refused;
  EXPECT_NE(stranger.refused.find("its ACL is for another identity"), std::string::npos) << stranger.refused;
  EXPECT_NE(lost.refused.find("holds something else"), std::string::npos) << lost.refused;
  // In the words of whoever set it up.
  EXPECT_TRUE(twin->refused.ends_with("give each its own the.id")) << twin->refused;
  EXPECT_TRUE(stranger.refused.ends_with("Choose another place by the.place")) << stranger.refused;
  EXPECT_TRUE(lost.refused.ends_with("choose another place by the.place")) << lost.refused;
  EXPECT_TRUE(leader->elector->MayAct());
}

TEST(ZooKeeperWithSmallNodes, RowsGoInSmallerPartsOrAreRefused) {
  const std::unique_ptr<TestServer> server = TestServer::Start({"jute.maxbuffer=200000"});
  const auto loop = env_posix::MakePosixLoop();
  Member leader(*loop, {server->address(), kSession, "", "", "/fairlead/small", "a", "test a", {}});
  const auto await = [&](const std::function<bool()>& condition) {
    while (!condition()) {
      loop->After(Duration::Millis(5), [&] { loop->Stop(); });
      loop->Run();
    }
  };
  await([&] { return leader.store && leader.elector->MayAct(); });
  std::optional<env::CommitStatus> status;
  const std::string value(600'000, 'y');
  leader.store->Commit({{"t", "long", value}}, [&](env::CommitStatus given) { status = std::move(given); });
  await([&] { return status.has_value() || !leader.deposed.empty(); });
  ASSERT_TRUE(status && status->ok()) << (status ? Describe(*status) : leader.deposed);
}

}  // namespace
}  // namespace fairlead::env_zookeeper
