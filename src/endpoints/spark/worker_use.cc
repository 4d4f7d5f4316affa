#include "endpoints/spark/worker_use.h"

#include <charconv>

#include "model/use_text.h"

namespace fairlead::endpoints::spark {
namespace {

constexpr std::string_view kPrefix = "FairleadUse ";
constexpr int64_t kMostCores = 1'000'000;
constexpr int64_t kMostMib = int64_t{1} << 30;

/// A number between 1 and `most` and the space behind it, taken off the text.
std::optional<int64_t> TakeNumber(std::string_view& text, int64_t most) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || value < 1 || value > most || stopped == end || *stopped != ' ') return std::nullopt;
  text.remove_prefix(static_cast<size_t>(stopped + 1 - text.data()));
  return value;
}

}  // namespace

std::string EndpointNameOf(const WorkerUse& use) {
  return std::string(kPrefix) + std::to_string(use.cores) + " " + std::to_string(use.mib) + " " +
         model::ToText(use.use);
}

std::optional<WorkerUse> UseInEndpointName(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const auto cores = TakeNumber(name, kMostCores);
  const auto mib = cores ? TakeNumber(name, kMostMib) : std::nullopt;
  if (!mib) return std::nullopt;
  return WorkerUse{model::ParseUse(name), *cores, *mib};
}

}  // namespace fairlead::endpoints::spark
