#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/codec.h"
#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "model/nm.h"
#include "process/nm/ports.h"

// What is done among a user's files, in a process that is that user (Hadoop: ContainerLocalizer, and the commands of
// container-executor). The process takes one errand from its channel, does it under bounds of time, memory and file
// size, answers, and ends; at once when the agent closes the channel. What it meets (archives, patterns, logs, links)
// can end it, and nothing else.

namespace fairlead::shell {

inline constexpr int kErrandChannelFd = 3;
inline constexpr size_t kErrandBytesMax = 16 << 20;

/// A path below a directory of the administrator's.
struct Place {
  std::string root;
  std::string below;
  FL_FIELDS(root, below)
};

/// Bounds of one resource: what it, or what an archive unpacks to, may grow to.
struct LocalizerLimits {
  int64_t bytes_max = int64_t{64} << 30;
  int64_t entries_max = 1'000'000;
  FL_FIELDS(bytes_max, entries_max)
};

/// Answered by the resource's size as Encode(int64_t).
struct FetchErrand {
  process::nm::FetchPlan plan;
  std::string web_address;  // WebHDFS of the URL's name node
  LocalizerLimits limits;
  base::WallTime now;
  FL_FIELDS(plan, web_address, limits, now)
};
/// Removes files or trees, or only what is below them.
struct RemoveErrand {
  std::vector<Place> places;
  bool contents_only = false;
  FL_FIELDS(places, contents_only)
};
/// Answered by an encoded process::nm::LogAnswer.
struct LogsErrand {
  process::nm::LogQuery query;
  std::vector<std::string> log_dirs;
  FL_FIELDS(query, log_dirs)
};
/// The ends of a container's error files, as its diagnostics have them. Answered by the text.
struct ErrorTailsErrand {
  Place log_dir;
  int64_t bytes_max = 0;  // of each
  FL_FIELDS(log_dir, bytes_max)
};
enum class LogFileFormat : uint8_t { kTFile, kIFile };
/// Where and how the logs of applications are gathered.
struct LogAggregationOptions {
  std::string root;                   // remote-app-log-dir, a path of a file system that all nodes see
  std::string suffix = "logs-tfile";  // remote-app-log-dir-suffix with the format's name
  LogFileFormat format = LogFileFormat::kTFile;
  bool compress = false;        // yarn.nodemanager.log-aggregation.compression-type is gz
  int64_t files_max = 30;       // yarn.nodemanager.log-aggregation.num-log-files-per-app, of a rolling application
  std::string web_hdfs = {};    // "http://namenode:9870": that file system is HDFS; empty: this machine mounts it
  std::string agent_user = {};  // as whom the root is made in HDFS, without Kerberos
  // Of that HDFS, as tokens name it: "hdfs", "webhdfs", "swebhdfs"; and the name node, or the name service.
  std::string scheme = {};
  std::string authority = {};
  bool secured = false;  // by Kerberos: with an application's token alone
  FL_FIELDS(root, suffix, format, compress, files_max, web_hdfs, agent_user, scheme, authority, secured)
};
/// Answered by nothing.
struct AggregateErrand {
  process::nm::AggregationPlan plan;
  LogAggregationOptions options;
  FL_FIELDS(plan, options)
};
/// Makes links in a working directory; what is there stays.
struct LinkErrand {
  Place work_dir;
  std::vector<model::nm::Link> links;
  FL_FIELDS(work_dir, links)
};
/// Ends the processes of the account that carry a variable or are in a control group, until there are none.
struct SweepErrand {
  std::string variable;  // NAME=value
  std::vector<std::string> cgroups;
  FL_FIELDS(variable, cgroups)
};
using Errand =
    std::variant<FetchErrand, RemoveErrand, LogsErrand, ErrorTailsErrand, AggregateErrand, LinkErrand, SweepErrand>;

/// How long an errand may take, in seconds.
int64_t SecondsOf(const Errand& errand);
/// Does it, as whoever this process is.
base::Result<std::string> Do(const Errand& errand);

/// The process: reads the errand from kErrandChannelFd, does it and answers. Its exit status.
int RunErrand();
void AnswerErrand(const std::string& result, const base::Error& error);

/// Both ends of the channel: a length in eight bytes, little end first, and so many bytes.
struct ErrandAnswer {
  bool ok = false;
  int32_t code = 0;
  std::string text;  // the result, or the error's message
  FL_FIELDS(ok, code, text)
};
std::string ErrandFrame(const std::string& bytes);
/// The length that a frame's first eight bytes announce.
uint64_t ErrandFrameLength(const std::string& bytes);
inline constexpr size_t kErrandFrameHead = 8;
/// An errand or its answer: the process belongs to the user, who may say anything with it. Lists of files of logs are
/// the largest, 200 bytes each.
inline constexpr base::BudgetKind kErrandKind =
    base::DecodedKind("an errand", kErrandBytesMax + kErrandFrameHead, 64, 64 << 20);

}  // namespace fairlead::shell
