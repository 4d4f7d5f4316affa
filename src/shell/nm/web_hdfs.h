#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::shell {

/// HDFS by WebHDFS, as one user whom the name node believes (op and answers: Hadoop's WebHDFS REST API). Every call
/// waits for the name node; an error has its exception's message.
class WebHdfs {
 public:
  /// `address`: "http://namenode:9870".
  WebHdfs(std::string address, std::string user) : address_(std::move(address)), user_(std::move(user)) {}

  struct Status {
    int64_t modified_ms = 0;
    std::string owner;
    bool is_directory = false;
  };
  /// nullopt: nothing is there.
  base::Result<std::optional<Status>> StatusOf(const std::string& path) const;
  /// Names in a directory.
  base::Result<std::vector<std::string>> List(const std::string& path) const;
  /// With what is missing above it. `mode` as chmod has it, octal: "1777"; set whatever the name node masks.
  base::Status MakeDirectory(const std::string& path, const std::string& mode) const;
  /// A new file of the first `bytes` of the open file; what is there is replaced. By way of a data node.
  base::Status Put(const std::string& path, int file, int64_t bytes, const std::string& mode) const;
  /// What is there under the new name is replaced.
  base::Status Rename(const std::string& from, const std::string& to) const;
  base::Status Remove(const std::string& path) const;
  /// Where a GET begins that gives the file's bytes.
  std::string OpenUrl(const std::string& path) const;

 private:
  std::string Url(const std::string& path, const std::string& query) const;
  /// An operation that answers {"boolean":true}, or nothing.
  base::Status Order(const std::string& method, const std::string& path, const std::string& query) const;

  const std::string address_;
  const std::string user_;
};

}  // namespace fairlead::shell
