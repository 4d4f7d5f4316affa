#include <lzma.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "spark_tasks.h"

// oracle_spark_tasks DIR [--version V]: replays every *.jsonl (or *.jsonl.xz) under DIR. Ends with "N passed, N
// failed".

namespace {

namespace fs = std::filesystem;
using fairlead::oracle::Verdict;
using nlohmann::json;

std::optional<std::string> Unpack(const std::string& packed) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, UINT64_MAX, 0) != LZMA_OK) return std::nullopt;
  std::string out;
  std::string block(1 << 20, '\0');
  stream.next_in = reinterpret_cast<const uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK) {
    stream.next_out = reinterpret_cast<uint8_t*>(block.data());
    stream.avail_out = block.size();
    result = lzma_code(&stream, LZMA_FINISH);
    out.append(block, 0, block.size() - stream.avail_out);
  }
  lzma_end(&stream);
  if (result != LZMA_STREAM_END) return std::nullopt;
  return out;
}

std::optional<std::string> ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bytes;
  if (!in || !(bytes << in.rdbuf())) return std::nullopt;
  return path.extension() == ".xz" ? Unpack(bytes.str()) : bytes.str();
}

struct Count {
  int passed = 0;
  int failed = 0;
};

void ReplayFile(const fs::path& path, const std::string& version, Count& count) {
  const std::optional<std::string> text = ReadFile(path);
  if (!text) {
    std::printf("%s: cannot be read\n", path.c_str());
    ++count.failed;
    return;
  }
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const json scenario = json::parse(line, nullptr, false);
    if (!scenario.is_discarded() && !version.empty() && scenario.value("spark", "") != version) continue;
    const Verdict verdict =
        scenario.is_discarded() ? Verdict{"not JSON"} : fairlead::oracle::ReplaySparkTasks(scenario);
    if (verdict.passed()) {
      ++count.passed;
      continue;
    }
    ++count.failed;
    const std::string id = scenario.is_object() ? scenario.value("id", "?") : "?";
    std::printf("%s:%d %s: %s\n", path.filename().c_str(), number, id.c_str(), verdict.difference.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string directory;
  std::string version;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--version" && i + 1 < argc) {
      version = argv[++i];
    } else if (directory.empty() && !argument.starts_with("--")) {
      directory = argument;
    } else {
      directory.clear();
      break;
    }
  }
  if (directory.empty()) {
    std::fprintf(stderr, "usage: oracle_spark_tasks DIR [--version V]\n");
    return 2;
  }
  std::set<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.ends_with(".jsonl") || name.ends_with(".jsonl.xz")) files.insert(it->path());
  }
  Count count;
  if (error) std::printf("%s: %s\n", directory.c_str(), error.message().c_str());
  for (const fs::path& file : files) ReplayFile(file, version, count);
  if (error || count.passed + count.failed == 0) {
    std::printf("%s: no scenario found\n", directory.c_str());
    ++count.failed;
  }
  std::printf("%d passed, %d failed\n", count.passed, count.failed);
  return count.failed == 0 ? 0 : 1;
}
