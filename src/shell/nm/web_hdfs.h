#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "process/nm/ports.h"
#include "shell/nm/http_transfer.h"

namespace fairlead::shell {

/// As whom a name node is asked: by a delegation token (FileSystemToken::text), with a ticket of Kerberos that this
/// process has, or as a user whom the name node believes.
struct WebHdfsCaller {
  std::string user;
  std::string token = {};
  bool by_ticket = false;
};

/// Of an application's tokens the one for a URL's file system; "": it has none. May ask the resolver: tokens name
/// addresses (SecurityUtil.buildTokenService), URLs hosts.
std::string TokenFor(const std::vector<process::nm::FileSystemToken>& tokens, const std::string& scheme,
                     const std::string& authority);

/// HDFS by WebHDFS (op and answers: Hadoop's WebHDFS REST API). Every call waits for the name node that serves: where
/// there are several, through their change of roles (process/http/failover.h); an error has its exception's message.
/// For one thread.
class WebHdfs {
 public:
  /// `addresses`: "http://namenode:9870[,http://...]", at least one: the name nodes of one HDFS.
  WebHdfs(const std::string& addresses, WebHdfsCaller caller)
      : addresses_(base::SplitTrimmed(addresses)), caller_(std::move(caller)) {}

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
  /// The file's bytes into an open file.
  base::Status Get(const std::string& path, int to, int64_t bytes_max) const;

 private:
  std::string Operation(const std::string& path, const std::string& query) const;
  /// Of the name node that serves. `order.url`: what follows its address.
  base::Result<HttpTransferred> Ask(const HttpTransfer& order) const;
  /// An operation that answers {"boolean":true}, or nothing.
  base::Status Order(const std::string& method, const std::string& path, const std::string& query) const;

  const std::vector<std::string> addresses_;
  const WebHdfsCaller caller_;
  mutable size_t serves_ = 0;  // of them, as far as is known
};

}  // namespace fairlead::shell
