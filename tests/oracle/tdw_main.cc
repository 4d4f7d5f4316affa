#include <cstdio>
#include <string>

#include "oracle/oracle.h"
#include "oracle/tdw_replay.h"

// oracle_tdw DIR: scenarios of a model of TDW's ClusterManager, and what it decided. Those named open-* show a choice
// where the article is silent: they are printed and not counted.

int main(int argc, char** argv) {
  using namespace fairlead::oracle;
  if (argc != 2 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: oracle_tdw DIR\n");
    return 2;
  }
  const auto replay = [](const nlohmann::json& scenario, const std::vector<nlohmann::json>& expected,
                         const std::string&, const std::string&) { return ReplayTdw(scenario, expected); };
  const auto counts = [](const std::string& name) { return !name.starts_with("open-"); };
  return RunAll(argv[1], "", {""}, replay, "", counts);
}
