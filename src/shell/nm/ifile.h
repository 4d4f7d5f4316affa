#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "shell/nm/zlib_stream.h"

namespace fairlead::shell {

/// What an indexed log file says of itself.
struct IFileHead {
  std::string app;   // application_...; its SHA-256 begins and ends the file
  std::string user;  // the application's
  std::string view_acl;
  std::string modify_acl;
  std::string node_id;    // host:port
  std::string file_name;  // of the node's file, without the time of a roll
  base::WallTime uploaded;
  bool compress = false;  // "gz", a zlib stream for each log; else "none"
};

/// Writes an indexed log file (Hadoop: LogAggregationIndexedFileController): the SHA-256 of the application's id, the
/// logs one after the other, and then an index, which says where each log lies: a Java object stream of
/// IndexedLogsMeta, its length in four bytes, and the SHA-256 again. One cycle of aggregation is in a file, as Hadoop
/// has it where a file system cannot append. Memory: some 300 bytes for a log.
class IFileWriter {
 public:
  using Sink = std::function<base::Status(std::string_view)>;
  IFileWriter(IFileHead head, Sink sink) : head_(std::move(head)), sink_(std::move(sink)) {}

  base::Status Begin();
  base::Status BeginLog(const std::string& container, const std::string& name, base::WallTime modified);
  base::Status LogBytes(std::string_view bytes);
  base::Status EndLog();
  base::Status Finish();

 private:
  struct Entry {
    std::string name;
    base::WallTime modified;
    int64_t start = 0;
    int64_t bytes = 0;
    int64_t stored_bytes = 0;
  };
  base::Status Put(std::string_view bytes);
  std::string Index() const;

  const IFileHead head_;
  const Sink sink_;
  ZlibStream zlib_;
  int64_t position_ = 0;
  std::map<std::string, std::vector<Entry>> logs_;  // by container
  Entry* open_ = nullptr;
};

}  // namespace fairlead::shell
