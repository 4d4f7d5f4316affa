#include "sim/standalone/spark_release.h"

#include <nlohmann/json.hpp>

#include "process/http/static_file.h"
#include "wire/json/json.h"

namespace fairlead::sim {

const process::http::StaticFile* FindSparkClasses(std::string_view name);  // embedded by the build

namespace {

namespace js = wire::java_stream;

endpoints::spark::SparkBuild Read() {
  endpoints::spark::SparkBuild build{"/opt/spark", "4.3.0", {}};
  const auto classes = wire::json::Parse(FindSparkClasses("4.3.0-classes.json")->bytes, wire::json::kFile);
  for (const auto& entry : *classes) {
    js::ClassShape shape{entry.at("class"), entry.at("suid"), entry.value("flags", js::kSerializable), {}, ""};
    if (entry.contains("parent") && entry.at("parent").is_string()) shape.super = entry.at("parent");
    for (const auto& field : entry.at("fields")) shape.fields.emplace_back(field.at("name"), field.at("type"));
    build.classes[shape.name] = shape;
  }
  return build;
}

}  // namespace

const endpoints::spark::SparkBuild& SimulatedSpark() {
  static const endpoints::spark::SparkBuild kBuild = Read();
  return kBuild;
}

}  // namespace fairlead::sim
