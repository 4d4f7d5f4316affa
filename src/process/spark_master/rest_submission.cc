#include "process/spark_master/rest_submission.h"

#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/split.hpp>
#include <charconv>
#include <nlohmann/json.hpp>

#include "endpoints/spark/command_words.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace sa = model::standalone;
using nlohmann::ordered_json;

namespace {

constexpr int kUnknownVersion = 468;

/// What lets Spark run on Java 17 and later (org.apache.spark.launcher.JavaModuleOptions).
std::vector<std::string> ModuleOptions(bool spark4) {
  std::vector<std::string> options = {"-XX:+IgnoreUnrecognizedVMOptions"};
  if (spark4) options.emplace_back("--add-modules=jdk.incubator.vector");
  for (const char* package :
       {"java.base/java.lang", "java.base/java.lang.invoke", "java.base/java.lang.reflect", "java.base/java.io",
        "java.base/java.net", "java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent",
        "java.base/java.util.concurrent.atomic", "java.base/jdk.internal.ref", "java.base/sun.nio.ch",
        "java.base/sun.nio.cs", "java.base/sun.security.action", "java.base/sun.util.calendar",
        "java.security.jgss/sun.security.krb5"}) {
    options.push_back(std::string("--add-opens=") + package + "=ALL-UNNAMED");
  }
  options.emplace_back(spark4 ? "-Dio.netty.tryReflectionSetAccessible=true"
                              : "-Djdk.reflect.useDirectMethodHandle=false");
  return options;
}

std::vector<std::string> Paths(const std::string& text) {
  std::vector<std::string> paths;
  boost::algorithm::split(paths, text, boost::algorithm::is_any_of(":"));
  std::erase(paths, "");
  return paths;
}

std::optional<int32_t> Whole(const std::string& text) {
  int32_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// "1g", "512m", "1048576k"; a bare number is bytes (Utils.memoryStringToMb).
std::optional<int32_t> MemoryMib(const std::string& text) {
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr int64_t kMost = int64_t{1} << 40;
  if (read.ec != std::errc() || number < 0 || number > kMost) return std::nullopt;
  std::string unit(read.ptr, text.data() + text.size());
  for (char& c : unit) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (unit.size() == 2 && unit[1] == 'b' && unit[0] != 'b') unit.pop_back();
  int64_t mib = 0;
  if (unit.empty() || unit == "b") {
    mib = number >> 20;
  } else if (unit == "k") {
    mib = number >> 10;
  } else if (unit == "m") {
    mib = number;
  } else if (unit == "g") {
    mib = number << 10;
  } else if (unit == "t") {
    mib = number << 20;
  } else {
    return std::nullopt;
  }
  if (mib > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(mib);
}

using Texts = std::map<std::string, std::string>;

/// An object of strings.
base::Result<Texts> TextsIn(const ordered_json& request, const char* field) {
  Texts texts;
  const auto found = request.find(field);
  if (found == request.end() || found->is_null()) return texts;
  if (!found->is_object()) return base::Error{std::string(field) + " is no object"};
  for (const auto& [name, value] : found->items()) {
    if (value.is_null()) continue;
    texts[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return texts;
}

base::Result<std::string> RequiredText(const ordered_json& request, const char* field, const char* missing) {
  const auto found = request.find(field);
  if (found == request.end() || !found->is_string()) return base::Error{missing};
  return found->get<std::string>();
}

/// spark.driver.resource.NAME.amount.
base::Status ReadResources(const Texts& properties, es::DriverDescription& driver) {
  constexpr std::string_view kPrefix = "spark.driver.resource.";
  constexpr std::string_view kSuffix = ".amount";
  for (const auto& [key, value] : properties) {
    if (!key.starts_with(kPrefix) || !key.ends_with(kSuffix) || key.size() <= kPrefix.size() + kSuffix.size()) continue;
    const auto amount = Whole(value);
    if (!amount) return base::Error{key + " is no number: " + value};
    driver.resources.push_back({key.substr(kPrefix.size(), key.size() - kPrefix.size() - kSuffix.size()), *amount});
  }
  return {};
}

base::Status ReadSizes(const Texts& properties, es::DriverDescription& driver) {
  const auto text = [&](const char* key, const char* otherwise) {
    const auto found = properties.find(key);
    return found != properties.end() ? found->second : std::string(otherwise);
  };
  const auto memory = MemoryMib(text("spark.driver.memory", "1024m"));
  const auto cores = Whole(text("spark.driver.cores", "1"));
  const std::string supervise = text("spark.driver.supervise", "false");
  if (!memory) return base::Error{"spark.driver.memory is no size of memory: " + text("spark.driver.memory", "")};
  if (!cores) return base::Error{"spark.driver.cores is no number: " + text("spark.driver.cores", "")};
  if (supervise != "true" && supervise != "false") {
    return base::Error{"spark.driver.supervise is neither true nor false: " + supervise};
  }
  driver.memory_mib = *memory;
  driver.cores = *cores;
  driver.supervise = supervise == "true";
  return ReadResources(properties, driver);
}

}  // namespace

base::Result<es::DriverDescription> ReadCreateRequest(const std::string& body, const std::string& master_url,
                                                      uint16_t rest_port, bool spark4) {
  const ordered_json request = ordered_json::parse(body, nullptr, false);
  if (!request.is_object()) return base::Error{"it is no JSON object"};
  auto jar = RequiredText(request, "appResource", "Application jar is missing.");
  if (!jar) return jar.error();
  auto main_class = RequiredText(request, "mainClass", "Main class is missing.");
  if (!main_class) return main_class.error();
  auto properties = TextsIn(request, "sparkProperties");
  if (!properties) return properties.error();
  if (!properties->contains("spark.app.name")) return base::Error{"spark.app.name is missing in sparkProperties"};
  const auto variables = TextsIn(request, "environmentVariables");
  if (!variables) return variables.error();

  es::DriverDescription driver;
  driver.jar_url = std::move(*jar);
  if (const base::Status sizes = ReadSizes(*properties, driver); !sizes.ok()) return sizes.error();
  es::Command& command = driver.command;
  command.main_class = "org.apache.spark.deploy.worker.DriverWrapper";
  command.arguments = {"{{WORKER_URL}}", "{{USER_JAR}}", std::move(*main_class)};
  if (const auto arguments = request.find("appArgs"); arguments != request.end() && arguments->is_array()) {
    for (const auto& argument : *arguments) {
      command.arguments.push_back(argument.is_string() ? argument.get<std::string>() : argument.dump());
    }
  }
  for (const auto& [name, value] : *variables) {
    // Addresses of the machine that submits.
    if (name != "SPARK_LOCAL_IP" && name != "SPARK_LOCAL_HOSTNAME") command.environment[name] = value;
  }
  std::string& master = properties->emplace("spark.master", master_url).first->second;
  const std::string own_port = master_url.substr(master_url.rfind(':'));
  boost::algorithm::replace_all(master, ":" + std::to_string(rest_port), own_port);
  command.class_path = Paths((*properties)["spark.driver.extraClassPath"]);
  command.library_path = Paths((*properties)["spark.driver.extraLibraryPath"]);
  command.java_options = ModuleOptions(spark4);
  for (const auto& [key, value] : *properties) {
    if (!value.empty() && key.starts_with("spark.")) command.java_options.push_back("-D" + key + "=" + value);
  }
  for (const char* key : {"spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions"}) {
    for (std::string& word : es::CommandWords((*properties)[key])) command.java_options.push_back(std::move(word));
  }
  return driver;
}

// ---- answers -------------------------------------------------------------------------------------------------------

http::Response RestSubmission::Error(int status, const std::string& message, bool wrong_version) const {
  ordered_json answer = {{"action", "ErrorResponse"}};
  if (wrong_version) answer["highestProtocolVersion"] = "v1";
  answer["message"] = message;
  answer["serverSparkVersion"] = version_;
  return http::JsonResponse(status, answer.dump(2));
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
  const std::string id = slash == std::string::npos ? "" : rest.substr(slash + 1);
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
  reply(http::JsonResponse(200, ordered_json({{"action", action == "clear" ? "ClearResponse" : "ReadyzResponse"},
                                              {"message", ""},
                                              {"serverSparkVersion", version_},
                                              {"success", true}})
                                    .dump(2)));
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
  return http::JsonResponse(200, answer.dump(2));
}

void RestSubmission::Create(const http::Request& request, const Reply& reply) {
  const ordered_json body = ordered_json::parse(request.body, nullptr, false);
  if (!body.is_object()) return reply(Error(400, "Malformed request: it is no JSON object"));
  const auto action = body.find("action");
  if (action == body.end()) return reply(Error(400, "Malformed request: Action field not found in JSON"));
  if (*action != "CreateSubmissionRequest") {
    return reply(Error(500, "Received message of unexpected type " + action->dump()));
  }
  auto driver = ReadCreateRequest(request.body, master_.cluster().url(), port_, spark4_);
  if (!driver) return reply(Error(400, "Malformed request: " + driver.error().message));
  master_.cluster().SubmitDriver(
      {std::move(*driver), {}, wire::java_stream::kNull}, [reply, version = version_](const std::string& id) {
        reply(http::JsonResponse(200, ordered_json({{"action", "CreateSubmissionResponse"},
                                                    {"message", "Driver successfully submitted as " + id},
                                                    {"serverSparkVersion", version},
                                                    {"submissionId", id},
                                                    {"success", true}})
                                          .dump(2)));
      });
}

void RestSubmission::Kill(const std::string& id, const Reply& reply) {
  master_.cluster().KillDriver(id, [reply, id, version = version_](bool known) {
    reply(http::JsonResponse(
        200, ordered_json({{"action", "KillSubmissionResponse"},
                           {"message", known ? "Kill request for " + id + " submitted"
                                             : "Driver " + id + " has already finished or does not exist"},
                           {"serverSparkVersion", version},
                           {"submissionId", id},
                           {"success", known}})
                 .dump(2)));
  });
}

void RestSubmission::KillAll(const Reply& reply) {
  for (const std::string& id : master_.cluster().LiveDrivers()) master_.cluster().KillDriver(id, [](bool) {});
  reply(http::JsonResponse(200, ordered_json({{"action", "KillAllSubmissionResponse"},
                                              {"message", "Kill request for all drivers submitted"},
                                              {"serverSparkVersion", version_},
                                              {"success", true}})
                                    .dump(2)));
}

void RestSubmission::Status(const std::string& id, const Reply& reply) {
  ordered_json answer = {{"action", "SubmissionStatusResponse"}};
  const auto index = master_.cluster().DriverIndexOf(id);
  const bool found = index && !master_.cluster().drivers()[*index].cleared;
  if (found) {
    const scheduler::standalone::Driver& driver = master_.cluster().core().drivers()[*index];
    const std::string& exception = master_.cluster().drivers()[*index].exception;
    answer["driverState"] = EnumName(driver.state);
    if (!exception.empty()) answer["message"] = "Exception from the cluster:\n" + exception;
    answer["serverSparkVersion"] = version_;
    answer["submissionId"] = id;
    answer["success"] = true;
    if (driver.worker != UINT32_MAX) {
      const es::RegisterWorker& worker = master_.cluster().workers()[driver.worker].said;
      answer["workerHostPort"] = worker.host + ":" + std::to_string(worker.port);
      answer["workerId"] = worker.id;
    }
  } else {
    answer["serverSparkVersion"] = version_;
    answer["submissionId"] = id;
    answer["success"] = false;
  }
  reply(http::JsonResponse(200, answer.dump(2)));
}

}  // namespace fairlead::process::spark_master
