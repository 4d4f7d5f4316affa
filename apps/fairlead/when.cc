#include "when.h"

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "base/text.h"
#include "table.h"

namespace fairlead::apps {

using nlohmann::ordered_json;

namespace {

std::string MomentText(const ordered_json& when) {
  if (!when.contains("p50_ms")) return "unknown";
  std::string text = "in " + DurationText(when["p50_ms"].get<int64_t>());
  text += when.contains("p90_ms") ? ", in 9 of 10 cases within " + DurationText(when["p90_ms"].get<int64_t>())
                                  : ", perhaps much later";
  return text;
}

std::string AskText(const ordered_json& ask) {
  const ordered_json size = ask.value("capability", ordered_json::object());
  return std::to_string(ask.value("count", int64_t{0})) + " × " + MemoryText(size.value("memory_mib", int64_t{0})) +
         ", " + Counted(size.value("vcores", int64_t{0}), "vcore");
}

std::string PercentText(double part) { return std::to_string(std::llround(part * 100)) + " %"; }

std::string ReasonOf(const ordered_json& ask) { return base::VisibleText(ask.value("reason", "")); }

}  // namespace

void PrintWhen(const ordered_json& answer) {
  const ordered_json& asks = answer.at("asks");
  if (asks.empty()) std::puts("It waits for nothing.");
  for (const ordered_json& ask : asks) {
    std::puts(AskText(ask).c_str());
    std::printf("  the first  %s\n", MomentText(ask.at("first")).c_str());
    if (ask.value("count", int64_t{0}) > 1) std::printf("  all        %s\n", MomentText(ask.at("all")).c_str());
    std::printf("  because    %s\n", ReasonOf(ask).c_str());
  }
  const ordered_json held = answer.value("held", ordered_json::object());
  const auto estimates = held.value("estimates", int64_t{0});
  if (asks.empty() || estimates <= 0) return;
  const auto share = [&](const char* of) {
    return std::to_string(held.value(of, int64_t{0}) * 100 / estimates) + " %";
  };
  std::printf(
      "Of %s so far %s were served by what 9 of 10 cases were to take, %s within a minute or a tenth of the wait%s.\n",
      Counted(estimates, "estimate").c_str(), share("within_p90").c_str(), share("close").c_str(),
      held.contains("median_error")
          ? ("; half of them were off by at most " + PercentText(held["median_error"].get<double>()) + " of the wait")
                .c_str()
          : "");
}

void PrintWhenBeside(Cluster& cluster, const std::string& id, const ordered_json& detail) {
  if (!detail.is_object() || detail.value("pending", ordered_json::array()).empty()) return;
  const auto answer = AskFairlead(cluster, "apps/" + id + "/when");
  if (!answer.ok()) return;
  for (const ordered_json& ask : answer->at("asks")) {
    std::printf("Starts       %s: %s; %s\n", AskText(ask).c_str(), MomentText(ask.at("first")).c_str(),
                ReasonOf(ask).c_str());
  }
}

}  // namespace fairlead::apps
