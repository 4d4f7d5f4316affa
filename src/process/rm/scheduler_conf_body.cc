#include "process/rm/scheduler_conf_body.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "endpoints/rest/request_body.h"

namespace fairlead::process::rm {

namespace rest = endpoints::rest;
using nlohmann::json;

namespace {

using Names = std::initializer_list<std::string_view>;
constexpr char kMapForm[] = R"(write {"entry": [{"key": NAME, "value": TEXT}]})";

/// Refuses what is no object of these members alone; an element of XML without any is an empty text.
base::Status CheckMembers(const json& value, const std::string& where, const Names& names, const std::string& form) {
  if (value == json("")) return {};
  if (!value.is_object()) return base::Error{where + " has " + value.type_name() + " where an object is due; " + form};
  for (const auto& [name, member] : value.items()) {
    if (std::ranges::find(names, name) == names.end()) {
      return base::Error{where + " has an unknown field '" + name + "'; " + form};
    }
  }
  return {};
}

/// The last that `object[key]` holds; nothing where it is missing, null, or no text, number or switch.
std::optional<std::string> LastText(const json& object, const char* key) {
  const std::vector<json> given = rest::Items(object, key);
  if (given.empty() || given.back().is_null() || given.back().is_structured()) return {};
  return rest::Text(json{{key, given.back()}}, key);
}

/// Java's HashMap<String, String> as JAXB writes it.
base::Result<config::Properties> MapOf(const json& object, const char* key) {
  config::Properties map;
  for (const json& part : rest::Items(object, key)) {
    if (base::Status checked = CheckMembers(part, key, {"entry"}, kMapForm); !checked.ok()) return checked.error();
    for (const json& entry : rest::Items(part, "entry")) {
      const base::Status checked = CheckMembers(entry, std::string("an entry of ") + key, {"key", "value"}, kMapForm);
      if (!checked.ok()) return checked.error();
      const std::optional<std::string> name = LastText(entry, "key");
      const std::optional<std::string> value = LastText(entry, "value");
      if (!name) return base::Error{std::string("an entry of ") + key + " has no key; " + kMapForm};
      if (!value && !rest::Items(entry, "value").empty()) {
        return base::Error{"the value of '" + *name + "' in " + key + " is no text; " + kMapForm};
      }
      map[*name] = value.value_or("");
    }
  }
  return map;
}

base::Result<std::vector<config::CapacityChange::Queue>> QueuesOf(const json& body, const char* key) {
  std::vector<config::CapacityChange::Queue> queues;
  for (const json& queue : rest::Items(body, key)) {
    const base::Status checked = CheckMembers(queue, key, {"queue-name", "params"},
                                              R"(write {"queue-name": PATH, "params": {"entry": [...]}} or a list)");
    if (!checked.ok()) return checked.error();
    const std::string path = LastText(queue, "queue-name").value_or("");
    if (path.empty()) return base::Error{std::string(key) + " has no queue-name"};
    base::Result<config::Properties> keys = MapOf(queue, "params");
    if (!keys.ok()) return keys.error();
    queues.push_back({path, std::move(*keys)});
  }
  return queues;
}

}  // namespace

base::Result<config::CapacityChange> ConfChangeOf(std::string_view content_type, std::string_view text) {
  // Of JSON Hadoop reads the fields alone, not one that holds them.
  const base::Result<json> body = rest::ParseBody(content_type, text, "", "sched-conf");
  if (!body.ok()) return body.error();
  const base::Status checked = CheckMembers(
      *body, "the change", {"remove-queue", "add-queue", "update-queue", "global-updates", "global", "subClusterId"},
      "it may have remove-queue, add-queue, update-queue and global-updates");
  if (!checked.ok()) return checked.error();
  config::CapacityChange change;
  for (const json& path : rest::Items(*body, "remove-queue")) {
    if (!path.is_string()) return base::Error{"remove-queue is to be a queue's path"};
    change.remove.push_back(path.get<std::string>());
  }
  auto added = QueuesOf(*body, "add-queue");
  if (!added.ok()) return added.error();
  auto updated = QueuesOf(*body, "update-queue");
  if (!updated.ok()) return updated.error();
  auto global = MapOf(*body, "global-updates");
  if (!global.ok()) return global.error();
  auto field = MapOf(*body, "global");  // the name of the field in Java: Hadoop's own clients write both
  if (!field.ok()) return field.error();
  global->merge(*field);
  change.add = std::move(*added);
  change.update = std::move(*updated);
  change.global = std::move(*global);
  return change;
}

}  // namespace fairlead::process::rm
