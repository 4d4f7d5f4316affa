#include "process/spark_master/rest_submission.h"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <nlohmann/json.hpp>

#include "process/http/json_text.h"
#include "process/spark_master/submission_calls.h"
#include "wire/json/json.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace sa = model::standalone;
using nlohmann::ordered_json;

namespace {

constexpr int kUnknownVersion = 468;
/// Messages of the protocol that are no requests.
constexpr std::array kOtherMessages = {"CreateSubmissionResponse", "KillSubmissionResponse", "SubmissionStatusResponse",
                                       "ErrorResponse"};

http::Response JsonAnswer(int status, const ordered_json& answer) {
  return http::JsonResponse(status, http::JsonText(answer, 2));
}

}  // namespace

// ---- answers -------------------------------------------------------------------------------------------------------

http::Response RestSubmission::Error(int status, const std::string& message, bool wrong_version) const {
  ordered_json answer = {{"action", "ErrorResponse"}};
  if (wrong_version) answer["highestProtocolVersion"] = "v1";
  answer["message"] = message;
  answer["serverSparkVersion"] = version_;
  return JsonAnswer(status, answer);
}

/// A path that leads nowhere (ErrorServlet).
http::Response RestSubmission::WrongPath(const std::string& path) const {
  std::vector<std::string> parts;
  boost::algorithm::split(parts, path, boost::algorithm::is_any_of("/"));
  std::erase(parts, "");
  const std::string where = " Please submit requests through http://[host]:[port]/v1/submissions/...";
  if (parts.empty()) return Error(400, "Missing protocol version." + where);
  if (parts[0] != "v1") return Error(kUnknownVersion, "Unknown protocol version '" + parts[0] + "'." + where, true);
  if (parts.size() == 1 || parts[1] != "submissions") return Error(400, "Missing the /submissions prefix." + where);
  return Error(
      400, std::string("Missing an action: please specify one of ") +
               (spark4_ ? "/create, /kill, /killall, /clear, /status, or /readyz." : "/create, /kill, or /status.") +
               where);
}

void RestSubmission::Handle(const http::Request& request, const Reply& reply) {
  constexpr std::string_view kPrefix = "/v1/submissions/";
  if (!request.path.starts_with(kPrefix)) return reply(WrongPath(request.path));
  const std::string rest = request.path.substr(kPrefix.size());
  const size_t slash = rest.find('/');
  const std::string action = rest.substr(0, slash);
  std::string id = slash == std::string::npos ? "" : rest.substr(slash + 1);
  id.resize(std::min(id.find('/'), id.size()));  // what follows the id means nothing
  const bool known = action == "create" || action == "kill" || action == "status" ||
                     (spark4_ && (action == "killall" || action == "clear" || action == "readyz"));
  if (!known) return reply(WrongPath(request.path));
  const bool reads = action == "status" || action == "readyz";
  if (request.method != (reads ? "GET" : "POST")) {
    return reply(http::TextResponse(405, "HTTP method " + request.method + " is not supported by this URL"));
  }
  if ((action == "kill" || action == "status") && id.empty()) {
    return reply(Error(400, "Submission ID is missing in " + action + " request."));
  }
  if (master_.cluster().standby()) return reply(InStandby(action, id));
  if (action == "create") return Create(request, reply);
  if (action == "kill") return Kill(id, reply);
  if (action == "killall") return KillAll(reply);
  if (action == "status") return Status(id, reply);
  if (action == "clear") master_.cluster().ClearCompleted();
  reply(JsonAnswer(200, {{"action", action == "clear" ? "ClearResponse" : "ReadyzResponse"},
                         {"message", ""},
                         {"serverSparkVersion", version_},
                         {"success", true}}));
}

/// Another master is to be asked (Master.receiveAndReply).
http::Response RestSubmission::InStandby(const std::string& action, const std::string& id) const {
  if (action == "readyz") return Error(503, "Master is not ready.");
  const std::string no_kill = OnlyWhenAlive("kill drivers");
  const std::map<std::string, std::pair<const char*, std::string>> answers = {
      {"create", {"CreateSubmissionResponse", OnlyWhenAlive("accept driver submissions")}},
      {"kill", {"KillSubmissionResponse", no_kill}},
      {"killall", {"KillAllSubmissionResponse", no_kill}},
      {"clear", {"ClearResponse", ""}},
      {"status",
       {"SubmissionStatusResponse", "Exception from the cluster:\n" + OnlyWhenAlive("request driver status")}}};
  const auto& [name, message] = answers.at(action);
  ordered_json answer = {{"action", name}, {"message", message}, {"serverSparkVersion", version_}};
  if (!id.empty()) answer["submissionId"] = id;
  answer["success"] = action == "clear";
  return JsonAnswer(200, answer);
}

