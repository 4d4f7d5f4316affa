#include "process/ask/change.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "config/fairlead_yaml.h"

namespace fairlead::process::ask {

namespace {

constexpr size_t kLongestText = 1024;

std::optional<int64_t> Number(std::string_view text) {
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value <= 0) return {};
  return value;
}

/// The parts before and behind the last `mark`; the second is empty where there is none.
std::pair<std::string_view, std::string_view> SplitLast(std::string_view text, char mark) {
  const size_t at = text.rfind(mark);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

base::Result<Change> ParseQueue(std::string_view text) {
  const size_t equals = text.find('=');
  const auto [queue, setting] = SplitLast(text.substr(0, equals), '.');
  if (equals == std::string_view::npos || queue.empty() || setting.empty()) {
    return base::Error{"write queue QUEUE.SETTING=VALUE, for example queue root.prod.weight=5"};
  }
  return Change(SetQueue{std::string(queue), std::string(setting), std::string(text.substr(equals + 1))});
}

base::Result<Change> ParseAdd(std::string_view text) {
  const auto [count, like] = SplitLast(text, '=');
  const std::optional<int64_t> number = Number(count);
  if (!number || *number > kMostNodesAdded) {
    return base::Error{"write add-nodes COUNT or COUNT=HOST, at most " + std::to_string(kMostNodesAdded)};
  }
  return Change(AddNodes{static_cast<int32_t>(*number), std::string(like)});
}

base::Result<Change> ParseSubmit(std::string_view text) {
  const base::Error wrong{
      "write submit COUNTxMEMORY,VCORESxTIME@QUEUE, for example 100x2GiB,1x10m@root.prod, with at most " +
      std::to_string(kMostSubmitted) + " containers"};
  const auto [shape, queue] = SplitLast(text, '@');
  const size_t first = shape.find('x');
  if (queue.empty() || first == std::string_view::npos) return wrong;
  const auto [size, time] = SplitLast(shape.substr(first + 1), 'x');
  const auto [memory, cores] = SplitLast(size, ',');
  const std::optional<int64_t> count = Number(shape.substr(0, first));
  const std::optional<int64_t> vcores = Number(cores);
  const base::Result<int64_t> mib = config::ParseMemoryMib(memory);
  const base::Result<base::Duration> run = ParseTime(time);
  if (!count || *count > kMostSubmitted || !vcores || *vcores > INT32_MAX || !mib.ok() || *mib <= 0) return wrong;
  if (!run.ok()) return run.error();
  return Change(
      Submit{static_cast<int32_t>(*count), model::Resources::Of(*mib, *vcores), *run, std::string(queue), ""});
}

base::Result<Change> ParseApp(std::string_view text) {
  const base::Result<model::ApplicationId> id = model::ParseApplicationId(text);
  if (!id.ok()) return id.error();
  return Change(KillApp{*id});
}

base::Result<Change> ParseMove(std::string_view text) {
  const size_t mark = text.find_first_of("= ");
  const std::string_view app = text.substr(0, mark);
  const std::string_view queue = mark == std::string_view::npos ? "" : text.substr(mark + 1);
  if (queue.empty()) return base::Error{"write move APP=QUEUE or move APP QUEUE"};
  const base::Result<model::ApplicationId> id = model::ParseApplicationId(app);
  if (!id.ok()) return id.error();
  return Change(MoveApp{*id, std::string(queue)});
}

struct Parser {
  std::string_view name;
  base::Result<Change> (*parse)(std::string_view value);
};
constexpr std::array kParsers = {
    Parser{"queue", ParseQueue},
    Parser{"lose-node", [](std::string_view text) { return base::Result<Change>(LoseNode{std::string(text)}); }},
    Parser{"lose-rack", [](std::string_view text) { return base::Result<Change>(LoseRack{std::string(text)}); }},
    Parser{"add-nodes", ParseAdd},
    Parser{"drain", [](std::string_view text) { return base::Result<Change>(DrainNode{std::string(text)}); }},
    Parser{"submit", ParseSubmit},
    Parser{"kill", ParseApp},
    Parser{"move", ParseMove},
    Parser{"profile", [](std::string_view text) { return base::Result<Change>(UseProfile{std::string(text)}); }},
};

}  // namespace

base::Result<base::Duration> ParseTime(std::string_view text) {
  constexpr std::array<std::pair<char, int64_t>, 4> kUnits = {{{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}}};
  const std::optional<int64_t> number = text.empty() ? std::nullopt : Number(text.substr(0, text.size() - 1));
  for (const auto& [unit, seconds] : kUnits) {
    if (!number || text.back() != unit || *number > kLongestRun.ns / 1'000'000'000 / seconds) continue;
    return base::Duration::Seconds(*number * seconds);
  }
  return base::Error{"'" + std::string(text.substr(0, 32)) +
                     "' is no time of at most 30 days; write 90s, 10m, 2h or 1d"};
}

base::Result<Change> ParseChange(std::string_view text) {
  if (text.size() > kLongestText) return base::Error{"a change is at most 1024 characters"};
  const size_t blank = text.find(' ');
  const std::string_view name = text.substr(0, blank);
  const std::string_view value = blank == std::string_view::npos ? "" : text.substr(blank + 1);
  std::string names;
  for (const Parser& parser : kParsers) {
    if (parser.name == name && !value.empty()) return parser.parse(value);
    names += (names.empty() ? "" : ", ") + std::string(parser.name);
  }
  return base::Error{"'" + std::string(text.substr(0, 64)) + "' is no change; write NAME VALUE with one of " + names};
}

base::Status WithinSums(const std::vector<Change>& changes) {
  int64_t nodes = 0;
  int64_t containers = 0;
  for (const Change& change : changes) {
    if (const auto* more = std::get_if<AddNodes>(&change)) nodes += more->count;
    if (const auto* job = std::get_if<Submit>(&change)) containers += job->count;
  }
  if (nodes > kMostNodesAdded) {
    return base::Error{"at most " + std::to_string(kMostNodesAdded) + " nodes can be added, in all"};
  }
  if (containers > kMostSubmitted) {
    return base::Error{"at most " + std::to_string(kMostSubmitted) + " containers can be submitted, in all"};
  }
  return {};
}

}  // namespace fairlead::process::ask
