#include "shell/spark/worker_resources.h"

#include <sys/wait.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "wire/json/json.h"

namespace fairlead::shell {

namespace {

using nlohmann::json;
using Addresses = std::vector<std::string>;

constexpr std::string_view kPrefix = "spark.worker.resource.";
constexpr std::string_view kAmount = ".amount";
constexpr size_t kOutputBytesMax = 1 << 20;
constexpr size_t kFileBytesMax = 1 << 20;
/// As many as a message carries (endpoints/spark/worker_messages.h).
constexpr size_t kKindsMax = 4;

struct CloseProgram {
  void operator()(FILE* program) const { ::pclose(program); }
};

/// What a program prints. One that does not end in time, with what it has started, is killed (coreutils' timeout).
base::Result<std::string> OutputOf(const std::string& path, base::Duration deadline) {
  const std::string seconds = std::to_string(static_cast<double>(deadline.millis()) / 1000);
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  FILE* const program = ::popen(("timeout -k 5 " + seconds + " " + quoted + "'").c_str(),
                                "re");  // NOLINT(cert-env33-c): the operator names it
  if (program == nullptr) return base::Error{"cannot run " + path};
  std::unique_ptr<FILE, CloseProgram> closer(program);
  std::string output;
  std::array<char, 4096> part = {};
  while (const size_t got = std::fread(part.data(), 1, part.size(), program)) {
    output.append(part.data(), got);
    if (output.size() > kOutputBytesMax) return base::Error{path + " prints too much"};
  }
  constexpr int kTimedOut = 124;
  const int code = ::pclose(closer.release());
  if (WIFEXITED(code) && WEXITSTATUS(code) == kTimedOut) {
    return base::Error{path + " did not end within " + seconds + " s"};
  }
  if (code != 0) return base::Error{path + " failed"};
  return output;
}

/// {"addresses": ["0", "1"]}.
base::Result<Addresses> AddressesIn(const json& information, const std::string& where) {
  const auto found = information.is_object() ? information.find("addresses") : information.end();
  if (!information.is_object() || found == information.end() || !found->is_array()) {
    return base::Error{where + " says no addresses; expected {\"name\": ..., \"addresses\": [...]}"};
  }
  Addresses addresses;
  for (const json& address : *found) {
    if (!address.is_string()) return base::Error{where + ": an address that is no string: " + address.dump()};
    addresses.push_back(address.get<std::string>());
  }
  return addresses;
}

/// spark.worker.resourcesFile: [{"id": {"resourceName": NAME}, "addresses": [...]}]; nothing where it does not say
/// NAME.
base::Result<std::optional<Addresses>> AddressesInFile(const std::string& path, const std::string& name) {
  if (path.empty()) return std::optional<Addresses>();
  std::ifstream in(path);
  std::string bytes(kFileBytesMax, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(in.gcount()));
  auto parsed = wire::json::Parse(bytes, wire::json::kFile);
  if (!parsed) return base::Error{"spark.worker.resourcesFile: " + path + ": " + parsed.error().message};
  const json all = std::move(*parsed);
  if (!all.is_array()) return base::Error{"spark.worker.resourcesFile: " + path + " is no JSON array"};
  for (const json& one : all) {
    if (!one.is_object() || one.value("/id/resourceName"_json_pointer, "") != name) continue;
    auto addresses = AddressesIn(one, path);
    if (!addresses) return addresses.error();
    return std::optional(std::move(*addresses));
  }
  return std::optional<Addresses>();
}

base::Result<Addresses> Discover(const SparkProperties& properties, const std::string& name, base::Duration deadline) {
  const auto text = [&](const std::string& key) {
    const auto found = properties.find(key);
    return found != properties.end() ? found->second : std::string();
  };
  auto stated = AddressesInFile(text("spark.worker.resourcesFile"), name);
  if (!stated) return stated.error();
  if (stated->has_value()) return std::move(**stated);
  const std::string key = std::string(kPrefix) + name + ".discoveryScript";
  const std::string script = text(key);
  if (script.empty()) return base::Error{"say the program that finds its addresses: " + key};
  const auto output = OutputOf(script, deadline);
  if (!output) return base::Error{key + ": " + output.error().message};
  const auto information = wire::json::Parse(*output, wire::json::kFile);
  if (!information) return base::Error{script + " says no addresses: " + information.error().message};
  return AddressesIn(*information, script);
}

}  // namespace

base::Result<endpoints::spark::Resources> ReadWorkerResources(const SparkProperties& properties,
                                                              base::Duration deadline) {
  endpoints::spark::Resources resources;
  for (const auto& [key, value] : properties) {
    if (!key.starts_with(kPrefix) || !key.ends_with(kAmount) || key.size() <= kPrefix.size() + kAmount.size()) continue;
    const std::string name = key.substr(kPrefix.size(), key.size() - kPrefix.size() - kAmount.size());
    size_t amount = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), amount);
    if (read.ec != std::errc() || read.ptr != value.data() + value.size()) {
      return base::Error{key + ": " + value + " is no number"};
    }
    if (amount == 0) continue;
    auto addresses = Discover(properties, name, deadline);
    if (!addresses) return base::Error{key + ": " + addresses.error().message};
    if (addresses->size() < amount) {
      return base::Error{key + ": " + value + " are wanted and there are " + std::to_string(addresses->size())};
    }
    addresses->resize(amount);
    resources.emplace_back(name, std::move(*addresses));
  }
  if (resources.size() > kKindsMax) return base::Error{"a worker has at most four kinds of custom resources"};
  return resources;
}

}  // namespace fairlead::shell
