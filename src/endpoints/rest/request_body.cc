#include "endpoints/rest/request_body.h"

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>
#include <utility>
#include <vector>

#include "base/percent.h"
#include "endpoints/yarn/credentials.h"
#include "endpoints/yarn/rm_convert.h"
#include "wire/json/json.h"
#include "wire/xml/xml.h"

namespace fairlead::endpoints::rest {

namespace w = wire::yarn;
namespace yarn = endpoints::yarn;
using nlohmann::json;

namespace {

/// XML elements as JSON: repeated names become arrays, texts strings.
json FromXml(const pugi::xml_node& node) {
  json object = json::object();
  bool any = false;
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    any = true;
    json value = FromXml(child);
    if (!object.contains(child.name())) {
      object[child.name()] = std::move(value);
      continue;
    }
    json& there = object[child.name()];
    if (!there.is_array()) there = json::array({there});
    there.push_back(std::move(value));
  }
  return any ? object : json(node.text().as_string());
}

}  // namespace

base::Result<json> ParseBody(std::string_view content_type, std::string_view body_text, const char* root,
                             const char* xml_root) {
  if (content_type.find("xml") != std::string_view::npos) {
    pugi::xml_document document;
    if (const auto loaded = wire::xml::Load(document, body_text, wire::xml::kRequest); !loaded) {
      return base::Error{(loaded.error().too_large ? "" : "the body is not XML: ") + loaded.error().message};
    }
    const std::string name = document.document_element().name();
    const std::string expected = xml_root == nullptr ? root : xml_root;
    if (name != expected) {
      return base::Error{"unexpected element (uri:\"\", local:\"" + name + "\"). Expected elements are <{}" + expected +
                         ">"};
    }
    return FromXml(document.document_element());
  }
  base::Result<json> body = wire::json::Parse(body_text, wire::json::kRequest);
  if (!body) return body;
  if (!body->is_object()) return base::Error{"the body is not a JSON object"};
  if (body->size() == 1 && body->contains(root)) *body = json(std::move((*body)[root]));
  return body;
}

std::string Text(const json& object, const char* key, const std::string& fallback) {
  if (!object.is_object() || !object.contains(key)) return fallback;
  const json& value = object[key];
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() || value.is_structured() ? fallback : value.dump();
}
int64_t Number(const json& object, const char* key, int64_t fallback) {
  const std::string text = Text(object, key);
  if (text.empty()) return fallback;
  return std::strtoll(text.c_str(), nullptr, 10);
}

int32_t SmallNumber(const json& object, const char* key, int32_t fallback) {
  return static_cast<int32_t>(std::clamp<int64_t>(Number(object, key, fallback), INT32_MIN, INT32_MAX));
}

std::vector<json> Items(const json& object, const char* key, const char* inner) {
  if (!object.is_object() || !object.contains(key)) return {};
  json value = object[key];
  if (inner && value.is_object()) {
    if (!value.contains(inner)) return {};
    value = json(value[inner]);
  }
  if (value.is_array()) return value.get<std::vector<json>>();
  if (value.is_null()) return {};
  return {value};
}

namespace {

bool Flag(const json& object, const char* key) { return Text(object, key) == "true"; }

std::string FromBase64Url(const std::string& text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    int value = -1;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    if (c >= '0' && c <= '9') value = c - '0' + 52;
    if (c == '+' || c == '-') value = 62;
    if (c == '/' || c == '_') value = 63;
    if (value < 0) continue;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  return out;
}

/// -1 for what is no port, as java.net.URI has it.
int32_t PortOf(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() ? port : -1;
}

/// "scheme://host:port/path" of a local resource.
w::URLProto UrlOf(const std::string& text) {
  w::URLProto url;
  const size_t colon = text.find(':');
  std::string rest = text;
  if (colon != std::string::npos) {
    url.scheme = text.substr(0, colon);
    rest = text.substr(colon + 1);
  }
  url.port = -1;
  if (rest.starts_with("//")) {
    const size_t slash = rest.find('/', 2);
    const std::string authority = rest.substr(2, slash == std::string::npos ? std::string::npos : slash - 2);
    rest = slash == std::string::npos ? "/" : rest.substr(slash);
    const size_t port = authority.rfind(':');
    if (!authority.empty()) url.host = authority.substr(0, port);
    if (port != std::string::npos) url.port = PortOf(std::string_view(authority).substr(port + 1));
  }
  url.file = base::PercentDecode(rest, false);
  return url;
}

w::ContainerLaunchContextProto LaunchContextOf(const json& spec) {
  w::ContainerLaunchContextProto context;
  for (const json& entry : Items(spec, "local-resources", "entry")) {
    const json value = entry.is_object() && entry.contains("value") ? entry["value"] : json::object();
    w::StringLocalResourceMapProto& resource = context.local_resources.emplace_back();
    resource.key = Text(entry, "key");
    resource.value.emplace();
    resource.value->resource = UrlOf(Text(value, "resource"));
    resource.value->size = Number(value, "size", 0);
    resource.value->timestamp = Number(value, "timestamp", 0);
    const std::string type = Text(value, "type");
    resource.value->type = type == "ARCHIVE"   ? w::LocalResourceTypeProto::kArchive
                           : type == "PATTERN" ? w::LocalResourceTypeProto::kPattern
                                               : w::LocalResourceTypeProto::kFile;
    const std::string visibility = Text(value, "visibility");
    resource.value->visibility = visibility == "PUBLIC"    ? w::LocalResourceVisibilityProto::kPublic
                                 : visibility == "PRIVATE" ? w::LocalResourceVisibilityProto::kPrivate
                                                           : w::LocalResourceVisibilityProto::kApplication;
  }
  for (const json& entry : Items(spec, "environment", "entry")) {
    w::StringStringMapProto& variable = context.environment.emplace_back();
    variable.key = Text(entry, "key");
    variable.value = Text(entry, "value");
  }
  for (const json& command : Items(spec, "commands", "command")) {
    if (command.is_string()) context.command.push_back(command.get<std::string>());
  }
  for (const json& entry : Items(spec, "service-data", "entry")) {
    w::StringBytesMapProto& data = context.service_data.emplace_back();
    data.key = Text(entry, "key");
    data.value = FromBase64Url(Text(entry, "value"));
  }
  for (const json& entry : Items(spec, "application-acls", "entry")) {
    w::ApplicationACLMapProto& acl = context.application_acls.emplace_back();
    acl.access_type = Text(entry, "key") == "MODIFY_APP" ? w::ApplicationAccessTypeProto::kModifyApp
                                                         : w::ApplicationAccessTypeProto::kViewApp;
    acl.acl = Text(entry, "value");
  }
  return context;
}

/// LogAggregationContextInfo.
w::LogAggregationContextProto LogContextOf(const json& given) {
  w::LogAggregationContextProto context;
  const auto take = [&](const char* name, std::optional<std::string>& field) {
    if (given.is_object() && given.contains(name)) field = Text(given, name);
  };
  take("log-include-pattern", context.include_pattern);
  take("log-exclude-pattern", context.exclude_pattern);
  take("rolled-log-include-pattern", context.rolled_logs_include_pattern);
  take("rolled-log-exclude-pattern", context.rolled_logs_exclude_pattern);
  take("log-aggregation-policy-class-name", context.log_aggregation_policy_class_name);
  take("log-aggregation-policy-parameters", context.log_aggregation_policy_parameters);
  return context;
}

/// Tokens as addresses carry them, secrets in base64 (CredentialsInfo, RMWebServices.createCredentials); "" of none.
base::Result<std::string> CredentialsOf(const json& spec) {
  if (!spec.is_object() || !spec.contains("credentials")) return std::string();
  const json& given = spec["credentials"];
  yarn::Credentials out;
  for (const json& entry : Items(given, "tokens", "entry")) {
    base::Result<yarn::RpcToken> token = yarn::ParseWritableToken(FromBase64Url(Text(entry, "value")));
    if (!token.ok()) return base::Error{"Could not parse credentials data: " + token.error().message};
    out.tokens[Text(entry, "key")] = std::move(*token);
  }
  for (const json& entry : Items(given, "secrets", "entry")) {
    out.secrets[Text(entry, "key")] = FromBase64Url(Text(entry, "value"));
  }
  return yarn::EncodeCredentials(out);
}

}  // namespace

