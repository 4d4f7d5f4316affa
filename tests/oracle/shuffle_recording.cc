#include "oracle/shuffle_recording.h"

#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace fairlead::oracle {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

base::Result<std::string> Unhex(const std::string& hex) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  std::string out;
  if (hex.size() % 2 != 0) return base::Error{"odd number of hex digits"};
  for (size_t i = 0; i < hex.size(); i += 2) {
    if (digit(hex[i]) < 0 || digit(hex[i + 1]) < 0) return base::Error{"not hex"};
    out.push_back(static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  }
  return out;
}

/// A file's content; gzip is unpacked, anything else comes as it is.
base::Result<std::string> Read(const fs::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return base::Error{"cannot open " + path.string()};
  std::string out;
  char buffer[65536];
  int n = 0;
  while ((n = gzread(file, buffer, sizeof buffer)) > 0) out.append(buffer, static_cast<size_t>(n));
  gzclose(file);
  if (n < 0) return base::Error{"cannot read " + path.string()};
  return out;
}

const std::set<std::string>& KnownFrames() {
  static const std::set<std::string> kNames = {"",
                                               "ChunkFetchRequest",
                                               "ChunkFetchSuccess",
                                               "ChunkFetchFailure",
                                               "RpcRequest",
                                               "RpcResponse",
                                               "RpcFailure",
                                               "StreamRequest",
                                               "StreamResponse",
                                               "StreamFailure",
                                               "OneWayMessage",
                                               "UploadStream",
                                               "MergedBlockMetaRequest",
                                               "MergedBlockMetaSuccess",
                                               "incomplete",
                                               "invalid",
                                               "unparsed",
                                               "raw bytes of StreamResponse"};
  return kNames;
}

base::Result<WireStep> ParseStep(const json& wire) {
  WireStep step;
  step.connection = wire.value("conn", 1);
  if (wire.contains("event")) {
    const std::string event = wire["event"];
    if (event != "server-closed" && event != "client-closed") return base::Error{"unknown event '" + event + "'"};
    step.kind = event == "server-closed" ? WireStep::Kind::kServerClosed : WireStep::Kind::kClientClosed;
    return step;
  }
  const std::string direction = wire.value("dir", "");
  if (direction != "c2s" && direction != "s2c") return base::Error{"unknown step " + wire.dump().substr(0, 100)};
  step.kind = direction == "c2s" ? WireStep::Kind::kToServer : WireStep::Kind::kToClient;
  step.frame = wire.value("frame", "");
  if (!KnownFrames().contains(step.frame)) return base::Error{"unknown frame '" + step.frame + "'"};
  if (wire.contains("error")) step.error = wire["error"].get<std::string>();
  const auto bytes = Unhex(wire.value(step.error && !wire.contains("hex") ? "hex_head" : "hex", ""));
  if (!bytes.ok()) return bytes.error();
  step.bytes = *bytes;
  if (step.bytes.empty() && !step.error) return base::Error{"a step without bytes"};
  return step;
}

base::Result<ShuffleRecording> ParseRecording(const std::string& name, const std::string& text) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("exchanges") || !document["exchanges"].is_array()) {
    return base::Error{name + " is not a recording"};
  }
  ShuffleRecording out;
  out.name = name;
  out.spark = document.value("spark", "");
  out.mode = document.value("mode", "");
  out.app = document.value("app", "");
  out.root = document.value("root", "");
  out.secret = document.value("secret", "");
  for (const json& item : document["exchanges"]) {
    if (item.contains("session_keys")) {
      for (const auto& [key, value] : item["session_keys"].items()) {
        const auto bytes = Unhex(value.get<std::string>());
        out.session_keys[key] = bytes.ok() ? *bytes : value.get<std::string>();
      }
      continue;
    }
    Exchange exchange{item.value("name", ""), {}};
    if (!item.contains("wire") || !item["wire"].is_array())
      return base::Error{name + ": " + exchange.name + " has no wire"};
    for (const json& wire : item["wire"]) {
      auto step = ParseStep(wire);
      if (!step.ok()) return base::Error{name + ": " + exchange.name + ": " + step.error().message};
      exchange.steps.push_back(*std::move(step));
    }
    out.exchanges.push_back(std::move(exchange));
  }
  return out;
}

/// The regular files of a tar archive (ustar), without the first component of their names.
std::map<std::string, std::string> Untar(const std::string& archive) {
  std::map<std::string, std::string> out;
  for (size_t at = 0; at + 512 <= archive.size() && archive[at] != '\0';) {
    const std::string name = archive.substr(at, 100).c_str();
    const size_t size = std::stoul(archive.substr(at + 124, 11), nullptr, 8);
    const char type = archive[at + 156];
    if (type == '0' || type == '\0') out[name.substr(name.find('/') + 1)] = archive.substr(at + 512, size);
    at += 512 + (size + 511) / 512 * 512;
  }
  return out;
}

bool EndsWith(const std::string& name, const std::string& end) {
  return name.ends_with(end) || name.ends_with(end + ".gz");
}

}  // namespace

base::Result<ShuffleRecordings> ReadShuffleRecordings(const fs::path& folder) {
  ShuffleRecordings out;
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file()) paths.push_back(it->path());
  }
  if (error) return base::Error{"cannot read " + folder.string() + ": " + error.message()};
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    const std::string relative = fs::relative(path, folder).generic_string();
    const std::string name = path.filename().string();
    const bool is_block = relative.starts_with("files/");
    if (!is_block && (name.ends_with(".md") || name.ends_with(".py"))) continue;
    const auto text = Read(path);
    if (!text.ok()) return text.error();
    if (is_block) {
      out.blocks[relative.substr(6)] = *text;
    } else if (name == "files.tar.gz") {
      out.blocks.merge(Untar(*text));
    } else if (EndsWith(name, ".json")) {
      auto recording = ParseRecording(name.substr(0, name.rfind(".json")), *text);
      if (!recording.ok()) return recording.error();
      out.files.push_back(*std::move(recording));
    } else if (EndsWith(name, "file-paths.tsv")) {
      std::istringstream lines(*text);
      std::string line;
      std::getline(lines, line);
      while (std::getline(lines, line)) out.path_vectors.push_back(line);
    } else {
      return base::Error{"do not know what to do with " + relative};
    }
  }
  if (out.files.empty()) return base::Error{"no recording in " + folder.string()};
  return out;
}

}  // namespace fairlead::oracle
