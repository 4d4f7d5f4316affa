#include "engine/settings/job_settings.h"

#include <nlohmann/json.hpp>

#include "wire/hadoop_rpc/base64.h"
#include "wire/json/json.h"

namespace fairlead::engine {

using nlohmann::json;

namespace {

json AllFields(const JobSettings& settings) {
  json out = json::object();
  JobSettings::VisitFields(settings, [&](std::string_view name, const auto& value) { out[std::string(name)] = value; });
  return out;
}

}  // namespace

std::string EncodeJobSettings(const JobSettings& settings) {
  const json all = AllFields(settings);
  const json usual = AllFields({});
  json out = json::object();
  for (const auto& [name, value] : all.items()) {
    if (value != usual[name]) out[name] = value;
  }
  return wire::hadoop_rpc::EncodeBase64(out.dump(-1, ' ', false, json::error_handler_t::replace));
}

base::Result<JobSettings> DecodeJobSettings(const std::string& text) {
  const auto bytes = wire::hadoop_rpc::DecodeBase64(text);
  const auto parsed = wire::json::Parse(bytes.value_or(""), wire::json::kFile);
  json given = parsed ? *parsed : json();
  if (!given.is_object()) return base::Error{std::string(kEnvJobSettings) + " holds no JSON object in base64"};
  JobSettings settings;
  std::string wrong;
  JobSettings::VisitFields(settings, [&](std::string_view name, auto& value) {
    const auto found = given.find(name);
    if (found == given.end()) return;
    try {
      found->get_to(value);
    } catch (const json::exception& error) {
      wrong = std::string(name) + ": " + error.what();
    }
    given.erase(found);
  });
  if (!wrong.empty()) return base::Error{std::string(kEnvJobSettings) + ": " + wrong};
  if (!given.empty()) {
    return base::Error{"this job's Fairlead does not know the option " + given.begin().key() +
                       " of `fairlead submit`: build the job with the release that submits it"};
  }
  return settings;
}

}  // namespace fairlead::engine
