#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

// Common parts of the oracle runners: recordings of the real systems are replayed into the production cores, step by
// step, and every difference is a failure.

namespace fairlead::oracle {

/// The text of a file, unpacked when its name ends in .gz.
base::Result<std::string> ReadText(const std::filesystem::path& path);
base::Result<nlohmann::json> ReadJson(const std::filesystem::path& path);
/// One JSON value per line.
base::Result<std::vector<nlohmann::json>> ReadJsonLines(const std::filesystem::path& path);

/// What a replay found: empty when all steps agree, otherwise the first differing step, both sides explained.
using Difference = std::string;

/// Replays one scenario as `version` against its expected trace, which may be of another version (`trace_version`,
/// empty: the default one) when that is known to decide alike.
using Replay = std::function<Difference(const nlohmann::json& scenario, const std::vector<nlohmann::json>& expected,
                                        const std::string& version, const std::string& trace_version)>;

/// Scenarios and traces of a folder. Scenarios are *.json and *.json.gz below DIR/scenarios, or anywhere in DIR when
/// there is no such folder; traces are NAME.trace(.gz) anywhere in DIR, of a version when a folder above is named
/// expected-VERSION.
struct Recordings {
  std::map<std::string, std::filesystem::path> scenarios;                      // by name
  std::map<std::string, std::map<std::string, std::filesystem::path>> traces;  // by version ("" default), by name
  std::vector<std::string> unread;                                             // files that belong to nothing

  /// The first of `versions` that has a trace of `name`, or nullptr.
  const std::string* VersionWithTrace(const std::string& name, const std::vector<std::string>& versions) const;
};
base::Result<Recordings> FindRecordings(const std::filesystem::path& directory);

/// Runs all recordings of a folder; prints what differs and ends with "N passed, N failed" alone on a line. Gives the
/// exit status: 0 when all passed and there was at least one. `note`: printed on the line before the count. Scenarios
/// that `counts` says no to are printed and not counted. `list`: those that pass are printed, too.
int RunAll(const std::filesystem::path& directory, const std::string& version, const std::vector<std::string>& versions,
           const Replay& replay, const std::string& note = "",
           const std::function<bool(const std::string& name)>& counts = nullptr, bool list = false);

}  // namespace fairlead::oracle
