#include "process/spark_master/create_request.h"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/split.hpp>
#include <charconv>
#include <nlohmann/json.hpp>

#include "endpoints/spark/command_words.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
using nlohmann::ordered_json;

namespace {

constexpr std::array kFields = {"action",    "message", "clientSparkVersion", "appResource",
                                "mainClass", "appArgs", "sparkProperties",    "environmentVariables"};

constexpr const char* kSparkSubmit = "org.apache.spark.deploy.SparkSubmit";
const std::string kAppName = "spark.app.name=";

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

// The bounds of a request. What is shown in lists and logs is short, an address may carry a signature. The rest becomes
// the command of a process: Linux takes words of 128 KiB, 2 MiB of them together.
constexpr size_t kShownMax = 1 << 10;
constexpr size_t kAddressMax = 8 << 10;
constexpr size_t kTextMax = 64 << 10;
constexpr size_t kTogetherMax = 1 << 20;
constexpr size_t kFieldsMax = 100;
constexpr size_t kEntriesMax = 4096;

std::string TextOf(const ordered_json& value) {
  return value.is_string() ? value.get_ref<const std::string&>() : value.dump();
}

base::Status AtMost(const std::string& what, size_t is, size_t most, const char* unit = "bytes") {
  if (is <= most) return {};
  return base::Error{what + ": " + std::to_string(is) + " " + unit + "; at most " + std::to_string(most) +
                     " are taken"};
}

/// A text, or the values of an object or array; counts their bytes.
base::Status CheckField(const std::string& name, const ordered_json& field, size_t& together) {
  if (!field.is_structured()) {
    const size_t bytes = TextOf(field).size();
    together += bytes;
    const bool shown = name == "mainClass" || name == "clientSparkVersion";
    return AtMost(name, bytes, shown ? kShownMax : name == "appResource" ? kAddressMax : kTextMax);
  }
  if (const base::Status few = AtMost(name, field.size(), kEntriesMax, "entries"); !few) return few;
  for (const auto& [key, value] : field.items()) {
    const size_t bytes = TextOf(value).size();
    together += bytes + (field.is_object() ? key.size() : 0);
    if (const base::Status shown = AtMost("a name in " + name, key.size(), kShownMax); !shown) return shown;
    const std::string what = name + ": " + key;
    if (const base::Status fits = AtMost(what, bytes, key == "spark.app.name" ? kShownMax : kTextMax); !fits)
      return fits;
  }
  return {};
}

base::Status CheckSizes(const ordered_json& request) {
  if (const base::Status few = AtMost("the request", request.size(), kFieldsMax, "fields"); !few) return few;
  size_t together = 0;
  for (const auto& [name, field] : request.items()) {
    if (const base::Status shown = AtMost("a field's name", name.size(), kShownMax); !shown) return shown;
    if (const base::Status fits = CheckField(name, field, together); !fits) return fits;
  }
  return AtMost("all texts of the request together", together, kTogetherMax);
}

/// An object of strings.
base::Result<Texts> TextsIn(const ordered_json& request, const char* field) {
  Texts texts;
  const auto found = request.find(field);
  if (found == request.end() || found->is_null()) return texts;
  if (!found->is_object()) return base::Error{std::string(field) + " is no object"};
  for (const auto& [name, value] : found->items()) {
    if (value.is_null()) continue;
    texts[name] = TextOf(value);
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
  if (const auto all = properties.find("spark.cores.max"); all != properties.end() && !Whole(all->second)) {
    return base::Error{"spark.cores.max is no number: " + all->second};
  }
  if (!MemoryMib(text("spark.executor.memory", "1g"))) {
    return base::Error{"spark.executor.memory is no size of memory: " + text("spark.executor.memory", "")};
  }
  driver.memory_mib = *memory;
  driver.cores = *cores;
  driver.supervise = supervise == "true";
  return ReadResources(properties, driver);
}

/// With Spark 4 a value that is {{NAME}} and nothing else is the master's own variable NAME, if there is one.
std::string Filled(const std::string& value, const CreateContext& context) {
  if (!context.spark4 || value.size() < 4 || !value.starts_with("{{") || !value.ends_with("}}")) return value;
  return context.variable(value.substr(2, value.size() - 4)).value_or(value);
}

base::Result<std::vector<std::string>> ArgumentsIn(const ordered_json& request, bool required) {
  std::vector<std::string> arguments;
  const auto found = request.find("appArgs");
  if (found == request.end() || found->is_null()) {
    if (required) return base::Error{"appArgs are missing"};
    return arguments;
  }
  if (!found->is_array()) return base::Error{"appArgs is no array"};
  for (const auto& argument : *found) {
    arguments.push_back(TextOf(argument));
  }
  return arguments;
}

}  // namespace

base::Result<es::DriverDescription> ReadCreateRequest(const ordered_json& request, const CreateContext& context) {
  if (const base::Status fits = CheckSizes(request); !fits) return fits.error();
  auto jar = RequiredText(request, "appResource", "Application jar is missing.");
  if (!jar) return jar.error();
  auto main_class = RequiredText(request, "mainClass", "Main class is missing.");
  if (!main_class) return main_class.error();
  if (const auto version = RequiredText(request, "clientSparkVersion", "clientSparkVersion is missing"); !version) {
    return version.error();
  }
  auto properties = TextsIn(request, "sparkProperties");
  if (!properties) return properties.error();
  if (!request.contains("sparkProperties")) return base::Error{"sparkProperties are missing"};
  const auto app_name = properties->find("spark.app.name");
  const bool named = app_name != properties->end();
  if (!context.spark4 && !named) return base::Error{"spark.app.name is missing in sparkProperties"};
  const auto variables = TextsIn(request, "environmentVariables");
  if (!variables) return variables.error();
  auto arguments = ArgumentsIn(request, !context.spark4);
  if (!arguments) return arguments.error();
  if (!context.spark4 && !request.contains("environmentVariables")) {
    return base::Error{"environmentVariables are missing"};
  }

  es::DriverDescription driver;
  driver.jar_url = std::move(*jar);
  if (const base::Status sizes = ReadSizes(*properties, driver); !sizes.ok()) return sizes.error();
  for (auto& [key, value] : *properties) value = Filled(value, context);
  es::Command& command = driver.command;
  command.main_class = "org.apache.spark.deploy.worker.DriverWrapper";
  command.arguments = {"{{WORKER_URL}}", "{{USER_JAR}}", *main_class};
  if (context.spark4 && named && *main_class == kSparkSubmit) {  // it does not read -Dspark.app.name
    command.arguments.insert(command.arguments.end(), {"-c", kAppName + app_name->second});
  }
  std::ranges::move(*arguments, std::back_inserter(command.arguments));
  for (const auto& [name, value] : *variables) {
    // Addresses of the machine that submits.
    if (name != "SPARK_LOCAL_IP" && name != "SPARK_LOCAL_HOSTNAME") command.environment[name] = Filled(value, context);
  }
  std::string& master = properties->emplace("spark.master", context.master_url).first->second;
  const std::string own_port = context.master_url.substr(context.master_url.rfind(':'));
  boost::algorithm::replace_all(master, ":" + std::to_string(context.rest_port), own_port);
  command.class_path = Paths((*properties)["spark.driver.extraClassPath"]);
  command.library_path = Paths((*properties)["spark.driver.extraLibraryPath"]);
  command.java_options = ModuleOptions(context.spark4);
  for (const auto& [key, value] : *properties) {
    if (!value.empty() && key.starts_with("spark.")) command.java_options.push_back("-D" + key + "=" + value);
  }
  for (const char* key : {"spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions"}) {
    for (std::string& word : es::CommandWords((*properties)[key])) command.java_options.push_back(std::move(word));
  }
  return driver;
}

void NameApplication(es::DriverDescription& driver, const std::string& name) {
  const std::string setting = kAppName + name;
  std::vector<std::string>& options = driver.command.java_options;
  std::erase_if(options, [](const std::string& option) { return option.starts_with("-D" + kAppName); });
  options.push_back("-D" + setting);
  std::vector<std::string>& words = driver.command.arguments;
  constexpr size_t kClass = 2, kSetting = 4;  // WORKER_URL USER_JAR CLASS, and spark-submit's -c spark.app.name=NAME
  if (words.size() <= kClass || words[kClass] != kSparkSubmit) return;
  if (words.size() > kSetting && words[kSetting].starts_with(kAppName)) {
    words[kSetting] = setting;
  } else {
    words.insert(words.begin() + kClass + 1, {"-c", setting});
  }
}

std::vector<std::string> UnknownFields(const ordered_json& request) {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : request.items()) {
    if (std::ranges::find(kFields, name) == kFields.end()) unknown.push_back(name);
  }
  return unknown;
}

}  // namespace fairlead::process::spark_master