constexpr char kAppLabel[] = "app-node-label-expression";
constexpr char kMasterLabel[] = "am-container-node-label-expression";

namespace {

/// What the other fields leave no place for: the label of the master's container (RMWebAppUtil).
w::ResourceRequestProto MasterAskOf(const w::ApplicationSubmissionContextProto& context, const json& body) {
  w::ResourceRequestProto ask;
  ask.resource_name = "*";
  ask.capability = context.resource;
  ask.num_containers = 1;
  ask.relax_locality = true;
  ask.node_label_expression = Text(body, kMasterLabel);
  return ask;
}

}  // namespace

// ApplicationSubmissionContextInfo: a priority that is not said is Priority.UNDEFINED, and counts as one that is.
constexpr int32_t kNoPriority = -1;

base::Result<w::ApplicationSubmissionContextProto> SubmissionOf(const json& body) {
  w::ApplicationSubmissionContextProto context;
  const base::Result<model::ApplicationId> id = model::ParseApplicationId(Text(body, "application-id"));
  if (!id.ok()) return base::Error{"application-id: " + id.error().message};
  context.application_id = endpoints::yarn::ToWire(*id);
  if (body.contains("application-name")) context.application_name = Text(body, "application-name");
  if (body.contains("queue")) context.queue = Text(body, "queue");
  if (body.contains("application-type")) context.application_type = Text(body, "application-type");
  context.priority = endpoints::yarn::PriorityToWire(SmallNumber(body, "priority", kNoPriority));
  context.unmanaged_am = Flag(body, "unmanaged-AM");
  context.max_app_attempts = SmallNumber(body, "max-app-attempts", 0);
  context.keep_containers_across_application_attempts = Flag(body, "keep-containers-across-application-attempts");
  if (body.contains("attempt-failures-validity-interval")) {
    context.attempt_failures_validity_interval = Number(body, "attempt-failures-validity-interval", -1);
  }
  for (const json& tag : Items(body, "application-tags", "tag")) {
    if (tag.is_string()) context.application_tags.push_back(tag.get<std::string>());
  }
  const json resource = body.contains("resource") ? body["resource"] : json::object();
  context.resource =
      endpoints::yarn::ToWire(model::Resources::Of(Number(resource, "memory", 1024), Number(resource, "vCores", 1)));
  if (body.contains(kAppLabel)) context.node_label_expression = Text(body, kAppLabel);
  if (body.contains(kMasterLabel)) context.am_container_resource_request = {MasterAskOf(context, body)};
  if (body.contains("am-container-spec")) context.am_container_spec = LaunchContextOf(body["am-container-spec"]);
  if (!context.am_container_spec) context.am_container_spec.emplace();
  if (body.contains("log-aggregation-context"))
    context.log_aggregation_context = LogContextOf(body["log-aggregation-context"]);
  base::Result<std::string> credentials =
      CredentialsOf(body.contains("am-container-spec") ? body["am-container-spec"] : json());
  if (!credentials.ok()) return credentials.error();
  if (!credentials->empty()) context.am_container_spec->tokens = std::move(*credentials);
  return context;
}

}  // namespace fairlead::endpoints::rest
