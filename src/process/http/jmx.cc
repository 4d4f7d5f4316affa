#include "process/http/jmx.h"

#include <optional>
#include <string_view>
#include <utility>

#include "process/http/json_text.h"
#include "process/http/own_process.h"

namespace fairlead::process::http {

namespace {

using nlohmann::ordered_json;

/// javax.management.ObjectName: "domain:key=value,key=value", or a pattern of such names.
struct ObjectName {
  std::string domain;
  std::map<std::string, std::string> keys;
  bool open = false;  // a pattern with ",*": further keys may be there
};

std::optional<ObjectName> ParseName(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  ObjectName name;
  name.domain = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view pair = text.substr(0, end);
    const size_t equals = pair.find('=');
    if (pair == "*") {
      name.open = true;
    } else if (equals == std::string_view::npos || equals == 0) {
      return std::nullopt;
    } else if (!name.keys.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second) {
      return std::nullopt;
    }
    if (end + 1 == text.size()) return std::nullopt;  // ends with a comma
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (name.keys.empty() && !name.open) return std::nullopt;
  return name;
}

/// '*' stands for any letters, '?' for one.
bool Fits(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t after = 0;  // where the text went on when the star was met
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool Fits(const ObjectName& pattern, const ObjectName& name) {
  if (!Fits(pattern.domain, name.domain)) return false;
  if (!pattern.open && pattern.keys.size() != name.keys.size()) return false;
  for (const auto& [key, value] : pattern.keys) {
    const auto found = name.keys.find(key);
    if (found == name.keys.end() || !Fits(value, found->second)) return false;
  }
  return true;
}

/// Always 200: Hadoop's servlet has sent that when it finds what is wrong.
Response Answer(const ordered_json& answer) {
  Response response = JsonResponse(200, JsonText(answer, 2));
  response.content_type = "application/json; charset=utf8";
  return response;
}

ordered_json Begin(const Bean& bean) { return {{"name", bean.name}, {"modelerType", bean.type}}; }

}  // namespace

Response JmxAnswer(const std::map<std::string, std::string>& query, const std::vector<Bean>& beans) {
  const auto get = query.find("get");
  const auto qry = query.find("qry");
  std::string asked = qry == query.end() ? "*:*" : qry->second;
  std::string attribute;
  if (get != query.end()) {
    const size_t split = get->second.find("::");
    attribute = split == std::string::npos ? "" : get->second.substr(split + 2);
    if (attribute.empty()) {
      return Answer({{"result", "ERROR"}, {"message", "query format is not as expected."}});
    }
    asked = get->second.substr(0, split);
  }
  const std::optional<ObjectName> pattern = ParseName(asked);
  if (!pattern) return Answer(ordered_json::object());
  ordered_json list = ordered_json::array();
  for (const Bean& bean : beans) {
    if (!Fits(*pattern, *ParseName(bean.name))) continue;
    ordered_json shown = Begin(bean);
    if (attribute.empty()) {
      shown.update(bean.attributes);
    } else if (const auto found = bean.attributes.find(attribute); found != bean.attributes.end()) {
      shown[attribute] = *found;
    } else {
      shown["result"] = "ERROR";
      shown["message"] = "No attribute with name " + attribute + " was found.";
      return Answer({{"beans", ordered_json::array({std::move(shown)})}});
    }
    list.push_back(std::move(shown));
  }
  return Answer({{"beans", std::move(list)}});
}

void AddJvmBean(const std::string& service, const std::string& host, std::vector<Bean>& beans) {
  constexpr int64_t kMib = 1 << 20;
  const auto own = ReadOwnProcess();
  if (!own) return;
  const int64_t resident = own->resident_bytes / kMib;
  beans.push_back({"Hadoop:service=" + service + ",name=JvmMetrics",
                   "JvmMetrics",
                   {{"tag.Context", "jvm"},
                    {"tag.ProcessName", service},
                    {"tag.Hostname", host},
                    {"MemHeapUsedM", resident},
                    {"MemHeapCommittedM", resident},
                    {"MemNonHeapUsedM", 0},
                    {"ThreadsRunnable", own->threads},
                    {"GcCount", 0},
                    {"GcTimeMillis", 0}}});
}

std::optional<Response> InsteadOfServlet(std::string_view path) {
  if (path == "/stacks") {
    return TextResponse(200,
                        "This is no Java program. /metrics has what its threads take; gdb -p shows their stacks.\n");
  }
  if (path == "/logLevel") {
    return TextResponse(200, "The level is set at the start: --log-level debug, info, warn or error.\n");
  }
  if (path == "/logs" || path == "/logs/") {
    return TextResponse(
        200, "Logs are not served here: the daemon writes to its standard error, or where --log-file says.\n");
  }
  return std::nullopt;
}

}  // namespace fairlead::process::http
