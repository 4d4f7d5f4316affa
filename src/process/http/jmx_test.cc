#include "process/http/jmx.h"

#include <gtest/gtest.h>

namespace fairlead::process::http {
namespace {

using nlohmann::ordered_json;

const std::vector<Bean> kBeans = {
    {"Hadoop:service=ResourceManager,name=ClusterMetrics", "ClusterMetrics", {{"NumActiveNMs", 3}}},
    {"Hadoop:service=ResourceManager,name=QueueMetrics,q0=root", "QueueMetrics,q0=root", {{"AppsRunning", 1}}},
    {"Hadoop:service=ResourceManager,name=QueueMetrics,q0=root,q1=a",
     "QueueMetrics,q0=root,q1=a",
     {{"AppsRunning", 0}}}};

/// Status and the names of the beans.
std::string Asked(const std::string& key, const std::string& value) {
  const Response response = JmxAnswer({{key, value}}, kBeans);
  std::string out = std::to_string(response.status);
  const ordered_json answer = ordered_json::parse(response.body);
  if (!answer.contains("beans")) return out;
  for (const ordered_json& bean : answer["beans"]) out += " " + bean["modelerType"].get<std::string>();
  return out;
}

TEST(Jmx, PatternsChooseBeansWhateverTheOrderOfTheirKeys) {
  EXPECT_EQ(Asked("other", ""), "200 ClusterMetrics QueueMetrics,q0=root QueueMetrics,q0=root,q1=a");
  EXPECT_EQ(Asked("qry", "Hadoop:*"), "200 ClusterMetrics QueueMetrics,q0=root QueueMetrics,q0=root,q1=a");
  EXPECT_EQ(Asked("qry", "Hadoop:name=ClusterMetrics,service=ResourceManager"), "200 ClusterMetrics");
  EXPECT_EQ(Asked("qry", "Hadoop:service=ResourceManager,name=QueueMetrics,q0=root"), "200 QueueMetrics,q0=root");
  EXPECT_EQ(Asked("qry", "H?doop:service=Resource*,name=Queue*,*"),
            "200 QueueMetrics,q0=root QueueMetrics,q0=root,q1=a");
  EXPECT_EQ(Asked("qry", "java.lang:type=Memory"), "200");
}

TEST(Jmx, OneAttributeAlone) {
  const Response response =
      JmxAnswer({{"get", "Hadoop:service=ResourceManager,name=ClusterMetrics::NumActiveNMs"}}, kBeans);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(ordered_json::parse(response.body)["beans"][0],
            ordered_json({{"name", kBeans[0].name}, {"modelerType", "ClusterMetrics"}, {"NumActiveNMs", 3}}));
  EXPECT_EQ(Asked("get", "Hadoop:service=ResourceManager,name=ClusterMetrics::Nothing"), "200 ClusterMetrics");
  EXPECT_EQ(Asked("get", "Hadoop:service=Nobody,name=None::X"), "200");
}

TEST(Jmx, WhatIsNoNameIsRefused) {
  for (const char* name : {"nonsense", "", "Hadoop:", "Hadoop:x", "Hadoop:=y", "Hadoop:a=1,", "Hadoop:a=1,a=2"}) {
    EXPECT_EQ(JmxAnswer({{"qry", name}}, kBeans).body, "{}") << name;
  }
  for (const char* name : {"nonsense", "", "Hadoop:a=1::"})
    EXPECT_NE(JmxAnswer({{"get", name}}, kBeans).body.find("query format is not as expected."), std::string::npos)
        << name;
}

}  // namespace
}  // namespace fairlead::process::http
