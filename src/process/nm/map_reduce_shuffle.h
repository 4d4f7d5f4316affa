#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/alive.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/nm/ports.h"
#include "process/peers/peer_table.h"

namespace fairlead::process::nm {

/// One request for map outputs: GET /mapOutput?job=job_TS_N&reduce=R&map=attempt,...
struct MapOutputRequest {
  model::ApplicationId app;
  int32_t reduce = 0;
  std::vector<std::string> maps;
  bool keep_alive = false;
};
/// Parses and checks the query; the error is the reason told to the reducer.
base::Result<MapOutputRequest> ParseMapOutputQuery(std::string_view query);
/// The name of a task's output, MapReduce's (attempt_TS_JOB_m_TASK_ATTEMPT) or Tez's (more parts): letters, digits and
/// _ alone, as it becomes part of a path.
bool IsOutputName(std::string_view text);
/// The header before one map's bytes (org.apache.hadoop.mapreduce.task.reduce.ShuffleHeader).
std::string ShuffleHeader(std::string_view map, int64_t part_length, int64_t raw_length, int32_t reduce);

/// The auxiliary service `mapreduce_shuffle`: serves the sorted outputs of map tasks to reducers over HTTP/1.1, as
/// Hadoop's ShuffleHandler; each request is signed with the job's token (SecureShuffleUtils). Files go by sendfile.
class MapReduceShuffle : public AuxService {
 public:
  struct Options {
    std::string service_name = "mapreduce_shuffle";
    env::Endpoint listen;
    peers::PeerLimits peers{.connections_max = 5000, .per_address_max = 2500, .bytes_max = size_t{16} << 20};
    base::Duration head = base::Duration::Seconds(10);  // until a signed request is there
    base::Duration idle = base::Duration::Seconds(60);
  };
  static base::Result<std::unique_ptr<MapReduceShuffle>> Start(env::Loop& loop, env::Net& net, env::Disk& disk,
                                                               env::Log& log, const NodeDirs& dirs, Options options);
  ~MapReduceShuffle() override;

  std::string name() const override { return options_.service_name; }
  std::string MetaData() const override;
  void InitializeApplication(const std::string& user, const model::ApplicationId& app,
                             const std::string& data) override;
  void StopApplication(const model::ApplicationId& app) override { jobs_.erase(app); }
  env::Endpoint local() const { return listener_->local(); }

 private:
  class Connection;
  struct Job {
    std::string user;
    std::string secret;
  };
  struct Output {
    std::string map;
    std::shared_ptr<env::File> file;
    int64_t start = 0;
    int64_t raw_length = 0;
    int64_t part_length = 0;
  };
  MapReduceShuffle(env::Loop& loop, env::Disk& disk, env::Log& log, const NodeDirs& dirs, Options options);
  void Accept(std::unique_ptr<env::Stream> stream);
  /// Opens one map's output and reads where the reducer's part lies.
  base::Result<Output> Find(const std::string& user, const model::ApplicationId& app, const std::string& map,
                            int32_t reduce) const;

  env::Loop& loop_;
  env::Disk& disk_;
  env::Log& log_;
  const NodeDirs& dirs_;
  const Options options_;
  std::unique_ptr<env::Listener> listener_;
  std::map<model::ApplicationId, Job> jobs_;
  peers::PeerTable peers_;  // before the connections, which have seats
  std::map<uint64_t, std::unique_ptr<Connection>> connections_;
  uint64_t next_connection_ = 1;
  env::Alive alive_;
};

}  // namespace fairlead::process::nm
