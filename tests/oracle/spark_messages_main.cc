// oracle_spark_messages SPARK_HOME FILE: messages made at random and written by an installed Spark's own serializer
// (tests/interop/scala/SparkMessages.scala) against what is read from them and written for them. Ends with "N passed, N
// failed".
#include <cstdio>
#include <fstream>

#include "oracle/spark_made_messages.h"
#include "shell/spark/spark_home.h"

int main(int argc, char** argv) {
  using namespace fairlead;
  if (argc != 3) return std::fputs("usage: oracle_spark_messages SPARK_HOME FILE\n", stderr), 2;
  const auto build = shell::ReadSparkHome(argv[1]);
  if (!build) return std::fprintf(stderr, "%s\n", build.error().message.c_str()), 2;
  std::ifstream lines(argv[2]);
  int passed = 0;
  int failed = 0;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json made = nlohmann::json::parse(line);
    const std::string difference = oracle::DifferenceToMadeMessage(made, *build);
    ++(difference.empty() ? passed : failed);
    if (!difference.empty()) {
      std::printf("message %d, %s: %s\n", passed + failed, made["class"].get<std::string>().c_str(),
                  difference.c_str());
    }
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return passed > 0 && failed == 0 ? 0 : 1;
}
