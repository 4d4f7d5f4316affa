#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

// How long the texts of calls may be, each field for itself. What is longer is refused before anything is kept of it:
// it would stand in memory, in the store, on pages and in logs. Real ones stay far below.

namespace fairlead::endpoints::yarn {

/// Names: of applications, queues, users, hosts, labels, and where an ask wants to run. A host has 253 bytes at most;
/// Spark and Hive name applications in a line of text.
inline constexpr size_t kNameMax = 1 << 10;
/// Tracking URLs: browsers and proxies take 2 to 8 KiB.
inline constexpr size_t kUrlMax = 8 << 10;
/// Diagnostics that somebody gives with a call. Hadoop keeps as much of an attempt's
/// (yarn.app.attempt.diagnostics.limit.kc).
inline constexpr size_t kDiagnosticsMax = 64 << 10;
/// What a node says of its health, for as long as it is there: the last words of a script.
inline constexpr size_t kHealthMax = 4 << 10;
/// What a node says of an application's logs, once. Hadoop's has a line.
inline constexpr size_t kLogMessageMax = 4 << 10;
/// A list of users and groups.
inline constexpr size_t kAclMax = 64 << 10;
/// All commands of a container together. Linux takes 128 KiB for one argument.
inline constexpr size_t kCommandsMax = 256 << 10;
/// The environment, names and values. Linux takes 2 MiB for it and the arguments, and a class path has tens of KiB.
inline constexpr size_t kEnvironmentMax = 1 << 20;
/// Credentials: a token has less than 1 KiB, and an application one for each file system that it uses.
inline constexpr size_t kTokensMax = 1 << 20;
/// What auxiliary services are given at a container's start.
inline constexpr size_t kServiceDataMax = 1 << 20;
/// A whole submission, most of it the files that its master needs, at about 200 bytes each. Hadoop's state in ZooKeeper
/// takes 1 MiB (yarn.resourcemanager.zk-max-znode-size.bytes).
inline constexpr size_t kSubmissionMax = 4 << 20;

/// Error::code of Within.
inline constexpr int kTooLong = 1;

/// An Error for what is longer: the field, its length and the bound.
inline base::Status Within(std::string_view field, size_t bytes, size_t bytes_max) {
  if (bytes <= bytes_max) return {};
  return base::Error{std::string(field) + ": " + std::to_string(bytes) + " bytes, at most " +
                         std::to_string(bytes_max) + " are allowed",
                     kTooLong};
}

/// The end of a text that a node or a master reports and that cannot be refused: the last words say why.
inline std::string EndOf(std::string_view text, size_t bytes_max) {
  return std::string(text.substr(text.size() - std::min(text.size(), bytes_max)));
}

}  // namespace fairlead::endpoints::yarn
