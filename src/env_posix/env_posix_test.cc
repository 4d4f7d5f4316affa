#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/rng.h"
#include "env_posix/idle_polling.h"
#include "env_posix/posix_confined_files.h"
#include "env_posix/posix_loop.h"
#include "env_posix/read_all.h"
#include "env_posix/test_directory.h"

namespace fairlead::env_posix {
namespace {

using base::Duration;

TEST(ReadAll, WhatRefusesToBeReadIsEmpty) {
  std::ifstream directory("/proc");  // opens, and its reading is refused
  ASSERT_TRUE(directory.is_open());
  EXPECT_EQ(ReadAll(directory), "");
  std::ifstream missing("/proc/nosuch");
  EXPECT_EQ(ReadAll(missing), "");
  std::ifstream file("/proc/self/comm");
  EXPECT_EQ(ReadAll(file), "env_posix_test\n");
}

/// Sends back what it gets and remembers how the stream ended.
struct Echo : env::StreamHandler {
  std::unique_ptr<env::Stream> stream;
  std::string received;
  bool closed = false;
  std::function<void()> on_change;
  bool echo = true;
  void OnData(std::string_view bytes) override {
    received += bytes;
    if (echo) stream->Write(std::string(bytes));
    if (on_change) on_change();
  }
  void OnClosed(const std::string&) override {
    closed = true;
    if (on_change) on_change();
  }
};

/// Writes, and wants to know when that is mostly taken.
struct DrainedWriter : env::StreamHandler {
  void OnData(std::string_view) override {}
  void OnClosed(const std::string& reason) override { ADD_FAILURE() << reason; }
  void OnDrained() override { drained(); }
  std::function<void()> drained;
};

TEST(PosixLoop, TimersRunInOrderAndCancelledOnesDoNot) {
  const auto loop = MakePosixLoop();
  std::vector<int> order;
  loop->After(Duration::Millis(2), [&] { order.push_back(2); });
  const auto cancelled = loop->After(Duration::Millis(1), [&] { order.push_back(99); });
  loop->After(Duration::Millis(1), [&] { order.push_back(1); });
  loop->After(Duration::Millis(3), [&] { loop->Stop(); });
  loop->Cancel(cancelled);
  loop->Run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(PosixLoop, ATimeInWhichItDidNotRunDoesNotCountAndWhatCameMeanwhileIsReadFirst) {
  const auto loop = MakePosixLoop();
  std::vector<std::string> order;
  Echo server;
  server.on_change = [&] { order.push_back("data"); };
  const auto listener = loop->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    server.stream = std::move(stream);
    server.stream->Start(&server);
  });
  ASSERT_TRUE(listener.ok());
  base::Instant before;
  loop->Connect((*listener)->local(), Duration::Seconds(5), [&](auto connected) {
    const std::shared_ptr<env::Stream> client = std::move(*connected);
    before = loop->Now();
    loop->After(Duration::Millis(500), [&, client] {
      order.push_back("timer");
      EXPECT_GE((loop->Now() - before).ns, Duration::Millis(500).ns);
      EXPECT_LT((loop->Now() - before).ns, Duration::Millis(2000).ns);
      loop->Stop();
    });
    loop->Post([client] {
      client->Write("a heartbeat");
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // the stall
    });
  });
  loop->Run();
  EXPECT_EQ(order, (std::vector<std::string>{"data", "timer"}));
}

TEST(PosixLoop, ATimeWithoutTimersCounts) {
  const auto loop = MakePosixLoop();
  const base::Instant before = loop->Now();
  loop->Offload([] { std::this_thread::sleep_for(std::chrono::milliseconds(2200)); }, [&] { loop->Stop(); });
  loop->Run();
  EXPECT_GE((loop->Now() - before).ns, Duration::Millis(2200).ns);
}

TEST(PosixLoop, OffloadedWorkEndsOnTheLoop) {
  const auto loop = MakePosixLoop();
  const auto loop_thread = ::gettid();
  pid_t work_thread = 0;
  pid_t done_thread = 0;
  loop->Offload([&] { work_thread = ::gettid(); },
                [&] {
                  done_thread = ::gettid();
                  loop->Stop();
                });
  loop->Run();
  EXPECT_NE(work_thread, loop_thread);
  EXPECT_EQ(done_thread, loop_thread);
}

TEST(IdlePolling, BeginsWithShortWaitsAndEndsWithMisses) {
  constexpr int64_t kTurn = 10'000;
  IdlePolling polling;
  EXPECT_FALSE(polling.Worthwhile(kTurn));
  polling.Slept(5'000'000);
  EXPECT_FALSE(polling.Worthwhile(kTurn));
  polling.Slept(180'000);
  EXPECT_TRUE(polling.Worthwhile(kTurn));
  EXPECT_FALSE(polling.Worthwhile(1'000'000)) << "after a long turn a wake-up does not count";
  polling.Hit();
  polling.Miss();
  EXPECT_FALSE(polling.Worthwhile(kTurn));
  for (int i = 0; i < 6; ++i) polling.Slept(180'000);
  EXPECT_FALSE(polling.Worthwhile(kTurn)) << "one miss outweighs them";
  polling.Slept(180'000);
  EXPECT_TRUE(polling.Worthwhile(kTurn));
}

TEST(IdlePolling, WhatComesHalfOfTheTimeIsSeldomWaitedFor) {
  IdlePolling polling;
  int polled = 0;
  for (int i = 0; i < 1000; ++i) {
    const bool soon = i % 2 == 0;
    if (polling.Worthwhile(0)) {
      ++polled;
      soon ? polling.Hit() : polling.Miss();
      if (soon) continue;
    }
    polling.Slept(soon ? 100'000 : 200'000);
  }
  EXPECT_LT(polled, 300);
}

/// Connects `client` and runs the loop until the other side has closed the connection.
void ReceiveAll(PosixLoop& loop, const env::Endpoint& endpoint, Echo& client) {
  client.on_change = [&] {
    if (client.closed) loop.Stop();
  };
  loop.Connect(endpoint, Duration::Seconds(5), [&](auto connected) {
    ASSERT_TRUE(connected.ok());
    client.stream = std::move(connected).value();
    client.stream->Start(&client);
  });
  loop.Run();
}

TEST(PosixNet, BytesAndFilesArriveInOrderThenTheEnd) {
  const TestDirectory directory;
  const auto disk = MakePosixDisk();
  const std::string body(3 << 20, 'x');
  ASSERT_TRUE(disk->WriteFileAtomically(directory / "body", body).ok());
  const auto loop = MakePosixLoop();
  Echo client;
  client.echo = false;
  std::unique_ptr<env::Stream> server;
  auto listener = loop->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    server = std::move(stream);
    server->Write("head");
    server->SendFile(*disk->OpenForReading(directory / "body"), 1, body.size() - 1);
    server->Write("tail");
    server->CloseAfterFlush();
  });
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  ReceiveAll(*loop, (*listener)->local(), client);
  EXPECT_EQ(client.received, "head" + body.substr(1) + "tail");
}

TEST(PosixNet, PartsOfFilesOfAnyLengthArriveInOrder) {
  const TestDirectory directory;
  const auto disk = MakePosixDisk();
  base::Rng rng(1);
  std::string body(1 << 20, 0);
  for (char& byte : body) byte = static_cast<char>(rng.Next());
  ASSERT_TRUE(disk->WriteFileAtomically(directory / "body", body).ok());
  const auto loop = MakePosixLoop();
  Echo client;
  client.echo = false;
  std::string sent;
  std::unique_ptr<env::Stream> server;
  auto listener = loop->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    server = std::move(stream);
    const auto file = *disk->OpenForReading(directory / "body");
    for (int i = 0; i < 300; ++i) {
      const size_t longest = size_t{1} << rng.Between(1, 19);
      const size_t length = 1 + rng.Below(longest);
      const size_t offset = rng.Below(body.size() - length);
      if (rng.Chance(0.3)) {
        server->Write(body.substr(offset, length));
      } else {
        server->SendFile(file, offset, length);
      }
      sent += body.substr(offset, length);
    }
    server->CloseAfterFlush();
  });
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  ReceiveAll(*loop, (*listener)->local(), client);
  EXPECT_EQ(client.received.size(), sent.size());
  EXPECT_TRUE(client.received == sent);
}

