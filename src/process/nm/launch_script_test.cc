#include "process/nm/launch_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "process/nm/layout.h"

namespace fairlead::process::nm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(LaunchScript, ExpandsAsHadoop) {
  EXPECT_EQ(Expand("{{PWD}}<CPS>z <LOG_DIR>/out {{A", "/logs"), "$PWD:z /logs/out $A");
  EXPECT_EQ(Expand("java <ADD_OPENS> X", ""), "java  X");
}

TEST(LaunchScript, FindsReferences) {
  EXPECT_THAT(ReferredVariables("$A:${B}/x\\$C${#D}"), ElementsAre("A", "B", "D"));
  EXPECT_THAT(ReferredVariables("'$A'"), ElementsAre("A")) << "single quotes mean nothing inside double quotes";
  EXPECT_THAT(ReferredVariables("\"'$A'\"$B"), ElementsAre("B"));
  EXPECT_TRUE(ReferredVariables("$").empty());
}

TEST(LaunchScript, OrdersVariablesByTheirReferences) {
  ScriptInput input;
  input.environment = {{"A", "{{Z}}:$C"}, {"C", "$PWD/c"}, {"Z", "1"}, {"X", "$X:a"}};
  input.node_variables = {{"PWD", "/work"}};
  input.inherited = {{"JAVA_HOME", "/jdk"}, {"Z", "not this one"}};
  input.admin = {{"MALLOC_ARENA_MAX", "$MALLOC_ARENA_MAX"}};
  input.commands = {"run", "1><LOG_DIR>/stdout"};
  input.log_dir = "/logs";
  input.debug_info = false;
  const std::string script = LaunchScript(input);
  EXPECT_LT(script.find("export Z="), script.find("export A="));
  EXPECT_LT(script.find("export C="), script.find("export A="));
  EXPECT_LT(script.find("export PWD=\"/work\""), script.find("export C="));
  EXPECT_THAT(script, HasSubstr("export JAVA_HOME=${JAVA_HOME:-\"/jdk\"}\n"));
  EXPECT_EQ(script.find("not this one"), std::string::npos);
  EXPECT_THAT(script, HasSubstr("exec /bin/bash -c \"run 1>/logs/stdout\"\n"));
}

/// The quoting that clients count on, run by a real bash: the same cases were seen on a real NodeManager.
TEST(LaunchScript, QuotesTwice) {
  const std::filesystem::path dir = std::filesystem::temp_directory_path() / ("fl_script_" + std::to_string(getpid()));
  std::filesystem::create_directories(dir / "logs");
  ScriptInput input;
  input.environment = {{"Q", "it's \"q\""}, {"A", "{{PWD}}<CPS>z"}};
  input.node_variables = {{"PWD", dir.string()}};
  input.log_dir = (dir / "logs").string();
  input.links = {{"sub/link", "/etc/hostname"}};
  input.commands = {"echo \\\"$Q\\\" \\$A '\\$A';", "test -L sub/link", "&& echo linked",
                    "1>>" + dir.string() + "/stdout"};
  std::ofstream(dir / "launch_container.sh") << LaunchScript(input);
  const std::string run = "cd " + dir.string() + " && env -i /bin/bash launch_container.sh";
  ASSERT_EQ(std::system(run.c_str()), 0);
  std::ifstream out(dir / "logs/prelaunch.out");
  const std::string prelaunch((std::istreambuf_iterator<char>(out)), {});
  EXPECT_THAT(prelaunch, HasSubstr("it's q " + dir.string() + ":z $A\n"));
  std::ifstream file(dir / "stdout");
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(file)), {}), "linked\n");
  std::filesystem::remove_all(dir);
}

TEST(Layout, NamesFromOutside) {
  EXPECT_TRUE(IsPlainName("ann"));
  for (const char* bad : {"", ".", "..", "a/b", "a\nb"}) EXPECT_FALSE(IsPlainName(bad)) << bad;
  for (const char* good : {"a", "jobSubmitDir/job.split", "a..b", "a b"}) EXPECT_TRUE(IsPlainLink(good)) << good;
  for (const char* bad : {"", "/a", "../a", "a/../b", "a/..", "a\"\n"}) EXPECT_FALSE(IsPlainLink(bad)) << bad;
}

TEST(Layout, AsHadoop) {
  const model::ContainerId id{{{17, 3}, 1}, 2};
  EXPECT_EQ(WorkDir("/l", "ann", id), "/l/usercache/ann/appcache/application_17_0003/container_17_0003_01_000002");
  EXPECT_EQ(LogDir("/g", id), "/g/application_17_0003/container_17_0003_01_000002");
  EXPECT_EQ(ResourceDir("/l", model::nm::Visibility::kPrivate, "ann", id.attempt.app, 9),
            "/l/usercache/ann/filecache/9");
}

}  // namespace
}  // namespace fairlead::process::nm
