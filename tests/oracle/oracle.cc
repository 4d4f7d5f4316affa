#include "oracle/oracle.h"

#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <set>

namespace fairlead::oracle {
namespace {

namespace fs = std::filesystem;

/// The name without `.json`, `.json.gz`, `.trace` or `.trace.gz`; empty when it ends in none of `endings`.
std::string BaseName(const std::string& file, std::initializer_list<std::string_view> endings) {
  for (const std::string_view ending : endings) {
    if (file.size() > ending.size() && file.ends_with(ending)) return file.substr(0, file.size() - ending.size());
  }
  return "";
}

std::string VersionOf(const fs::path& path) {
  constexpr std::string_view kPrefix = "expected-";
  for (const fs::path& part : path.parent_path()) {
    if (part.string().starts_with(kPrefix)) return part.string().substr(kPrefix.size());
  }
  return "";
}

}  // namespace

base::Result<std::string> ReadText(const fs::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");  // reads plain files as they are
  if (file == nullptr) return base::Error{path.string() + ": cannot be opened"};
  std::string text;
  char buffer[1 << 16];
  int n = 0;
  while ((n = gzread(file, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(n));
  int status = Z_OK;
  gzerror(file, &status);
  gzclose(file);
  if (n < 0 || (status != Z_OK && status != Z_STREAM_END)) return base::Error{path.string() + ": is damaged"};
  return text;
}

base::Result<nlohmann::json> ReadJson(const fs::path& path) {
  base::Result<std::string> text = ReadText(path);
  if (!text) return text.error();
  nlohmann::json value = nlohmann::json::parse(*text, nullptr, false);
  if (value.is_discarded()) return base::Error{path.string() + ": is not JSON"};
  return value;
}

base::Result<std::vector<nlohmann::json>> ReadJsonLines(const fs::path& path) {
  base::Result<std::string> text = ReadText(path);
  if (!text) return text.error();
  std::vector<nlohmann::json> lines;
  size_t begin = 0;
  while (begin < text->size()) {
    size_t end = text->find('\n', begin);
    if (end == std::string::npos) end = text->size();
    const std::string_view line = std::string_view(*text).substr(begin, end - begin);
    begin = end + 1;
    if (line.empty()) continue;
    lines.push_back(nlohmann::json::parse(line, nullptr, false));
    if (lines.back().is_discarded()) {
      return base::Error{path.string() + ": line " + std::to_string(lines.size()) + " is not JSON"};
    }
  }
  return lines;
}

const std::string* Recordings::VersionWithTrace(const std::string& name,
                                                const std::vector<std::string>& versions) const {
  for (const std::string& version : versions) {
    const auto of_version = traces.find(version);
    if (of_version != traces.end() && of_version->second.contains(name)) return &version;
  }
  return nullptr;
}

base::Result<Recordings> FindRecordings(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) return base::Error{directory.string() + " is not a folder"};
  Recordings found;
  const bool has_folder = fs::is_directory(directory / "scenarios", error);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory, error)) {
    if (!entry.is_regular_file()) continue;
    const std::string file = entry.path().filename();
    const fs::path relative = entry.path().lexically_relative(directory);
    const bool is_scenario_place = !has_folder || *relative.begin() == "scenarios";
    if (const std::string trace = BaseName(file, {".trace.gz", ".trace"}); !trace.empty()) {
      found.traces[VersionOf(relative)][trace] = entry.path();
    } else if (const std::string name = BaseName(file, {".json.gz", ".json"}); !name.empty() && is_scenario_place) {
      found.scenarios[name] = entry.path();
    } else if (has_folder && is_scenario_place) {
      found.unread.push_back(entry.path());
    }
  }
  for (const auto& [version, traces] : found.traces) {
    for (const auto& [name, path] : traces) {
      if (!found.scenarios.contains(name)) found.unread.push_back(path);
    }
  }
  return found;
}

int RunAll(const fs::path& directory, const std::string& version, const std::vector<std::string>& versions,
           const Replay& replay, const std::string& note, const std::function<bool(const std::string& name)>& counts,
           bool list) {
  base::Result<Recordings> recordings = FindRecordings(directory);
  if (!recordings) {
    std::printf("%s\n0 passed, 1 failed\n", recordings.error().message.c_str());
    return 1;
  }
  int passed = 0;
  int failed = 0;
  const auto fail = [&](const std::string& name, const std::string& why) {
    ++failed;
    std::printf("FAILED %s\n%s\n", name.c_str(), why.c_str());
  };
  for (const std::string& file : recordings->unread) fail(file, "  belongs to no recording, or is of an unknown kind");
  for (const auto& [name, path] : recordings->scenarios) {
    const std::string* trace_version = recordings->VersionWithTrace(name, versions);
    if (trace_version == nullptr) {
      fail(name, "  has no trace");
      continue;
    }
    const base::Result<nlohmann::json> scenario = ReadJson(path);
    const base::Result<std::vector<nlohmann::json>> expected =
        ReadJsonLines(recordings->traces.at(*trace_version).at(name));
    if (!scenario || !expected) {
      fail(name, "  " + (scenario ? expected.error().message : scenario.error().message));
      continue;
    }
    Difference difference;
    try {
      difference = replay(*scenario, *expected, version, *trace_version);
    } catch (const nlohmann::json::exception& e) {
      difference = std::string("  the recording is not of this kind: ") + e.what();
    }
    if (counts && !counts(name)) {
      std::printf("not counted: %s%s\n%s", name.c_str(), difference.empty() ? " agrees" : " differs",
                  difference.c_str());
    } else if (difference.empty()) {
      ++passed;
      if (list) std::printf("passed %s\n", name.c_str());
    } else {
      fail(name, difference);
    }
  }
  if (passed + failed == 0) fail(directory.string(), "  no recordings here");
  if (!note.empty()) std::printf("%s\n", note.c_str());
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace fairlead::oracle
