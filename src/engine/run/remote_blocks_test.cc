#include "engine/run/remote_blocks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "base/bytes.h"
#include "base/sanitized.h"
#include "engine/io/file_pieces.h"
#include "engine/records/checksum.h"
#include "engine/records/errors.h"
#include "engine/records/frame.h"
#include "engine/run/reading_task_for_test.h"
#include "env_posix/loop_thread.h"
#include "env_posix/posix_loop.h"
#include "process/shuffle/io_worker.h"
#include "process/shuffle/service.h"
#include "wire/spark_shuffle/layout.h"
#include "wire/spark_shuffle/passed_block.h"

// How an executor reads what others of its host wrote: over the service's local socket, long blocks as open files.

namespace fairlead::engine {
namespace {

namespace layout = wire::spark_shuffle;
namespace fs = std::filesystem;
using base::Duration;
using process::executor::ShuffleClient;

constexpr int64_t kLong = wire::spark_shuffle::kPassedFileMin;
constexpr int64_t kShort = 100;

class RemoteBlocksTest : public testing::Test {
 protected:
  RemoteBlocksTest() : root_(testing::TempDir() + "remote_blocks_test_" + std::to_string(::getpid())) {
    fs::remove_all(root_);
    std::string data(static_cast<size_t>(kLong + kShort), '\0');
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31 + (i >> 9));
    long_ = data.substr(0, kLong);
    short_ = data.substr(kLong);
    std::string index;
    base::ByteWriter writer(index);
    for (const int64_t offset : {int64_t{0}, kLong, kLong, kLong + kShort}) writer.I64(offset);
    Put(layout::ShuffleDataName(0, 7), data);
    Put(layout::ShuffleIndexName(0, 7), index);
    StartService();
    StartClient(::geteuid());
  }
  ~RemoteBlocksTest() override {
    reading_.Run([&] { client_.reset(); });
    StopService();
    fs::remove_all(root_);
  }

  std::string Path(const std::string& name) const { return layout::BlockPath({root_}, name); }
  void Put(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << bytes;
  }

  void StartService() {
    serving_.Run([&] {
      config_.core.local_roots = {root_};
      service_ = std::make_unique<process::shuffle::Service>(*serving_.loop, *disk_, nullptr, log_, config_);
      ASSERT_TRUE(service_->Recover().ok());
      worker_ = std::make_unique<process::shuffle::IoWorker>(*serving_.loop, *serving_.loop, *disk_, nullptr, log_,
                                                             config_, *service_);
      service_->AddWorker(*worker_);
      ASSERT_TRUE(worker_->Listen({host_, address_.port}).ok());
      address_ = worker_->local();
      const base::Status local =
          worker_->ListenLocal(*serving_.loop, wire::spark_shuffle::LocalServiceName(address_.host, address_.port));
      ASSERT_TRUE(local.ok()) << local.error().message;
    });
  }
  void StopService() {
    serving_.Run([&] {
      worker_.reset();
      service_.reset();
    });
  }
  uint64_t FilesPassed() {
    uint64_t passed = 0;
    serving_.Run([&] { passed = worker_->Metrics().sessions.files_passed; });
    return passed;
  }

