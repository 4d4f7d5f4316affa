#include "oracle/spark_rpc_recording.h"

#include <zlib.h>

#include <sstream>

namespace fairlead::oracle {
namespace {

using nlohmann::json;

constexpr std::string_view kStreamBegin = "\xAC\xED";

base::Result<std::string> Unpack(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return base::Error{"cannot open " + path};
  std::string out;
  char buffer[65536];
  int n = 0;
  while ((n = gzread(file, buffer, sizeof buffer)) > 0) out.append(buffer, static_cast<size_t>(n));
  gzclose(file);
  if (n < 0) return base::Error{"cannot read " + path};
  return out;
}

}  // namespace

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (const char byte : bytes) {
    hex.push_back("0123456789abcdef"[static_cast<uint8_t>(byte) >> 4]);
    hex.push_back("0123456789abcdef"[byte & 15]);
  }
  return hex;
}

std::string Unhex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

base::Result<std::vector<SparkMessage>> ReadSparkMessages(const std::string& folder, const std::string& release) {
  std::vector<SparkMessage> messages;
  const auto frames = Unpack(folder + "/" + release + "-frames.jsonl.gz");
  if (!frames) return frames.error();
  const auto examples = Unpack(folder + "/" + release + "-messages.json.gz");
  if (!examples) return examples.error();
  std::istringstream lines(*frames);
  for (std::string line; std::getline(lines, line);) {
    const json frame = json::parse(line);
    SparkMessage message;
    message.name = release + ", frame " + std::to_string(messages.size());
    message.type = frame.at("message");
    message.direction = frame.at("direction");
    message.frame = Unhex(frame.at("hex"));
    const size_t begin = message.frame.find(kStreamBegin);
    if (begin == std::string::npos) return base::Error{message.name + " has no object stream"};
    message.stream = message.frame.substr(begin);
    message.content = frame.at("content");
    messages.push_back(std::move(message));
  }
  for (const json& example : json::parse(*examples)) {
    SparkMessage message;
    message.name = release + ", " + example.at("name").get<std::string>();
    message.type = example.at("content").at("class");
    message.stream = Unhex(example.at("hex"));
    message.content = example.at("content");
    messages.push_back(std::move(message));
  }
  return messages;
}

base::Result<std::vector<json>> ReadMadeMessages(const std::string& folder, const std::string& release) {
  const auto text = Unpack(folder + "/" + release + "-made.jsonl.gz");
  if (!text) return text.error();
  std::vector<json> messages;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) messages.push_back(json::parse(line));
  return messages;
}

base::Result<json> ReadSparkClasses(const std::string& folder, const std::string& release) {
  const auto text = Unpack(folder + "/" + release + "-classes.json.gz");
  if (!text) return text.error();
  return json::parse(*text);
}

}  // namespace fairlead::oracle