/// What is promised of a file that is shorter by now ends the connection, behind what there was.
TEST(PosixNet, APartBeyondTheEndOfItsFileEndsTheConnection) {
  for (const size_t promised : {100u, 100'000u, 1'000'000u}) {
    const TestDirectory directory;
    const auto disk = MakePosixDisk();
    ASSERT_TRUE(disk->WriteFileAtomically(directory / "body", std::string(60, 'x')).ok());
    const auto loop = MakePosixLoop();
    Echo server;
    Echo client;
    server.echo = client.echo = false;
    auto listener = loop->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
      server.stream = std::move(stream);
      server.stream->Start(&server);
      server.stream->Write("head");
      server.stream->SendFile(*disk->OpenForReading(directory / "body"), 0, promised);
    });
    ASSERT_TRUE(listener.ok()) << listener.error().message;
    ReceiveAll(*loop, (*listener)->local(), client);
    EXPECT_TRUE(server.closed) << promised;
    EXPECT_EQ(client.received, "head" + std::string(60, 'x')) << promised;
  }
}

/// A connection to `port` of this host by plain system calls.
int ConnectPlainly(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

std::string CongestionControlOf(int socket) {
  char name[17] = "";
  socklen_t size = sizeof name - 1;
  ::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &size);
  return name;
}

