#include <nlohmann/json.hpp>

#include "engine/io/sources.h"
#include "engine/records/errors.h"
#include "wire/json/json.h"

namespace fairlead::engine {

namespace {

using nlohmann::json;

/// The member `name`, or the one that it leads to with a dot for each object between; null where there is none.
const json* FindMember(const json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  if (const auto direct = object.find(name); direct != object.end()) return &*direct;
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto outer = object.find(name.substr(0, dot));
  return outer == object.end() ? nullptr : FindMember(*outer, name.substr(dot + 1));
}

/// `scratch` holds what the field's text points to, as does `member`.
JsonField FieldOf(const json* member, std::string& scratch) {
  if (member == nullptr || member->is_null()) return {};
  if (member->is_string()) return {JsonField::Kind::kString, member->get_ref<const std::string&>()};
  scratch = member->dump(-1, ' ', false, json::error_handler_t::replace);
  return {JsonField::Kind::kOther, scratch};
}

}  // namespace

void ReadJsonLines(TaskContext& task, const FileSplit& split, const JsonLayout& layout,
                   const std::function<int(std::span<const JsonField> fields)>& use) {
  std::vector<JsonField> fields(layout.names.size());
  std::vector<std::string> scratch(layout.names.size());
  int64_t row = 0;
  const auto bad = [&](std::string_view line, const std::string& why) {
    if (layout.count_bad) {
      ++task.metrics.bad_records;
      return;
    }
    throw TaskError(split.path + ", line " + std::to_string(row) + " of the part at byte " +
                    std::to_string(split.offset) + ": " + why + ": " + std::string(line.substr(0, 200)));
  };
  ReadLines(task, split, [&](std::string_view line) {
    ++row;
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    const base::Result<json> object = wire::json::Parse(line, wire::json::kFile);
    if (!object.ok()) return bad(line, object.error().message);
    if (!object->is_object()) return bad(line, "it is no JSON object");
    for (size_t i = 0; i < fields.size(); ++i) fields[i] = FieldOf(FindMember(*object, layout.names[i]), scratch[i]);
    const int failed = use(fields);
    if (failed < 0) return;
    const size_t i = static_cast<size_t>(failed);
    bad(line, fields[i].kind == JsonField::Kind::kAbsent
                  ? "there is no " + layout.names[i]
                  : std::string(fields[i].text.substr(0, 60)) + " is no value for " + layout.names[i]);
  });
}

void CheckColumns(const std::string& what, size_t names, size_t fields) {
  if (names == fields) return;
  throw JobError(what + ": " + std::to_string(names) + " columns are named for a record of " + std::to_string(fields) +
                 " fields");
}

}  // namespace fairlead::engine
