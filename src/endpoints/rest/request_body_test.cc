#include "endpoints/rest/request_body.h"

#include <gtest/gtest.h>

#include "endpoints/yarn/credentials.h"
#include "endpoints/yarn/rm_decode.h"

namespace fairlead::endpoints::rest {
namespace {

constexpr const char* kRoot = "application-submission-context";

TEST(RequestBodyTest, JsonAndXmlSayTheSame) {
  const auto json =
      ParseBody("application/json",
                R"({"application-id":"application_5_0006","priority":3,"resource":{"memory":700,"vCores":2},
                              "application-tags":{"tag":["a","b"]},"am-container-spec":{"commands":{"command":"true"}}})",
                kRoot);
  const auto xml = ParseBody(
      "application/xml",
      "<application-submission-context><application-id>application_5_0006</application-id><priority>3</priority>"
      "<resource><memory>700</memory><vCores>2</vCores></resource><application-tags><tag>a</tag><tag>b</tag>"
      "</application-tags><am-container-spec><commands><command>true</command></commands></am-container-spec>"
      "</application-submission-context>",
      kRoot);
  ASSERT_TRUE(json.ok() && xml.ok());
  const auto first = SubmissionOf(*json), second = SubmissionOf(*xml);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->Encode(), second->Encode());
  EXPECT_EQ(first->Priority().Priority(), 3);
  EXPECT_EQ(first->application_tags, (std::vector<std::string>{"a", "b"}));
}

TEST(RequestBodyTest, APriorityThatIsNotSaidIsHadoopsUndefined) {
  const auto read = SubmissionOf(*ParseBody("", R"({"application-id":"application_5_0006"})", kRoot));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->Priority().Priority(), -1);
}

TEST(RequestBodyTest, LabelsAreThoseOfAsksAndOfTheMaster) {
  const auto read = [](const char* labels) {
    const auto context =
        SubmissionOf(*ParseBody("", std::string(R"({"application-id":"application_5_0006")") + labels + "}", kRoot));
    return endpoints::yarn::ToSubmission(*context, {"ann", {}, ""});
  };
  const auto both = read(
      R"(,"resource":{"memory":700},"app-node-label-expression":"fast","am-container-node-label-expression":"slow")");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->label, "fast");
  ASSERT_EQ(both->master_asks.size(), 1U);
  EXPECT_EQ(both->master_asks[0].label, "slow");
  EXPECT_EQ(both->master_asks[0].name, "*");
  EXPECT_EQ(both->master_asks[0].count, 1);
  EXPECT_EQ(both->master_asks[0].capability, model::Resources::Of(700, 1));
  const auto none = read("");
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->label + none->master_asks.at(0).label, "");
}

TEST(RequestBodyTest, LogAggregationContextHasWhatIsSaid) {
  const auto read = SubmissionOf(*ParseBody("",
                                            R"({"application-id":"application_5_0006","log-aggregation-context":{
        "log-include-pattern":"a","rolled-log-include-pattern":"b","log-aggregation-policy-class-name":"c"}})",
                                            kRoot));
  ASSERT_TRUE(read.ok());
  wire::yarn::LogAggregationContextProto expected;
  expected.include_pattern = "a";
  expected.rolled_logs_include_pattern = "b";
  expected.log_aggregation_policy_class_name = "c";
  EXPECT_EQ(read->log_aggregation_context, expected);
}

TEST(RequestBodyTest, CredentialsAreThoseOfTheLaunchContext) {
  const auto submission = [](const std::string& value) {
    return SubmissionOf(*ParseBody("",
                                   R"({"application-id":"application_5_0006","am-container-spec":{"credentials":{
        "tokens":{"entry":[{"key":"own","value":")" +
                                       value + R"("}]},"secrets":{"entry":{"key":"a","value":"YmM"}}}}})",
                                   kRoot));
  };
  const auto read = submission("CmlkZW50aWZpZXIIcGFzc3dvcmQES0lORAdzZXJ2aWNl");
  ASSERT_TRUE(read.ok());
  const auto credentials = endpoints::yarn::ParseCredentials(read->am_container_spec->Tokens());
  ASSERT_TRUE(credentials.ok());
  EXPECT_EQ(credentials->tokens.at("own").kind, "KIND");
  EXPECT_EQ(credentials->secrets.at("a"), "bc");
  EXPECT_FALSE(submission("AAAA").ok()) << "cut";
}

TEST(RequestBodyTest, AbsurdNumbersSaturate) {
  const auto body =
      ParseBody("", R"({"priority":4294967301,"max-app-attempts":-9999999999,"x":"99999999999999999999999"})", kRoot);
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(SmallNumber(*body, "priority", 0), INT32_MAX);
  EXPECT_EQ(SmallNumber(*body, "max-app-attempts", 0), INT32_MIN);
  EXPECT_EQ(Number(*body, "x", 0), INT64_MAX);
  EXPECT_EQ(Number(*body, "missing", -1), -1);
}

TEST(RequestBodyTest, WhatIsNoBodyIsRefused) {
  EXPECT_FALSE(ParseBody("application/json", "[]", kRoot).ok());
  EXPECT_FALSE(ParseBody("application/json", "{\"a\":\"\xff\"}", kRoot).ok());
  EXPECT_FALSE(ParseBody("application/json", std::string(40, '[') + std::string(40, ']'), kRoot).ok());
  EXPECT_FALSE(ParseBody("application/xml", "<a>", kRoot).ok());
  EXPECT_FALSE(SubmissionOf(*ParseBody("application/json", "{}", kRoot)).ok());
}

TEST(RequestBodyTest, XmlHasTheRootThatIsMeant) {
  const auto other = ParseBody("application/xml", "<foo/>", "", "sched-conf");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, R"(unexpected element (uri:"", local:"foo"). Expected elements are <{}sched-conf>)");
  EXPECT_TRUE(ParseBody("application/xml", "<sched-conf/>", "", "sched-conf").ok());
  EXPECT_FALSE(ParseBody("application/xml", "<foo/>", kRoot).ok());
}

TEST(RequestBodyTest, WhatIsTooMuchIsRefusedByTheBound) {
  const auto refusal = [](const char* type, const std::string& text) {
    const auto body = ParseBody(type, text, kRoot);
    return body.ok() ? "" : body.error().message;
  };
  const std::string json(33, '[');
  EXPECT_EQ(refusal("application/json", json), "a JSON request of 33 bytes is refused: it is nested deeper than 32");
  std::string xml;
  for (int i = 0; i < 34; ++i) xml = "<a>" + xml + "</a>";
  EXPECT_EQ(refusal("application/xml", xml), "an XML request of 238 bytes is refused: it is nested deeper than 32");
  EXPECT_NE(refusal("application/json", std::string(3 << 20, ' ')).find("it may have 2097152"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::endpoints::rest