/// The descriptor in this process that is connected to `peer`, an IPv4 address and port.
int ConnectedTo(const sockaddr_in& peer) {
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in found{};
    socklen_t size = sizeof found;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&found), &size) == 0 && found.sin_family == AF_INET &&
        found.sin_port == peer.sin_port && found.sin_addr.s_addr == peer.sin_addr.s_addr) {
      return fd;
    }
  }
  return -1;
}

TEST(PosixNet, OnlyConnectionsOfThisHostAreWithoutTheSystemsCongestionControl) {
  const auto loop = MakePosixLoop();
  std::unique_ptr<env::Stream> accepted;
  auto listener = loop->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    accepted = std::move(stream);
    loop->Stop();
  });
  ASSERT_TRUE(listener.ok());
  const auto control_for = [&](const char* client_address) {
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in from{};
    from.sin_family = AF_INET;
    ::inet_pton(AF_INET, client_address, &from.sin_addr);
    EXPECT_EQ(::bind(client, reinterpret_cast<sockaddr*>(&from), sizeof from), 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons((*listener)->local().port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    loop->Run();
    socklen_t size = sizeof from;
    ::getsockname(client, reinterpret_cast<sockaddr*>(&from), &size);
    const std::string name = CongestionControlOf(ConnectedTo(from));
    ::close(client);
    return name;
  };
  EXPECT_EQ(control_for("127.0.0.1"), "reno");
  const int fresh = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(control_for("127.0.0.2"), CongestionControlOf(fresh)) << "another address counts as another host";
  ::close(fresh);
}

TEST(PosixNet, APortThatIsTakenIsRefused) {
  const auto loop = MakePosixLoop(), other = MakePosixLoop();
  const auto ignore = [](const auto&) {};
  const auto first = loop->Listen({"127.0.0.1", 0}, ignore);
  ASSERT_TRUE(first.ok()) << first.error().message;
  const auto second = other->Listen((*first)->local(), ignore);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, EADDRINUSE);
}

TEST(PosixNet, AStreamGoesOnOnTheLoopThatTakesItOver) {
  const auto accepting = MakePosixLoop(), serving = MakePosixLoop(), asking = MakePosixLoop();
  std::thread accepting_thread([&] { accepting->Run(); }), serving_thread([&] { serving->Run(); });
  Echo server;
  env::Endpoint local, peer;
  std::thread::id served_by;
  auto listener = accepting->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    local = stream->local();
    peer = stream->peer();
    serving->Adopt(std::move(stream), [&](std::unique_ptr<env::Stream> moved) {
      EXPECT_EQ(moved->local(), local);
      EXPECT_EQ(moved->peer(), peer);
      served_by = std::this_thread::get_id();
      server.stream = std::move(moved);
      server.stream->Start(&server);
    });
  });
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  Echo client;
  client.echo = false;
  client.on_change = [&] {
    if (client.received.size() == 5) asking->Stop();
  };
  asking->Connect((*listener)->local(), base::Duration::Seconds(5), [&](auto connected) {
    ASSERT_TRUE(connected.ok());
    client.stream = *std::move(connected);
    client.stream->Start(&client);
    client.stream->Write("hello");
  });
  asking->Run();
  const std::thread::id serving_id = serving_thread.get_id();
  for (const auto& loop : {accepting.get(), serving.get()}) loop->Stop();
  accepting_thread.join();
  serving_thread.join();
  EXPECT_EQ(client.received, "hello");
  EXPECT_EQ(served_by, serving_id);
}

