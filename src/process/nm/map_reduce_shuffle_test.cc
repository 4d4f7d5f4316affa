#include "process/nm/map_reduce_shuffle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/bytes.h"
#include "endpoints/yarn/credentials.h"
#include "endpoints/yarn/tokens.h"
#include "env_posix/posix_loop.h"
#include "process/nm/layout.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::nm {
namespace {

namespace ep = endpoints::yarn;
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kMap[] = "attempt_17_0003_m_000000_0";

TEST(MapOutputQuery, TakesOnlyWhatItKnows) {
  const auto good =
      ParseMapOutputQuery("job=job_17_0003&reduce=2&map=attempt_17_0003_m_000000_0,attempt_17_0003_m_000001_1");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->app, (model::ApplicationId{17, 3}));
  EXPECT_EQ(good->reduce, 2);
  EXPECT_EQ(good->maps.size(), 2u);
  EXPECT_TRUE(ParseMapOutputQuery("job=job_17_0003&dag=1&reduce=1&map=attempt_17_0003_1_00_000000_0_10003")) << "Tez's";
  for (const std::string& bad : std::vector<std::string>{
           "", "job=job_17_0003&reduce=2", "job=job_17_0003&reduce=-1&map=attempt_17_0003_m_000000_0",
           "job=../x&reduce=1&map=attempt_17_0003_m_000000_0", "job=job_17_0003&reduce=1&map=../../etc/passwd",
           "job=job_17_0003&reduce=1&map=attempt_17_0003_m_000000_0%2F..", "job=job_17_0003&reduce=1&map=attempt_17.3",
           "job=job_17_0003&reduce=1&map=file.out", "job=job_17_0003&reduce=1&map=attempt_" + std::string(128, '1'),
           "job=job_17_0003&job=job_17_0003&reduce=1&map=attempt_17_0003_m_000000_0"})
    EXPECT_FALSE(ParseMapOutputQuery(bad)) << bad;
}

