// What readers on the service's own host gain by open files: the engine's reader (RemoteBlocksOverNet) takes the same
// blocks from a service in another thread over TCP and over the local socket, in turns, and adds up every word.
//   bench_passed_files DIR [GB]      DIR: on tmpfs; 1 GB a measurement
// CPU is that of both sides.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>

#include "base/bytes.h"
#include "engine/run/own_shuffle_service.h"
#include "engine/run/reading_task_for_test.h"
#include "engine/run/remote_blocks.h"
#include "env_posix/loop_thread.h"
#include "env_posix/posix_loop.h"
#include "wire/spark_shuffle/layout.h"

namespace {

using namespace fairlead;
using process::executor::ShuffleClient;

double CpuSeconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

void MakeFiles(const std::string& root, int64_t block, int32_t blocks) {
  std::string index;
  base::ByteWriter writer(index);
  for (int32_t i = 0; i <= blocks; ++i) writer.I64(i * block);
  std::string bytes(static_cast<size_t>(block), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + (i >> 9));
  const auto create = [&](const std::string& name) {
    const std::string path = wire::spark_shuffle::BlockPath({root}, name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    return std::ofstream(path, std::ios::binary);
  };
  create(wire::spark_shuffle::ShuffleIndexName(0, 7)) << index;
  std::ofstream data = create(wire::spark_shuffle::ShuffleDataName(0, 7));
  for (int32_t i = 0; i < blocks; ++i) data << bytes;
}

uint64_t Sum(std::string_view bytes) {
  uint64_t sum = 0;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    sum += word;
  }
  return sum;
}

struct Measured {
  double gb_per_s = 0;
  double cpu_s_per_gb = 0;
};

Measured Measure(const env::Endpoint& service, const std::string& root, bool files, int64_t block, int32_t blocks) {
  env_posix::LoopThread reading;
  std::unique_ptr<ShuffleClient> client;
  std::promise<bool> registered;
  reading.Run([&] {
    client = std::make_unique<ShuffleClient>(*reading.loop, *reading.loop, "app", ShuffleClient::Limits());
    if (files) client->UseLocalSockets(*reading.loop, ::geteuid());
    client->Register(service, "1", {root}, [&](const base::Status& status) { registered.set_value(status.ok()); });
  });
  if (!registered.get_future().get()) std::exit(1);
  engine::RemoteBlocksOverNet remote(*reading.loop, *client);
  std::vector<engine::BlockRequest> requests;
  for (int32_t i = 0; i < blocks; ++i) requests.push_back({0, 0, 7, i, block, 0});
  wire::engine::Place place;
  place.executor_id = "1";
  place.host = service.host;
  place.port = service.port;
  engine::ReadingTask task;
  task.memory_bytes = 1 << 30;
  const double cpu = CpuSeconds();
  const auto begin = std::chrono::steady_clock::now();
  const auto input = remote.Fetch(std::move(requests), {}, {{0, place}}, task);
  uint64_t sum = 0;
  int64_t bytes = 0;
  for (engine::ShuffleBlock got; input->Next(got);) {
    sum += Sum(got.bytes);
    bytes += static_cast<int64_t>(got.bytes.size());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (bytes != block * blocks || sum == 0) std::exit(1);
  const double gb = static_cast<double>(bytes) / 1e9;
  const Measured out{gb / seconds, (CpuSeconds() - cpu) / gb};
  reading.Run([&] { client.reset(); });
  return out;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_passed_files DIR [GB]\n");
    return 2;
  }
  const std::string root = std::filesystem::absolute(argv[1]).string() + "/passed-files";
  const double gb = argc > 2 ? std::atof(argv[2]) : 1;
  for (const int64_t block : {int64_t{128} << 10, int64_t{1} << 20, int64_t{16} << 20}) {
    const auto blocks = static_cast<int32_t>(gb * 1e9 / static_cast<double>(block));
    std::filesystem::remove_all(root);
    MakeFiles(root, block, blocks);
    env_posix::LoopThread serving;
    std::unique_ptr<engine::OwnShuffleService> service;
    base::Result<env::Endpoint> address = base::Error{""};
    serving.Run([&] {
      service = std::make_unique<engine::OwnShuffleService>(*serving.loop, std::vector<std::string>{root},
                                                            wire::spark_transport::Security{});
      address = service->Listen("127.0.0.1");
    });
    if (!address.ok()) return 1;
    std::vector<double> rates[2], cpus[2];
    for (int round = 0; round < 5; ++round) {
      for (const bool files : {false, true}) {
        const Measured measured = Measure(*address, root, files, block, blocks);
        rates[files].push_back(measured.gb_per_s);
        cpus[files].push_back(measured.cpu_s_per_gb);
      }
    }
    std::printf("blocks of %lld KiB: TCP %.2f GB/s, %.2f CPU s a GB; open files %.2f GB/s, %.2f CPU s a GB\n",
                static_cast<long long>(block >> 10), Median(rates[0]), Median(cpus[0]), Median(rates[1]),
                Median(cpus[1]));
    std::fflush(stdout);
    serving.Run([&] { service.reset(); });
  }
  std::filesystem::remove_all(root);
  return 0;
}