/// What was on its way when the loop stopped is closed with it.
TEST(PosixNet, AStreamThatNobodyTakesOverIsClosed) {
  const auto loop = MakePosixLoop();
  auto other = MakePosixLoop();  // never runs
  Echo client;
  client.echo = false;
  auto listener = loop->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    other->Adopt(std::move(stream), [](const auto&) { ADD_FAILURE() << "taken over"; });
    other.reset();
  });
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  ReceiveAll(*loop, (*listener)->local(), client);
  EXPECT_TRUE(client.closed);
}

TEST(PosixNet, AReaderThatGoesAwayInMidFileEndsItsConnectionOnly) {
  const TestDirectory directory;
  const auto disk = MakePosixDisk();
  const std::string body(32 << 20, 'x');
  ASSERT_TRUE(disk->WriteFileAtomically(directory / "body", body).ok());
  const auto loop = MakePosixLoop();
  Echo server;
  int reader = -1;
  auto listener = loop->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    server.stream = std::move(stream);
    server.stream->Start(&server);
    server.stream->SendFile(*disk->OpenForReading(directory / "body"), 0, body.size());
    // Its end and, as bytes are unread, its reset are both there before the next piece is sent.
    loop->Post([&] {
      ::shutdown(reader, SHUT_WR);
      ::close(reader);
    });
  });
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  server.on_change = [&] { loop->Stop(); };
  reader = ConnectPlainly((*listener)->local().port);
  loop->Run();
  EXPECT_TRUE(server.closed);
}

TEST(PosixNet, ALoweredHighWaterStillLeadsToOnDrained) {
  DrainedWriter writer;
  const auto loop = MakePosixLoop();
  Echo client;
  client.echo = false;
  std::unique_ptr<env::Stream> server;
  const std::string body(64 << 20, 'x');
  auto listener = loop->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    server = std::move(stream);
    server->SetHighWater(body.size());
    server->Start(&writer);
    server->Write(body);
    server->SetHighWater(1 << 20);
  });
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  writer.drained = [&] {
    EXPECT_LE(server->unsent(), 1u << 19);
    loop->Stop();
  };
  loop->Connect((*listener)->local(), Duration::Seconds(5), [&](auto connected) {
    ASSERT_TRUE(connected.ok());
    client.stream = std::move(connected).value();
    client.stream->Start(&client);
  });
  loop->After(Duration::Seconds(20), [&] {
    ADD_FAILURE() << "OnDrained did not come";
    loop->Stop();
  });
  loop->Run();
}

/// A large answer whose last bytes are left counts those alone, and goes for nobody else's.
TEST(PosixNet, WhatIsSentAlreadyIsNotLeftToSend) {
  DrainedWriter writer;
  const auto loop = MakePosixLoop();
  Echo reader;
  reader.echo = false;
  std::vector<std::unique_ptr<env::Stream>> servers;
  const std::string body(64 << 20, 'x');
  auto listener = loop->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    servers.push_back(std::move(stream));
    if (servers.size() == 2) return servers[1]->Start(&writer), servers[1]->Write(body);
    loop->Connect(servers[0]->local(), Duration::Seconds(5), [&](auto connected) {
      ASSERT_TRUE(connected.ok());
      reader.stream = std::move(connected).value();
      reader.stream->Start(&reader);
    });
  });
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  writer.drained = [&] {
    EXPECT_GT(servers[1]->unsent(), 0u);
    servers[1]->CloseAfterFlush();
    servers[0]->Write("x");
    servers[0]->CloseAfterFlush();
  };
  Echo other;
  ReceiveAll(*loop, (*listener)->local(), other);
  reader.on_change = [&] {
    if (reader.closed) loop->Stop();
  };
  if (!reader.closed) loop->Run();
  EXPECT_EQ(reader.received.size(), body.size());
}

