#include "jsonl_runner.h"

#include <lzma.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

namespace fairlead::oracle {
namespace {

namespace fs = std::filesystem;
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

std::optional<std::string> ReadWhole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bytes;
  if (!in || !(bytes << in.rdbuf())) return std::nullopt;
  return path.extension() == ".xz" ? Unpack(bytes.str()) : bytes.str();
}

struct Count {
  int passed = 0;
  int failed = 0;
};

std::string ReplayOne(const json& scenario, const Replay& replay) {
  if (!scenario.is_object()) return "not a JSON object";
  try {
    return replay(scenario);
  } catch (const json::exception& error) {
    return std::string("malformed scenario: ") + error.what();
  }
}

void ReplayLines(const std::string& text, const std::string& file, const std::string& version, const Replay& replay,
                 Count& count) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const json scenario = json::parse(line, nullptr, false);
    const auto member = [&](const char* name) {
      const bool there = scenario.is_object() && scenario.contains(name) && scenario[name].is_string();
      return there ? scenario[name].get<std::string>() : std::string("?");
    };
    if (scenario.is_object() && !version.empty() && member("spark") != version) continue;
    const std::string difference = ReplayOne(scenario, replay);
    ++(difference.empty() ? count.passed : count.failed);
    if (!difference.empty()) {
      std::printf("%s:%d %s: %s\n", file.c_str(), number, member("id").c_str(), difference.c_str());
    }
  }
}

}  // namespace

int RunJsonlOracle(int argc, char** argv, const std::string& name, const Replay& replay,
                   const std::function<std::string()>& note) {
  std::string directory;
  std::string version;
  bool usable = true;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--version" && i + 1 < argc) {
      version = argv[++i];
    } else if (directory.empty() && !argument.starts_with("--")) {
      directory = argument;
    } else {
      usable = false;
    }
  }
  if (!usable || directory.empty()) {
    std::fprintf(stderr, "usage: %s DIR [--version V]\n", name.c_str());
    return 2;
  }
  std::set<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (file.ends_with(".jsonl") || file.ends_with(".jsonl.xz")) files.insert(it->path());
  }
  Count count;
  if (error) std::printf("%s: %s\n", directory.c_str(), error.message().c_str());
  for (const fs::path& file : files) {
    if (const std::optional<std::string> text = ReadWhole(file)) {
      ReplayLines(*text, file.filename().string(), version, replay, count);
    } else {
      std::printf("%s: cannot be read\n", file.c_str());
      ++count.failed;
    }
  }
  if (error || count.passed + count.failed == 0) {
    std::printf("%s: no scenario found\n", directory.c_str());
    ++count.failed;
  }
  const std::string said = note ? note() : "";
  if (!said.empty()) std::printf("%s\n", said.c_str());
  std::printf("%d passed, %d failed\n", count.passed, count.failed);
  return count.failed == 0 ? 0 : 1;
}

}  // namespace fairlead::oracle