void RestSubmission::Create(const http::Request& request, const Reply& reply) {
  const auto parsed = wire::json::ParseOrdered(request.body, wire::json::kRequest);
  if (!parsed) return reply(Error(400, "Malformed request: " + parsed.error().message));
  const ordered_json& body = *parsed;
  if (!body.is_object()) return reply(Error(400, "Malformed request: it is no JSON object"));
  const auto action = body.find("action");
  if (action == body.end()) return reply(Error(400, "Malformed request: Action field not found in JSON"));
  if (*action != "CreateSubmissionRequest") {
    const bool known = std::ranges::find(kOtherMessages, *action) != kOtherMessages.end();
    const std::string what = action->is_string() ? action->get<std::string>() : action->dump();
    constexpr size_t kShown = 256;
    const std::string message = "Received message of unexpected type " + what.substr(0, kShown) + ".";
    // Of a message that is none Spark's servlet fails, and its container answers.
    return reply(known ? Error(400, message) : http::TextResponse(500, message + "\n"));
  }
  auto driver = ReadCreateRequest(body, {master_.cluster().url(), port_, spark4_, variables_});
  if (!driver) return reply(Error(400, "Malformed request: " + driver.error().message));
  Submission submission;
  submission.description = std::move(*driver);
  submission.from = request.peer;
  master_.cluster().SubmitDriver(std::move(submission), [reply, version = version_, unknown = UnknownFields(body)](
                                                            const base::Result<std::string>& id) {
    ordered_json answer = {{"action", "CreateSubmissionResponse"},
                           {"message", id.ok() ? "Driver successfully submitted as " + *id : id.error().message},
                           {"serverSparkVersion", version}};
    if (id.ok()) answer["submissionId"] = *id;
    answer["success"] = id.ok();
    if (!unknown.empty()) answer["unknownFields"] = unknown;
    reply(JsonAnswer(200, answer));
  });
}

void RestSubmission::Kill(const std::string& id, const Reply& reply) {
  master_.cluster().KillDriver(id, [reply, id, version = version_](bool known) {
    reply(JsonAnswer(200, {{"action", "KillSubmissionResponse"},
                           {"message", known ? "Kill request for " + id + " submitted"
                                             : "Driver " + id + " has already finished or does not exist"},
                           {"serverSparkVersion", version},
                           {"submissionId", id},
                           {"success", known}}));
  });
}

void RestSubmission::KillAll(const Reply& reply) {
  for (const std::string& id : master_.cluster().LiveDrivers()) master_.cluster().KillDriver(id, [](bool) {});
  reply(JsonAnswer(200, {{"action", "KillAllSubmissionResponse"},
                         {"message", "Kill request for all drivers submitted"},
                         {"serverSparkVersion", version_},
                         {"success", true}}));
}

void RestSubmission::Status(const std::string& id, const Reply& reply) {
  ordered_json answer = {{"action", "SubmissionStatusResponse"}};
  const auto index = master_.cluster().records().ShownDriver(id);
  if (index) {
    const scheduler::standalone::Driver& driver = master_.cluster().core().drivers()[*index];
    const std::string& exception = master_.cluster().records().drivers()[*index].exception;
    answer["driverState"] = EnumName(driver.state);
    if (!exception.empty()) answer["message"] = "Exception from the cluster:\n" + exception;
    answer["serverSparkVersion"] = version_;
    answer["submissionId"] = id;
    answer["success"] = true;
    if (driver.worker != UINT32_MAX) {
      const es::RegisterWorker& worker = master_.cluster().workers().all()[driver.worker].said;
      answer["workerHostPort"] = worker.host + ":" + std::to_string(worker.port);
      answer["workerId"] = worker.id;
    }
  } else {
    answer["serverSparkVersion"] = version_;
    answer["submissionId"] = id;
    answer["success"] = false;
  }
  reply(JsonAnswer(200, answer));
}

}  // namespace fairlead::process::spark_master
