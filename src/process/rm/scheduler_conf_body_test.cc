#include "process/rm/scheduler_conf_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::process::rm {
namespace {

using testing::HasSubstr;

/// "-queue +queue{key=value;} ~queue{...} key=value;", or the error.
std::string Read(const std::string& body, const char* type = "application/json") {
  const auto change = ConfChangeOf(type, body);
  if (!change.ok()) return "refused: " + change.error().message;
  std::string text;
  const auto keys = [&](const config::Properties& map) {
    for (const auto& [name, value] : map) text += name + "=" + value + ";";
  };
  const auto queues = [&](char sign, const std::vector<config::CapacityChange::Queue>& list) {
    for (const auto& queue : list) text += sign + queue.path + "{", keys(queue.keys), text += "}";
  };
  for (const std::string& path : change->remove) text += "-" + path;
  queues('+', change->add);
  queues('~', change->update);
  keys(change->global);
  return text;
}

// Each shape and what becomes of it are those of a resource manager of Hadoop 3.4.3.
TEST(SchedulerConfBody, OneValueAndAListAreTheSame) {
  EXPECT_EQ(Read(R"({"global-updates":{"entry":{"key":"k","value":"v"}}})"), "k=v;");
  EXPECT_EQ(Read(R"({"global-updates":{"entry":[{"key":"k","value":"v"},{"key":"l"}]}})"), "k=v;l=;");
  EXPECT_EQ(Read(R"({"global-updates":[{"entry":{"key":"k","value":"v"}},{"entry":[{"key":"l","value":1}]}]})"),
            "k=v;l=1;");
  EXPECT_EQ(Read(R"({"update-queue":[{"queue-name":"root.a","params":[{"entry":{"key":"k","value":true}}]}]})"),
            "~root.a{k=true;}");
  EXPECT_EQ(Read(R"({"add-queue":{"queue-name":["root.a"],"params":{"entry":{"key":["k"],"value":["v","w"]}}}})"),
            "+root.a{k=w;}");
  EXPECT_EQ(Read(R"({"remove-queue":["root.a","root.b"]})"), "-root.a-root.b");
  EXPECT_EQ(Read(R"({"remove-queue":"root.a"})"), "-root.a");
}

TEST(SchedulerConfBody, AsHadoopsClientWritesIt) {
  EXPECT_EQ(
      Read(
          R"({"remove-queue":"root.a","update-queue":{"queue-name":"root.b","params":{"entry":{"key":"k","value":"v"}}},
                     "subClusterId":"","global":{"entry":{"key":"k","value":"v"}},
                     "global-updates":{"entry":{"key":"k","value":"v"}}})"),
      "-root.a~root.b{k=v;}k=v;");
  EXPECT_EQ(Read(R"({"global":{"entry":{"key":"k","value":"v"}}})"), "k=v;");
}

TEST(SchedulerConfBody, NothingIsAskedForByNullAndByWhatIsEmpty) {
  EXPECT_EQ(Read(R"({"global-updates":null,"update-queue":[],"add-queue":null,"remove-queue":[]})"), "");
  EXPECT_EQ(Read(R"({"update-queue":{"queue-name":"root.a","params":null}})"), "~root.a{}");
  EXPECT_EQ(Read("<sched-conf/>", "application/xml"), "");
  EXPECT_EQ(Read("<sched-conf><global-updates/></sched-conf>", "application/xml"), "");
}

TEST(SchedulerConfBody, XmlHasHadoopsRoot) {
  EXPECT_EQ(Read("<sched-conf><update-queue><queue-name>root.a</queue-name><params><entry><key>k</key><value>v</value>"
                 "</entry></params><params><entry><key>l</key></entry></params></update-queue></sched-conf>",
                 "application/xml"),
            "~root.a{k=v;l=;}");
  EXPECT_THAT(Read("<schedConf/>", "application/xml"), HasSubstr("refused: unexpected element"));
}

/// Hadoop says of most of them that the change is applied, and changes nothing.
TEST(SchedulerConfBody, WhatIsNotUnderstoodIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"global-updates":[{"key":"k","value":"v"}]})",
       "global-updates has an unknown field 'key'; write {\"entry\""},
      {R"({"global-updates":{"k":"v"}})", "global-updates has an unknown field 'k'"},
      {R"({"global-updates":"k=v"})", "global-updates has string where an object is due"},
      {R"({"global-updates":7})", "global-updates has number where an object is due"},
      {R"({"global-updates":{"entry":"k=v"}})", "an entry of global-updates has string"},
      {R"({"global-updates":{"entry":[[{"key":"k","value":"v"}]]}})", "an entry of global-updates has array"},
      {R"({"global-updates":{"entry":{"value":"v"}}})", "an entry of global-updates has no key"},
      {R"({"global-updates":{"entry":{"key":"k","value":{"v":1}}}})", "the value of 'k' in global-updates is no text"},
      {R"({"global-updates":{"entry":{"key":"k","value":"v","more":1}}})", "unknown field 'more'"},
      {R"({"update-queue":{"queue-name":"root.a","params":{"capacity":"5"}}})",
       "params has an unknown field 'capacity'"},
      {R"({"update-queue":{"queue-name":"root.a","params":[{"key":"k","value":"v"}]}})", "params has an unknown field"},
      {R"({"update-queue":["root.a"]})", "update-queue has string where an object is due"},
      {R"({"update-queue":[[{"queue-name":"root.a"}]]})", "update-queue has array"},
      {R"({"update-queue":[null]})", "update-queue has null"},
      {R"({"add-queue":{"name":"root.a"}})", "add-queue has an unknown field 'name'; write {\"queue-name\""},
      {R"({"add-queue":{"params":{}}})", "add-queue has no queue-name"},
      {R"({"remove-queue":{"queue-name":"root.a"}})", "remove-queue is to be a queue's path"},
      {R"({"sched-conf":{"remove-queue":"root.a"}})",
       "the change has an unknown field 'sched-conf'; it may have remove"},
      {R"({"updateQueue":[]})", "the change has an unknown field 'updateQueue'"},
  };
  for (const auto& [body, words] : cases) EXPECT_THAT(Read(body), HasSubstr(words)) << body;
  EXPECT_THAT(Read("<sched-conf>remove root.a</sched-conf>", "application/xml"), HasSubstr("the change has string"));
}

}  // namespace
}  // namespace fairlead::process::rm
