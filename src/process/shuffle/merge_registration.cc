#include "process/shuffle/merge_registration.h"

#include <nlohmann/json.hpp>

#include "endpoints/shuffle/streams.h"
#include "shuffle/core.h"
#include "wire/json/json.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::process::shuffle {
namespace {

using model::shuffle::MergeDirs;
using nlohmann::json;

constexpr const char* kIllegal = "java.lang.IllegalArgumentException: ";

/// A member as Jackson's Map<String, String> has it; nullopt: it is missing or null.
std::optional<std::string> TextOf(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->is_string() ? found->get<std::string>() : found->dump();
}

bool IsFlat(const json& object) {
  if (!object.is_object()) return false;
  for (const auto& [name, value] : object.items()) {
    if (value.is_structured()) return false;
  }
  return true;
}

/// The object at the front alone: Jackson reads no further, and Spark's own executors write two braces too many
/// (BlockManager.registerWithExternalShuffleServer).
std::string_view FirstObject(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        quoted = false;
    } else if (text[i] == '"') {
      quoted = true;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == '}' && --depth <= 0) {
      return text.substr(0, i + 1);
    }
  }
  return text;
}

}  // namespace

bool IsOneName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of("/\\") == std::string::npos &&
         name.find('\0') == std::string::npos;
}

base::Result<std::optional<MergeDirs>> ReadMergeDirs(const std::vector<std::string>& local_dirs, int32_t sub_dirs,
                                                     const std::string& shuffle_manager,
                                                     const std::vector<std::string>& roots) {
  const size_t colon = shuffle_manager.find(':');
  if (colon == std::string::npos) return std::optional<MergeDirs>();
  const auto meta =
      wire::json::Parse(FirstObject(std::string_view(shuffle_manager).substr(colon + 1)), wire::json::kRequest);
  if (!meta.ok() || !IsFlat(*meta)) return std::optional<MergeDirs>();
  const auto attempt = endpoints::shuffle::JavaParseInt(TextOf(*meta, "attemptId").value_or("-1"));
  if (!attempt.ok()) return attempt.error();
  const auto name = TextOf(*meta, "mergeDir");
  const std::string from = " from the shuffleManagerMeta " + shuffle_manager + " in executor registration message";
  if (!name) return base::Error{std::string(kIllegal) + "Failed to get the merge directory information" + from};
  if (!IsOneName(*name)) return base::Error{std::string(kIllegal) + "Invalid merge directory name " + *name + from};
  MergeDirs out;
  out.attempt = *attempt;
  out.dirs.sub_dirs_per_local_dir = sub_dirs;
  for (const std::string& dir : local_dirs) {
    const std::string path = wire::spark_shuffle::NormalizedPath(dir);
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos || path.size() == 1) {
      return base::Error{std::string(kIllegal) + "Local directory has no parent: " + dir};
    }
    const std::string parent = path.substr(0, std::max<size_t>(slash, 1));
    out.dirs.dirs.push_back(
        fairlead::shuffle::PlaceDir(wire::spark_shuffle::NormalizedPath(parent + "/" + *name), roots));
  }
  return std::optional<MergeDirs>(std::move(out));
}

}  // namespace fairlead::process::shuffle