TEST(MapOutputQuery, NamesTenThousandMapsAtMost) {
  const auto of = [](int maps) {
    std::string query = "job=job_17_0003&reduce=2&map=attempt_17_0003_m_000000_0";
    for (int i = 1; i < maps; ++i) query += ",attempt_17_0003_m_" + std::to_string(i) + "_0";
    return ParseMapOutputQuery(query);
  };
  ASSERT_TRUE(of(10'000));
  EXPECT_EQ(of(10'001).error().message, "Too many map parameters");
}

TEST(ShuffleHeader, AsHadoopWritesIt) {
  EXPECT_EQ(ShuffleHeader("ab", 5, 300, 1), std::string("\x02"
                                                        "ab\x05\x8e\x01\x2c\x01",
                                                        8));
}

class Dirs : public NodeDirs {
 public:
  explicit Dirs(std::string root) : root_(std::move(root)) {}
  std::vector<std::string> all_local() const override { return {root_ + "/none", root_}; }
  std::vector<std::string> good_local() const override { return {root_}; }
  std::vector<std::string> all_logs() const override { return {}; }
  std::vector<std::string> good_logs() const override { return {}; }
  std::string PickLocal() override { return root_; }
  void Remove(std::vector<std::string>, std::function<void(std::vector<std::string>)>) override {}

 private:
  std::string root_;
};

/// Collects what a connection brings until it is closed.
class Client : public env::StreamHandler {
 public:
  explicit Client(env_posix::PosixLoop& loop) : loop_(loop) {}
  void OnData(std::string_view bytes) override { text += bytes; }
  void OnClosed(const std::string&) override { loop_.Stop(); }
  std::string text;

 private:
  env_posix::PosixLoop& loop_;
};

class MapReduceShuffleTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fl_mr_XXXXXX";
    root_ = ::mkdtemp(name);
    const std::string dir = AppDir(root_, "ann", {17, 3}) + "/output/" + kMap;
    fs::create_directories(dir);
    std::ofstream(dir + "/file.out") << "aaaabbbbbbcc";
    std::string index;
    base::ByteWriter out(index);
    for (const auto& [start, raw, part] : {std::array<int64_t, 3>{0, 40, 4}, {4, 60, 6}, {10, 20, 2}, {10, 1, 500}}) {
      out.I64(start);
      out.I64(raw);
      out.I64(part);
    }
    out.I64(0);
    std::ofstream(dir + "/file.out.index", std::ios::binary) << index;
    dirs_ = std::make_unique<Dirs>(root_);
    MapReduceShuffle::Options options;
    options.listen = {"127.0.0.1", 0};
    auto service = MapReduceShuffle::Start(*loop_, *loop_, *disk_, log_, *dirs_, options);
    ASSERT_TRUE(service);
    service_ = std::move(*service);
    std::string data;
    ep::AppendWritableToken(data, {"id", "secret", "mapreduce.job", "job_17_0003"});
    service_->InitializeApplication("ann", {17, 3}, data);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string Ask(const std::string& target, const std::string& secret = "secret") {
    const std::string hash =
        wire::hadoop_rpc::EncodeBase64(ep::TokenPassword(secret, std::to_string(service_->local().port) + target));
    return Raw("GET " + target + " HTTP/1.1\r\nname: mapreduce\r\nversion: 1.0.0\r\nUrlHash: " + hash + "\r\n\r\n");
  }
  std::string Raw(const std::string& bytes) {
    Client client(*loop_);
    std::unique_ptr<env::Stream> stream;
    loop_->Connect(service_->local(), base::Duration::Seconds(5), [&](base::Result<std::unique_ptr<env::Stream>> got) {
      ASSERT_TRUE(got);
      stream = std::move(*got);
      stream->Start(&client);
      stream->Write(bytes);
    });
    loop_->After(base::Duration::Seconds(10), [this] { loop_->Stop(); });
    loop_->Run();
    return client.text;
  }

  std::unique_ptr<env_posix::PosixLoop> loop_ = env_posix::MakePosixLoop();
  std::unique_ptr<env::Disk> disk_ = env_posix::MakePosixDisk();
  env::NullLog log_;
  std::string root_;
  std::unique_ptr<Dirs> dirs_;
  std::unique_ptr<MapReduceShuffle> service_;
};

TEST_F(MapReduceShuffleTest, ServesAPartition) {
  const std::string answer = Ask(std::string("/mapOutput?job=job_17_0003&reduce=1&map=") + kMap);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("ReplyHash: "));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + ShuffleHeader(kMap, 6, 60, 1) + "bbbbbb"));
}

TEST_F(MapReduceShuffleTest, RefusesStrangersAndNonsense) {
  const std::string good = std::string("/mapOutput?job=job_17_0003&reduce=1&map=") + kMap;
  EXPECT_THAT(Ask(good, "guess"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(Ask(std::string("/mapOutput?job=job_17_0004&reduce=1&map=") + kMap), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(Ask(std::string("/mapOutput?job=job_17_0003&reduce=9&map=") + kMap), StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(Ask(std::string("/mapOutput?job=job_17_0003&reduce=3&map=") + kMap), HasSubstr("points outside"));
  EXPECT_THAT(Ask("/mapOutput?job=job_17_0003&reduce=1&map=attempt_17_0003_m_000009_0"), HasSubstr("Could not find"));
  EXPECT_THAT(Raw("GET " + good + " HTTP/1.1\r\nname: mapreduce\r\nversion: 2.0\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(Raw("POST / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Raw(std::string(70'000, 'x')), StartsWith("HTTP/1.1 400"));
  service_->StopApplication({17, 3});
  EXPECT_THAT(Ask(good), StartsWith("HTTP/1.1 401"));
}

TEST_F(MapReduceShuffleTest, TellsItsPort) {
  const std::string meta = service_->MetaData();
  EXPECT_EQ(base::BigEndian<uint32_t>(meta), service_->local().port);
  EXPECT_EQ(meta.size(), sizeof(uint32_t));
}

}  // namespace
}  // namespace fairlead::process::nm
