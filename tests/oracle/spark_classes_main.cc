// oracle_spark_classes HOME RELEASE: the descriptions that are made from the class files of an installed Spark against
// those that its own Java virtual machine wrote. Ends with "N passed, N failed".
#include <cstdio>

#include "oracle/spark_rpc_recording.h"
#include "shell/spark/spark_home.h"

namespace {

using fairlead::wire::java_stream::ClassShape;

std::string Difference(const nlohmann::json& recorded, const ClassShape& shape) {
  if (shape.suid != recorded.at("suid").get<int64_t>()) return "serialVersionUID " + std::to_string(shape.suid);
  if (recorded.contains("flags") && shape.flags != recorded["flags"]) return "flags " + std::to_string(shape.flags);
  if (recorded.contains("parent") &&
      shape.super != (recorded["parent"].is_string() ? recorded["parent"].get<std::string>() : "")) {
    return "parent " + shape.super;
  }
  nlohmann::json fields = nlohmann::json::array();
  for (const auto& [name, type] : shape.fields) fields.push_back({{"name", name}, {"type", type}});
  return fields == recorded.at("fields") ? "" : "fields " + fields.dump();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fairlead;
  if (argc != 3) return std::fputs("usage: oracle_spark_classes HOME RELEASE\n", stderr), 2;
  const auto recorded = oracle::ReadSparkClasses(FAIRLEAD_SOURCE_DIR "/tests/oracles/spark-rpc", argv[2]);
  const auto classes = shell::ReadSparkClassFiles(argv[1]);
  if (!recorded.ok() || !classes.ok()) {
    std::fprintf(stderr, "%s\n", (recorded.ok() ? classes.error() : recorded.error()).message.c_str());
    return 2;
  }
  int passed = 0;
  int failed = 0;
  for (const nlohmann::json& entry : *recorded) {
    const std::string name = entry.at("class");
    if (!classes->Has(name)) continue;  // of another jar
    fairlead::wire::java_stream::ClassCatalog catalog;
    const base::Status added = fairlead::wire::java_stream::AddClass(name, classes->source(), catalog);
    const std::string difference = added.ok() ? Difference(entry, catalog.at(name)) : added.error().message;
    ++(difference.empty() ? passed : failed);
    if (!difference.empty()) std::printf("%s: %s\n", name.c_str(), difference.c_str());
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return passed > 0 && failed == 0 ? 0 : 1;
}
