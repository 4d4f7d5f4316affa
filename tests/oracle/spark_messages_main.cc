// oracle_spark_messages SPARK_HOME FILE [AGAIN]: messages made at random and written by an installed Spark's own
// serializer (tests/interop/scala/SparkMessages.scala) against what is read from them and written for them. What
// workers and masters say is also written again, into lines of AGAIN with both streams, for Spark to read. Ends with "N
// passed, N failed".
#include <cstdio>
#include <fstream>

#include "endpoints/spark/message_bounds.h"
#include "oracle/spark_made_messages.h"
#include "oracle/spark_rpc_recording.h"
#include "shell/spark/spark_home.h"
#include "wire/java_stream/reader.h"

int main(int argc, char** argv) {
  using namespace fairlead;
  if (argc < 3 || argc > 4) return std::fputs("usage: oracle_spark_messages SPARK_HOME FILE [AGAIN]\n", stderr), 2;
  const auto build = shell::ReadSparkHome(argv[1]);
  if (!build) return std::fprintf(stderr, "%s\n", build.error().message.c_str()), 2;
  std::ifstream lines(argv[2]);
  std::ofstream again_lines(argc == 4 ? argv[3] : "");
  int passed = 0;
  int failed = 0;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json made = nlohmann::json::parse(line);
    const std::string difference = oracle::DifferenceToMadeMessage(made, *build);
    const auto graph = wire::java_stream::ReadStream(oracle::Unhex(made.at("hex")), endpoints::spark::kSparkMessage);
    const auto again = graph.ok() ? oracle::WrittenAgain(*graph, *build, false) : std::nullopt;
    // What a driver threw is only read.
    if (again && !made.at("said").contains("exception")) {
      again_lines << made.at("hex").get<std::string>() << ' ' << oracle::Hex(*again) << '\n';
    }
    ++(difference.empty() ? passed : failed);
    if (!difference.empty()) {
      std::printf("message %d, %s: %s\n", passed + failed, made["class"].get<std::string>().c_str(),
                  difference.c_str());
    }
  }
  again_lines.close();
  std::printf("%d passed, %d failed\n", passed, failed);
  return passed > 0 && failed == 0 ? 0 : 1;
}
