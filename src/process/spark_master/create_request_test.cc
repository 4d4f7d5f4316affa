#include "process/spark_master/create_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace fairlead::process::spark_master {
namespace {

using nlohmann::ordered_json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

ordered_json Request(const char* main_class = "Job") {
  return {{"action", "CreateSubmissionRequest"},
          {"appArgs", {"10"}},
          {"appResource", "file:/job.jar"},
          {"clientSparkVersion", "4.3.0"},
          {"environmentVariables", {{"SPARK_LOCAL_IP", "10.0.0.1"}, {"TOKEN", "{{WORD}}"}}},
          {"mainClass", main_class},
          {"sparkProperties",
           {{"spark.app.name", "x"},
            {"spark.master", "spark://h:6066"},
            {"spark.a", "{{WORD}}"},
            {"spark.b", "a{{WORD}}"},
            {"spark.c", "{{NONE}}"}}}};
}

base::Result<endpoints::spark::DriverDescription> Read(const ordered_json& request, bool spark4 = true) {
  const Variables variables = [](const std::string& name) {
    return name == "WORD" ? std::optional<std::string>("said by the master") : std::nullopt;
  };
  return ReadCreateRequest(request, {"spark://h:7077", 6066, spark4, variables});
}

std::string Refusal(const ordered_json& request, bool spark4 = true) {
  const auto driver = Read(request, spark4);
  return driver.ok() ? "" : driver.error().message;
}

TEST(CreateRequest, ValuesThatAreAVariableOfTheMasterAreFilledInBySpark4) {
  const auto driver = Read(Request());
  ASSERT_TRUE(driver.ok());
  EXPECT_THAT(driver->command.environment, ElementsAre(Pair("TOKEN", "said by the master")));
  const auto& options = driver->command.java_options;
  EXPECT_THAT(options, Contains("-Dspark.a=said by the master"));
  EXPECT_THAT(options, Contains("-Dspark.b=a{{WORD}}"));
  EXPECT_THAT(options, Contains("-Dspark.c={{NONE}}"));
  EXPECT_THAT(options, Contains("-Dspark.master=spark://h:7077"));
  const auto three = Read(Request(), false);
  ASSERT_TRUE(three.ok());
  EXPECT_THAT(three->command.environment, ElementsAre(Pair("TOKEN", "{{WORD}}")));
}

std::string RefusalOf(const char* field, ordered_json value) {
  ordered_json request = Request();
  request[field] = std::move(value);
  return Refusal(request);
}

TEST(CreateRequest, TextsOfEachKindHaveABound) {
  const auto of = [](size_t bytes) { return std::string(bytes, 'x'); };
  EXPECT_EQ(RefusalOf("mainClass", of(1025)), "mainClass: 1025 bytes; at most 1024 are taken");
  EXPECT_EQ(RefusalOf("clientSparkVersion", of(1025)), "clientSparkVersion: 1025 bytes; at most 1024 are taken");
  EXPECT_EQ(RefusalOf("appResource", of(8193)), "appResource: 8193 bytes; at most 8192 are taken");
  EXPECT_EQ(RefusalOf("appArgs", {"1", of(65'537)}), "appArgs: 1: 65537 bytes; at most 65536 are taken");
  EXPECT_EQ(RefusalOf("sparkProperties", {{"spark.app.name", of(1025)}}),
            "sparkProperties: spark.app.name: 1025 bytes; at most 1024 are taken");
  EXPECT_EQ(RefusalOf("environmentVariables", {{of(1025), "x"}}),
            "a name in environmentVariables: 1025 bytes; at most 1024 are taken");
  EXPECT_EQ(RefusalOf(of(1025).c_str(), 1), "a field's name: 1025 bytes; at most 1024 are taken");
  EXPECT_EQ(RefusalOf("mainClass", of(1024)), "");
  EXPECT_EQ(RefusalOf("appResource", of(8192)), "");
}

TEST(CreateRequest, TextsHaveABoundTogetherAndInNumber) {
  ordered_json arguments = ordered_json::array();
  for (int i = 0; i < 15; ++i) arguments.push_back(std::string(64 << 10, 'x'));
  EXPECT_EQ(RefusalOf("appArgs", arguments), "");
  arguments.push_back(std::string(64 << 10, 'x'));
  EXPECT_THAT(RefusalOf("appArgs", arguments), HasSubstr("all texts of the request together: "));
  ordered_json properties = {{"spark.app.name", "x"}};
  for (int i = 0; i < 4096; ++i) properties["spark." + std::to_string(i)] = "";
  EXPECT_EQ(RefusalOf("sparkProperties", properties), "sparkProperties: 4097 entries; at most 4096 are taken");
  ordered_json request = Request();
  for (int i = 0; i < 100; ++i) request["field" + std::to_string(i)] = 1;
  EXPECT_EQ(Refusal(request), "the request: 107 fields; at most 100 are taken");
}

TEST(CreateRequest, SparkSubmitIsToldTheNameOfTheApplication) {
  constexpr const char* kSubmit = "org.apache.spark.deploy.SparkSubmit";
  EXPECT_THAT(Read(Request(kSubmit))->command.arguments,
              ElementsAre("{{WORKER_URL}}", "{{USER_JAR}}", kSubmit, "-c", "spark.app.name=x", "10"));
  EXPECT_THAT(Read(Request(kSubmit), false)->command.arguments,
              ElementsAre("{{WORKER_URL}}", "{{USER_JAR}}", kSubmit, "10"));
}

TEST(CreateRequest, AnApplicationIsNamedAnew) {
  constexpr const char* kSubmit = "org.apache.spark.deploy.SparkSubmit";
  auto driver = *Read(Request());
  NameApplication(driver, "driver-7");
  EXPECT_THAT(driver.command.java_options, Contains("-Dspark.app.name=driver-7"));
  EXPECT_THAT(driver.command.java_options, Not(Contains("-Dspark.app.name=x")));
  EXPECT_THAT(driver.command.arguments, ElementsAre("{{WORKER_URL}}", "{{USER_JAR}}", "Job", "10"));
  driver = *Read(Request(kSubmit));
  NameApplication(driver, "driver-7");
  EXPECT_THAT(driver.command.arguments,
              ElementsAre("{{WORKER_URL}}", "{{USER_JAR}}", kSubmit, "-c", "spark.app.name=driver-7", "10"));
  driver = *Read(Request(kSubmit), false);
  NameApplication(driver, "driver-7");
  EXPECT_THAT(driver.command.arguments,
              ElementsAre("{{WORKER_URL}}", "{{USER_JAR}}", kSubmit, "-c", "spark.app.name=driver-7", "10"));
}

TEST(CreateRequest, WhatIsMissingOrWrongIsNamed) {
  for (const char* field : {"appResource", "mainClass", "clientSparkVersion", "sparkProperties"}) {
    ordered_json request = Request();
    request.erase(field);
    EXPECT_NE(Refusal(request), "") << field;
  }
  for (const char* field : {"appArgs", "environmentVariables"}) {
    ordered_json request = Request();
    request.erase(field);
    EXPECT_EQ(Refusal(request), "") << field;
    EXPECT_THAT(Refusal(request, false), HasSubstr(field));
  }
  for (const char* key : {"spark.driver.cores", "spark.driver.memory", "spark.driver.supervise", "spark.cores.max",
                          "spark.executor.memory", "spark.driver.resource.gpu.amount"}) {
    ordered_json request = Request();
    request["sparkProperties"][key] = "some";
    EXPECT_THAT(Refusal(request), HasSubstr(key));
  }
  ordered_json request = Request();
  request["sparkProperties"].erase("spark.app.name");
  EXPECT_EQ(Refusal(request), "");
  EXPECT_THAT(Refusal(request, false), HasSubstr("spark.app.name"));
  request = Request();
  request["appArgs"] = "text";
  EXPECT_THAT(Refusal(request), HasSubstr("appArgs"));
  request = Request();
  request["sparkProperties"]["spark.driver.cores"] = "-1";
  EXPECT_THAT(Refusal(request), HasSubstr("spark.driver.cores"));
}

TEST(CreateRequest, FieldsThatNobodyKnowsAreNamed) {
  ordered_json request = Request();
  EXPECT_THAT(UnknownFields(request), ElementsAre());
  request["extra"] = 1;
  request["message"] = "known to all messages";
  EXPECT_THAT(UnknownFields(request), ElementsAre("extra"));
}

}  // namespace
}  // namespace fairlead::process::spark_master