  void StartClient(uint32_t user) {
    reading_.Run([&] {
      client_ = std::make_unique<ShuffleClient>(*reading_.loop, *reading_.loop, "app", ShuffleClient::Limits());
      client_->Authenticate(security_);
      client_->UseLocalSockets(*reading_.loop, user);
    });
    Register();
  }
  /// Tries again while the connection is one of a service that has gone.
  void Register() {
    const base::Status status = TryToRegister();
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  base::Status TryToRegister() {
    base::Status status = base::Error{"not tried"};
    for (int tries = 0; !status.ok() && tries < 100; ++tries) {
      std::promise<base::Status> done;
      reading_.Run([&] {
        client_->Register(address_, "1", {root_}, [&](const base::Status& answer) { done.set_value(answer); });
      });
      status = done.get_future().get();
      if (!status.ok() && status.error().code == static_cast<int>(process::executor::FetchError::kRefused)) break;
    }
    return status;
  }

  /// The blocks of map output 7 in the order of `reduces`, as a task gets them; throws as Next() does.
  std::vector<std::string> Read(const std::vector<int32_t>& reduces) {
    RemoteBlocksOptions options;
    options.first_wait = Duration::Millis(20);
    options.retries = 3;
    RemoteBlocksOverNet remote(*reading_.loop, *client_, options);
    std::vector<BlockRequest> blocks;
    for (const int32_t reduce : reduces) blocks.push_back({0, 3, 7, reduce, kLong, 0});
    wire::engine::Place place;
    place.executor_id = "1";
    place.host = address_.host;
    place.port = address_.port;
    ReadingTask task;
    const auto input = remote.Fetch(std::move(blocks), {}, {{0, place}}, task);
    std::vector<std::string> out;
    for (ShuffleBlock block; input->Next(block);) out.emplace_back(block.bytes);
    return out;
  }

  /// One block of whole frames, `bytes` about, as map output 8.
  std::string PutFrames(size_t bytes) const {
    std::string data;
    Buffer frame, scratch;
    for (int i = 0; data.size() < bytes; ++i) {
      frame.Clear();
      frame.Resize(kFrameHeader);
      frame.Append(std::string(static_cast<size_t>(20'000 + i % 7 * 1000), static_cast<char>('a' + i % 26)));
      data += SealFrame(frame, Compression::kNone, scratch);
    }
    std::string index;
    base::ByteWriter writer(index);
    writer.I64(0);
    writer.I64(static_cast<int64_t>(data.size()));
    Put(layout::ShuffleDataName(0, 8), data);
    Put(layout::ShuffleIndexName(0, 8), index);
    return data;
  }
  /// One block of `frames` frames of 1 MiB of zeros each, as map output 8; most of it is a hole in the file.
  int64_t PutFramesWithHoles(int frames) const {
    std::string frame(kFrameHeader + (1 << 20), '\0');
    SealFrame(frame.data(), frame.size() - kFrameHeader);
    const auto bytes = static_cast<int64_t>(frame.size()) * frames;
    std::string index;
    base::ByteWriter writer(index);
    writer.I64(0);
    writer.I64(bytes);
    Put(layout::ShuffleIndexName(0, 8), index);
    Put(layout::ShuffleDataName(0, 8), {});
    fs::resize_file(Path(layout::ShuffleDataName(0, 8)), static_cast<uintmax_t>(bytes));
    std::fstream data(Path(layout::ShuffleDataName(0, 8)), std::ios::binary | std::ios::in | std::ios::out);
    for (int i = 0; i < frames; ++i) {
      data.seekp(static_cast<std::streamoff>(frame.size()) * i);
      data.write(frame.data(), kFrameHeader);
    }
    return bytes;
  }
  std::unique_ptr<ShuffleInput> FetchFrames(RemoteBlocksOverNet& remote, int64_t bytes, TaskContext& task) {
    return remote.Fetch({{0, 3, 8, 0, bytes, 0}}, {}, {{0, PlaceOfService()}}, task);
  }
  wire::engine::Place PlaceOfService() const { return {0, "1", address_.host, address_.port}; }
  /// Without the local socket, as from another host.
  void UseTcp() {
    reading_.Run([&] {
      client_ = std::make_unique<ShuffleClient>(*reading_.loop, *reading_.loop, "app", ShuffleClient::Limits());
    });
    Register();
  }
  /// Blocks above 64 KiB are streamed.
  static RemoteBlocksOptions SmallWindow() {
    RemoteBlocksOptions options;
    options.in_flight_max = 64 << 10;
    options.first_wait = Duration::Millis(20);
    return options;
  }
  KeptBlock PutKept(const std::string& bytes) const {
    Put(layout::RddBlockName(5, 2), bytes);
    return {5, 2, PlaceOfService(), static_cast<int64_t>(bytes.size()), XXH3_64bits(bytes.data(), bytes.size())};
  }

  const std::string root_;
  std::string host_ = "127.0.0.1";
  std::string long_, short_;
  env::NullLog log_;
  std::unique_ptr<env::Disk> disk_ = env_posix::MakePosixDisk();
  process::shuffle::Config config_;
  env::Endpoint address_;
  wire::spark_transport::Security security_;
  env_posix::LoopThread serving_, reading_;
  std::unique_ptr<process::shuffle::Service> service_;
  std::unique_ptr<process::shuffle::IoWorker> worker_;
  std::unique_ptr<ShuffleClient> client_;
};

TEST_F(RemoteBlocksTest, LongBlocksOfThisHostComeAsOpenFiles) {
  EXPECT_EQ(Read({0, 1, 2}), (std::vector<std::string>{long_, "", short_}));
  EXPECT_EQ(FilesPassed(), 1u);
}

TEST_F(RemoteBlocksTest, EveryLoopbackAddressIsThisHost) {
  StopService();
  host_ = "127.0.0.2";  // the client's own end is 127.0.0.1
  StartService();
  StartClient(::geteuid());
  EXPECT_EQ(Read({0}), std::vector<std::string>{long_});
  EXPECT_EQ(FilesPassed(), 1u);
}

TEST_F(RemoteBlocksTest, MoreThanMayBeOnTheirWayAtOnce) {
  const std::vector<std::string> blocks = Read(std::vector<int32_t>(500, 0));
  ASSERT_EQ(blocks.size(), 500u);
  for (const std::string& block : blocks) ASSERT_EQ(block, long_);
  EXPECT_GT(FilesPassed(), 0u);
}

TEST_F(RemoteBlocksTest, ASocketOfAnotherUserIsNotBelieved) {
  const uint32_t user = ::geteuid();
  const uint32_t nobody = 65534;
  if (user == 0) {  // root's own sockets are always believed: let it listen as somebody else
    StopService();
    ASSERT_EQ(::seteuid(nobody), 0);
    StartService();
    ASSERT_EQ(::seteuid(0), 0);
  }
  StartClient(user == 0 ? 0 : user + 1);
  EXPECT_EQ(Read({0}), std::vector<std::string>{long_});
  EXPECT_EQ(FilesPassed(), 0u);
}

TEST_F(RemoteBlocksTest, AnOpenFileOutlivesItsName) {
  RemoteBlocksOverNet remote(*reading_.loop, *client_);
  std::promise<std::shared_ptr<env::File>> passed;
  std::promise<base::Status> ended;
  reading_.Run([&] {
    ShuffleClient::FetchCallbacks callbacks;
    callbacks.on_block = [](size_t, std::string_view) { ADD_FAILURE() << "came as bytes"; };
    callbacks.on_file = [&](size_t, std::shared_ptr<env::File> file, int64_t offset, int64_t length) {
      EXPECT_EQ(offset, 0);
      EXPECT_EQ(length, kLong);
      passed.set_value(std::move(file));
    };
    callbacks.on_end = [&](const base::Status& status) { ended.set_value(status); };
    client_->Fetch(address_, "1", 0, {{7, 0}}, std::move(callbacks));
  });
  const auto file = passed.get_future().get();
  ASSERT_TRUE(ended.get_future().get().ok());
  fs::remove(Path(layout::ShuffleDataName(0, 7)));
  ReadingTask task;
  ShuffleBlock block;
  FilePieces pieces(file->descriptor(), "file", 0, kLong, task);
  pieces.Next(block);
  EXPECT_EQ(block.bytes, long_);
  EXPECT_TRUE(pieces.done());
  // Cut shorter than the service said: an error, not the signal that reading a mapping beyond the end gives.
  EXPECT_THROW(FilePieces(file->descriptor(), "file", 0, kLong + kShort + 1, task), TaskError);
}

TEST_F(RemoteBlocksTest, ARemovedFileIsAFetchFailureThatNamesIt) {
  fs::remove(Path(layout::ShuffleIndexName(0, 7)));
  try {
    Read({0});
    FAIL() << "read what is not there";
  } catch (const FetchFailed& failed) {
    EXPECT_EQ(failed.map_index, 3);
    EXPECT_NE(std::string(failed.what()).find(Path(layout::ShuffleIndexName(0, 7))), std::string::npos)
        << failed.what();
  }
}

TEST_F(RemoteBlocksTest, AServiceThatComesBackIsReadWithoutTheLocalSocketAtFirst) {
  EXPECT_EQ(Read({0}), std::vector<std::string>{long_});
  EXPECT_EQ(FilesPassed(), 1u);
  StopService();
  StartService();
  Register();  // this one keeps nothing on disk
  EXPECT_EQ(Read({0}), std::vector<std::string>{long_});
  EXPECT_EQ(FilesPassed(), 0u);
  StopService();
  StartService();
  Register();
  EXPECT_EQ(Read({0}), std::vector<std::string>{long_});
  EXPECT_EQ(FilesPassed(), 1u);
}

TEST_F(RemoteBlocksTest, ABlockAboveTheBytesInFlightComesInPiecesOfWholeFrames) {
  const std::string data = PutFrames(8 << 20);
  UseTcp();
  RemoteBlocksOverNet remote(*reading_.loop, *client_, SmallWindow());
  ReadingTask task;
  const auto input = FetchFrames(remote, static_cast<int64_t>(data.size()), task);
  std::string got;
  size_t pieces = 0;
  for (ShuffleBlock block; input->Next(block); ++pieces) {
    EXPECT_EQ(block.map_index, 3);
    EXPECT_EQ(WholeFrames(block.bytes), block.bytes.size());
    got += block.bytes;
  }
  EXPECT_TRUE(got == data);
  EXPECT_GT(pieces, 8u);
  EXPECT_EQ(task.metrics.shuffle_bytes_remote, static_cast<int64_t>(data.size()));
}

/// A sanitizer keeps what was freed for a while.
constexpr bool kSanitized = base::kAddressesWatched || base::kThreadsWatched;

/// Bytes of memory that this process has.
int64_t ResidentBytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

TEST_F(RemoteBlocksTest, ABlockOfMoreThan2GiBIsReadInLittleMemory) {
  const int64_t bytes = PutFramesWithHoles(2100);
  ASSERT_GT(bytes, int64_t{2} << 30);
  UseTcp();
  RemoteBlocksOptions options;
  options.in_flight_max = 8 << 20;
  RemoteBlocksOverNet remote(*reading_.loop, *client_, options);
  ReadingTask task;
  const auto input = FetchFrames(remote, bytes, task);
  const int64_t before = ResidentBytes();
  int64_t got = 0, most = 0;
  for (ShuffleBlock block; input->Next(block);) {
    ASSERT_EQ(WholeFrames(block.bytes), block.bytes.size());
    got += static_cast<int64_t>(block.bytes.size());
    most = std::max(most, ResidentBytes() - before);
  }
  EXPECT_EQ(got, bytes);
  EXPECT_EQ(task.metrics.shuffle_bytes_remote, bytes);
  EXPECT_LT(most, kSanitized ? int64_t{1} << 30 : 4 * options.in_flight_max) << "reader and service together";
}

TEST_F(RemoteBlocksTest, AStreamThatBreaksGoesOnWhereItWas) {
  const std::string data = PutFrames(64 << 20);  // more than the kernel's buffers hold
  UseTcp();
  RemoteBlocksOverNet remote(*reading_.loop, *client_, SmallWindow());
  ReadingTask task;
  const auto input = FetchFrames(remote, static_cast<int64_t>(data.size()), task);
  ShuffleBlock block;
  ASSERT_TRUE(input->Next(block));
  std::string got(block.bytes);
  StopService();
  StartService();
  Register();
  while (input->Next(block)) got += block.bytes;
  EXPECT_EQ(got.size(), data.size());
  EXPECT_TRUE(got == data);
}

TEST_F(RemoteBlocksTest, ABlockThatIsNotThereIsAFetchFailureOfTheStreamToo) {
  UseTcp();
  RemoteBlocksOverNet remote(*reading_.loop, *client_, SmallWindow());
  ReadingTask task;
  const auto input = FetchFrames(remote, 1 << 20, task);
  ShuffleBlock block;
  EXPECT_THROW(input->Next(block), FetchFailed);
}

TEST_F(RemoteBlocksTest, AStreamStopsWhileItIsPaused) {
  const std::string data = PutFrames(64 << 20);
  UseTcp();
  size_t got = 0;
  std::promise<void> first;
  std::promise<base::Status> ended;
  std::unique_ptr<ShuffleClient::Stream> stream;
  ShuffleClient::StreamCallbacks callbacks;
  callbacks.on_size = [&](int64_t length) { EXPECT_EQ(length, static_cast<int64_t>(data.size())); };
  callbacks.on_bytes = [&](std::string_view bytes) {
    if (got == 0) {
      stream->Pause();
      first.set_value();
    }
    got += bytes.size();
  };
  callbacks.on_file = [](std::shared_ptr<env::File>, int64_t, int64_t) { ADD_FAILURE() << "came as a file"; };
  callbacks.on_end = [&](base::Status status) { ended.set_value(std::move(status)); };
  reading_.Run([&] { stream = client_->OpenStream(address_, "1", "shuffle_0_8_0", std::move(callbacks)); });
  first.get_future().wait();
  size_t then = 0, later = 0;
  reading_.Run([&] { then = got; });
  EXPECT_LT(then, data.size());
  Read(std::vector<int32_t>(100, 0));  // meanwhile the loop has much else to read
  reading_.Run([&] { later = got; });
  EXPECT_EQ(later, then);
  reading_.Run([&] { stream->Resume(); });
  EXPECT_TRUE(ended.get_future().get().ok());
  reading_.Run([&] { stream.reset(); });
  EXPECT_EQ(got, data.size());
}

/// SASL in the clear and sealed; AES after SASL's fallback is refused, in its versions and with its ciphers.
TEST_F(RemoteBlocksTest, AServiceThatWantsASecretIsShownIt) {
  using wire::spark_transport::AuthCipher;
  using wire::spark_transport::AuthVersion;
  const std::string data = PutFrames(1 << 20);
  for (int kind = 0; kind < 6; ++kind) {
    SCOPED_TRACE(kind);
    StopService();
    config_.cluster_secret = security_.secret = "the application's secret";
    config_.session.security.authenticate = true;
    security_.app_id = "app";
    security_.encrypt_sasl = kind == 1 || kind == 5;
    security_.crypto = config_.session.security.crypto = kind > 1;
    if (kind == 5) config_.session.security.crypto = false;  // the client falls back to SASL
    security_.version = config_.session.security.version = kind == 3 ? AuthVersion::kV2 : AuthVersion::kV1;
    security_.cipher = config_.session.security.cipher = kind == 4 ? AuthCipher::kGcm : AuthCipher::kCtr;
    StartService();
    StartClient(::geteuid());
    EXPECT_EQ(Read({0, 2}), (std::vector<std::string>{long_, short_}));
    EXPECT_EQ(FilesPassed() > 0, kind == 0) << "open files come only where nothing is encrypted";
    RemoteBlocksOverNet remote(*reading_.loop, *client_, SmallWindow());
    ReadingTask task;
    const auto input = FetchFrames(remote, static_cast<int64_t>(data.size()), task);
    std::string got;
    for (ShuffleBlock block; input->Next(block);) got += block.bytes;
    EXPECT_TRUE(got == data);

    security_.secret = "another";
    reading_.Run([&] {
      client_ = std::make_unique<ShuffleClient>(*reading_.loop, *reading_.loop, "app", ShuffleClient::Limits());
      client_->Authenticate(security_);
    });
    const base::Status refused = TryToRegister();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, static_cast<int>(process::executor::FetchError::kRefused));
    EXPECT_NE(refused.error().message.find("secret"), std::string::npos) << refused.error().message;
  }
}

TEST_F(RemoteBlocksTest, AServiceThatAsksForNoSecretIsRefusedByWhoHasOne) {
  security_.secret = "secret";
  reading_.Run([&] {
    client_ = std::make_unique<ShuffleClient>(*reading_.loop, *reading_.loop, "app", ShuffleClient::Limits());
    client_->Authenticate(security_);
  });
  const base::Status refused = TryToRegister();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, static_cast<int>(process::executor::FetchError::kRefused));
}

TEST_F(RemoteBlocksTest, AKeptPartitionComesFromTheServiceWholeOrNotAtAll) {
  for (const bool tcp : {false, true}) {
    if (tcp) UseTcp();
    RemoteBlocksOverNet remote(*reading_.loop, *client_);
    ReadingTask task;
    for (const std::string& bytes : {long_, short_, std::string()}) {
      const KeptBlock block = PutKept(bytes);
      const auto got = remote.FetchKept(block, task);
      ASSERT_NE(got, nullptr);
      EXPECT_EQ(got->view(), bytes);
    }
    KeptBlock block = PutKept(long_);
    block.checksum ^= 1;
    EXPECT_EQ(remote.FetchKept(block, task), nullptr);
    block = PutKept(long_);
    ++block.bytes;
    EXPECT_EQ(remote.FetchKept(block, task), nullptr);
    block.partition = 3;
    EXPECT_EQ(remote.FetchKept(block, task), nullptr);
  }
}

TEST_F(RemoteBlocksTest, AKilledTaskDoesNotWaitForAKeptPartition) {
  RemoteBlocksOverNet remote(*reading_.loop, *client_);
  ReadingTask task;
  task.killed = true;
  EXPECT_THROW(remote.FetchKept(PutKept(long_), task), TaskKilled);
}

}  // namespace
}  // namespace fairlead::engine
