#include "process/rm/operation_audit.h"

#include <utility>

namespace fairlead::process::rm {

env::Log::Fields AboutApp(const model::ApplicationId& id) { return {{"APPID", ToString(id)}}; }

env::Log::Fields AboutSubmission(const std::string& id, const std::string& queue, const std::string& label) {
  env::Log::Fields about = {{"APPID", id}};
  if (!queue.empty()) about.emplace_back("QUEUENAME", queue);
  if (!label.empty()) about.emplace_back("NODELABEL", label);
  return about;
}

void NoteOperation(const env::Audit& audit, const Operation& operation, std::optional<std::string_view> refused) {
  env::Log::Fields fields = {{"USER", operation.caller.user}};
  if (!operation.ip.empty()) fields.emplace_back("IP", operation.ip);
  fields.emplace_back("OPERATION", operation.name);
  fields.emplace_back("TARGET", operation.target);
  fields.emplace_back("RESULT", refused ? "FAILURE" : "SUCCESS");
  if (refused) {
    const bool named = !operation.failure.empty();
    fields.emplace_back("DESCRIPTION", named ? operation.failure : std::string(*refused));
    fields.emplace_back("PERMISSIONS", named ? std::string(*refused) : "UNKNOWN");
  }
  fields.insert(fields.end(), operation.about.begin(), operation.about.end());
  if (!operation.caller.real_user.empty()) fields.emplace_back("REALUSER", operation.caller.real_user);
  refused ? audit.Failure("", fields) : audit.Success("", fields);
}

}  // namespace fairlead::process::rm