/// Peers that read nothing, of connections whose owner has written its last.
TEST(PosixNet, WhatIsLeftToSendIsBoundedOverAllConnections) {
  constexpr int kConnections = 40;
  constexpr size_t kBytes = 16 << 20;  // more than the kernel takes
  const auto loop = MakePosixLoop();
  const auto listener = loop->Listen({"127.0.0.1", 0}, [&](std::unique_ptr<env::Stream> stream) {
    stream->Write(std::string(kBytes, 'x'));
    stream->CloseAfterFlush();
  });
  ASSERT_TRUE(listener.ok());
  std::vector<std::unique_ptr<Echo>> readers;
  int connected = 0;
  for (int i = 0; i < kConnections; ++i) {
    loop->Connect((*listener)->local(), Duration::Seconds(5), [&](auto stream) {
      ASSERT_TRUE(stream.ok());
      readers.push_back(std::make_unique<Echo>());
      readers.back()->stream = std::move(*stream);
      if (++connected == kConnections) loop->After(Duration::Millis(50), [&] { loop->Stop(); });
    });
  }
  loop->Run();
  // Cut off were all but the last: they end before their bytes do. Nobody has to wait for that.
  int ended = 0;
  for (const auto& reader : readers) {
    reader->echo = false;
    reader->on_change = [&, seen = false, one = reader.get()]() mutable {
      if (seen || (!one->closed && one->received.size() < kBytes)) return;
      seen = true;
      if (++ended == kConnections) loop->Stop();
    };
    reader->stream->Start(reader.get());
  }
  loop->Run();
  int whole = 0;
  for (const auto& reader : readers) whole += reader->received.size() == kBytes ? 1 : 0;
  EXPECT_EQ(whole, 1);
}

TEST(PosixNet, RefusedConnectionTellsWhy) {
  const auto loop = MakePosixLoop();
  std::string message;
  loop->Connect({"127.0.0.1", 1}, Duration::Seconds(5), [&](auto connected) {
    message = connected.error().message;
    loop->Stop();
  });
  loop->Run();
  EXPECT_NE(message.find("127.0.0.1:1"), std::string::npos);
  EXPECT_NE(message.find("refused"), std::string::npos);
}

TEST(PosixProcesses, ExitCodeSignalAndOutput) {
  const TestDirectory directory;
  const auto loop = MakePosixLoop();
  std::vector<env::ExitStatus> ends;
  const auto on_exit = [&](env::ExitStatus status) {
    ends.push_back(status);
    if (ends.size() == 2) loop->Stop();
  };
  env::SpawnRequest request;
  request.argv = {"/bin/sh", "-c", "echo $WORD; exit 7"};
  request.environment = {{"WORD", "hello"}};
  request.stdout_path = directory / "out";
  ASSERT_TRUE(loop->Spawn(request, on_exit).ok());
  request.argv = {"/bin/sleep", "1000"};
  const auto sleeper = loop->Spawn(request, on_exit);
  ASSERT_TRUE(sleeper.ok());
  ASSERT_TRUE(loop->Signal(*sleeper, SIGKILL).ok());
  loop->Run();
  std::sort(ends.begin(), ends.end(), [](auto a, auto b) { return a.code < b.code; });
  EXPECT_EQ(ends[0].code, 7);
  EXPECT_EQ(ends[1].signal, SIGKILL);
  EXPECT_EQ(*MakePosixDisk()->ReadFile(directory / "out"), "hello\n");
}

TEST(PosixProcesses, AMissingProgramIsAnErrorAtOnce) {
  const auto loop = MakePosixLoop();
  env::SpawnRequest request;
  request.argv = {"/no/such/program"};
  const auto spawned = loop->Spawn(request, [](env::ExitStatus) { FAIL(); });
  ASSERT_FALSE(spawned.ok());
  EXPECT_NE(spawned.error().message.find("/no/such/program"), std::string::npos);
}

TEST(PosixDisk, NothingLeavesTheRoot) {
  const TestDirectory directory;
  const auto disk = MakePosixDisk();
  ASSERT_TRUE(disk->MakeDirectories(directory / "root/a").ok());
  ASSERT_TRUE(disk->WriteFileAtomically(directory / "secret", "s").ok());
  ASSERT_TRUE(disk->WriteFileAtomically(directory / "root/a/good", "g").ok());
  ASSERT_EQ(::symlink((directory / "secret").c_str(), (directory / "root/link").c_str()), 0);
  const std::string root = directory / "root";
  EXPECT_TRUE(disk->OpenBeneath(root, "a/good").ok());
  EXPECT_FALSE(disk->OpenBeneath(root, "../secret").ok());
  EXPECT_FALSE(disk->OpenBeneath(root, "a/../../secret").ok());
  EXPECT_FALSE(disk->OpenBeneath(root, "link").ok());
  EXPECT_FALSE(disk->OpenBeneath(root, directory / "secret").ok());
  EXPECT_FALSE(disk->RemoveBeneath(root, "../secret").ok());
  EXPECT_TRUE(*disk->RemoveBeneath(root, "a/good"));
  EXPECT_FALSE(*disk->RemoveBeneath(root, "a/good"));
  EXPECT_TRUE(disk->Stat(directory / "secret").ok());
}

