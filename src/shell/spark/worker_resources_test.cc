#include "shell/spark/worker_resources.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace fairlead::shell {
namespace {

std::string Script(const std::string& name, const std::string& body) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  ::chmod(path.c_str(), 0700);
  return path;
}

TEST(WorkerResourcesTest, AScriptFindsThemAndAsManyAsAreWantedAreTaken) {
  const std::string script = Script("gpu's.sh", R"(echo '{"name": "gpu", "addresses": ["0", "1", "2"]}')");
  const auto found = ReadWorkerResources({{"spark.worker.resource.gpu.amount", "2"},
                                          {"spark.worker.resource.gpu.discoveryScript", script},
                                          {"spark.worker.resource.fpga.amount", "0"}});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found, (endpoints::spark::Resources{{"gpu", {"0", "1"}}}));
}

TEST(WorkerResourcesTest, AFileGoesBeforeAScript) {
  const std::string path = testing::TempDir() + "resources.json";
  std::ofstream(path) << R"([{"id": {"componentName": "spark.worker", "resourceName": "gpu"}, "addresses": ["7"]}])";
  const auto found =
      ReadWorkerResources({{"spark.worker.resource.gpu.amount", "1"}, {"spark.worker.resourcesFile", path}});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found, (endpoints::spark::Resources{{"gpu", {"7"}}}));
}

TEST(WorkerResourcesTest, WhatIsWrongIsNamed) {
  const auto error = [](const std::string& amount, const std::string& script) {
    const auto found = ReadWorkerResources(
        {{"spark.worker.resource.gpu.amount", amount}, {"spark.worker.resource.gpu.discoveryScript", script}});
    return found.ok() ? "" : found.error().message;
  };
  const std::string one = Script("one.sh", R"(echo '{"name": "gpu", "addresses": ["0"]}')");
  EXPECT_NE(error("2", one).find("2 are wanted and there are 1"), std::string::npos);
  EXPECT_NE(error("x", one).find("is no number"), std::string::npos);
  EXPECT_NE(error("1", "").find("discoveryScript"), std::string::npos);
  EXPECT_NE(error("1", Script("fails.sh", "exit 3")).find("failed"), std::string::npos);
  const auto late = ReadWorkerResources({{"spark.worker.resource.gpu.amount", "1"},
                                         {"spark.worker.resource.gpu.discoveryScript", Script("late.sh", "sleep 60")}},
                                        base::Duration::Millis(100));
  EXPECT_NE(late.error().message.find("did not end within"), std::string::npos);
  EXPECT_NE(error("1", Script("words.sh", "echo no json")).find("says no addresses"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::shell