TEST(PosixConfinedFiles, WritesPlainFilesBelowTheRootAndNothingElse) {
  const TestDirectory directory;
  const auto disk = MakePosixDisk();
  const auto files = MakePosixConfinedFiles();
  ASSERT_TRUE(disk->MakeDirectories(directory / "root/a").ok());
  ASSERT_TRUE(disk->WriteFileAtomically(directory / "secret", "s").ok());
  const std::string root = directory / "root";
  EXPECT_TRUE(files->WriteAt(root, "a/f", 0, "abcdef").ok());
  EXPECT_TRUE(files->WriteAt(root, "a/f", 4, "XYZ").ok());
  EXPECT_EQ(*disk->ReadFile(root + "/a/f", 100), "abcdXYZ");
  EXPECT_TRUE(files->WriteAt(root, "a/f", 0, "new").ok());
  EXPECT_EQ(*disk->ReadFile(root + "/a/f", 100), "new");
  ASSERT_EQ(::symlink((directory / "secret").c_str(), (root + "/a/link").c_str()), 0);
  ASSERT_EQ(::symlink(directory.path().c_str(), (root + "/out").c_str()), 0);
  ASSERT_EQ(::link((directory / "secret").c_str(), (root + "/a/twin").c_str()), 0);
  ASSERT_EQ(::mkfifo((root + "/a/pipe").c_str(), 0666), 0);
  for (const char* path : {"a/link", "out/secret", "a/twin", "a/pipe", "../secret", "a", "b/f"}) {
    EXPECT_FALSE(files->WriteAt(root, path, 0, "x").ok()) << path;
  }
  EXPECT_EQ(*disk->ReadFile(directory / "secret", 100), "s");
}

TEST(PosixConfinedFiles, AreShortenedAndNotMadeByThat) {
  const TestDirectory root;
  const auto disk = MakePosixDisk();
  const auto files = MakePosixConfinedFiles();
  ASSERT_TRUE(files->WriteAt(root.path(), "f", 0, "abcdef").ok());
  EXPECT_TRUE(files->Shorten(root.path(), "f", 9).ok());
  EXPECT_EQ(*disk->ReadFile(root / "f", 100), "abcdef");
  EXPECT_TRUE(files->Shorten(root.path(), "f", 2).ok());
  EXPECT_EQ(*disk->ReadFile(root / "f", 100), "ab");
  ASSERT_EQ(::symlink((root / "f").c_str(), (root / "link").c_str()), 0);
  EXPECT_EQ(files->Shorten(root.path(), "link", 0).error().code, ELOOP);
  EXPECT_EQ(files->Shorten(root.path(), "missing", 0).error().code, ENOENT);
  EXPECT_EQ(*disk->ReadFile(root / "f", 100), "ab");
}

TEST(PosixConfinedFiles, AreForEverybodyToReadWhateverTheUmask) {
  const TestDirectory root;
  const mode_t before = ::umask(0077);
  const bool written = MakePosixConfinedFiles()->WriteAt(root.path(), "f", 0, "x").ok();
  ::umask(before);
  ASSERT_TRUE(written);
  EXPECT_EQ(static_cast<unsigned>(std::filesystem::status(root / "f").permissions()), 0644u);
}

TEST(PosixDisk, TreesAreRemovedByTwoAtOnce) {
  const TestDirectory root;
  const auto disk = MakePosixDisk();
  for (int round = 0; round < 5; ++round) {
    for (int n = 0; n < 50; ++n) std::filesystem::create_directories(root / "app/" + std::to_string(n) + "/a/b/c");
    std::thread other([&disk, &root] {
      for (int n = 0; n < 50; ++n) EXPECT_TRUE(disk->RemoveTree(root / "app/" + std::to_string(n)));
    });
    const base::Status removed = disk->RemoveTree(root / "app");
    other.join();
    ASSERT_TRUE(removed) << removed.error().message;
    ASSERT_FALSE(std::filesystem::exists(root / "app"));
  }
}

}  // namespace
}  // namespace fairlead::env_posix
