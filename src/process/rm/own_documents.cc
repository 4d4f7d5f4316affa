#include "process/rm/own_documents.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "process/rm/queue_names.h"

namespace fairlead::process::rm {

namespace v1 = endpoints::v1;

std::string_view Asked(const Query& query, const std::string& key) {
  const auto it = query.find(key);
  return it == query.end() ? std::string_view() : std::string_view(it->second);
}

size_t AskedNumber(const Query& query, const std::string& key, size_t otherwise) {
  const std::string_view text = Asked(query, key);
  int32_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && value >= 0 ? static_cast<size_t>(value)
                                                                                       : otherwise;
}

namespace {

/// Applications in one answer; why each of them waits is worked out on the thread that schedules.
constexpr size_t kPageMax = 1000;
constexpr size_t kNodesMax = 10'000;

bool Waits(const App& app) { return !Core::IsCompleted(app) && app.state != model::rm::AppState::kRunning; }

int64_t ElapsedMs(const App& app, base::WallTime now) {
  return (Core::IsCompleted(app) ? app.finished.ms : now.ms) - app.submitted.ms;
}

}  // namespace

v1::Application ApplicationOf(const App& app, const UsageRecord& used, bool full, base::WallTime now) {
  const AppUsage usage = full ? UsageAt(used, now) : AppUsage{};
  const Attempt* attempt = full ? app.current() : nullptr;
  const auto& submission = app.submission;
  return {.id = ToString(submission.id),
          .name = submission.name,
          .type = submission.type,
          .user = submission.user,
          .queue = submission.queue,
          .state = std::string(EnumName(Core::VisibleState(app))),
          .final_status = std::string(EnumName(Core::VisibleFinalStatus(app))),
          .priority = submission.priority,
          .progress = attempt ? attempt->progress : 0.0F,
          .submitted_ms = app.submitted.ms,
          .launched_ms = app.launched.ms,
          .finished_ms = Core::IsCompleted(app) ? app.finished.ms : 0,
          .elapsed_ms = ElapsedMs(app, now),
          .containers = usage.containers,
          .used = usage.used,
          .tracking_url = attempt ? attempt->original_url : "",
          .hidden = !full};
}

v1::Pending PendingOf(const model::scheduler::Pending& one, base::Instant now) {
  return {.name = one.ask.name,
          .priority = one.ask.priority,
          .count = one.ask.count,
          .capability = one.ask.capability,
          .reason = std::string(EnumName(one.reason)),
          .detail = one.detail,
          .remedy = one.remedy,
          .waiting_ms = (now - one.since).millis()};
}

namespace {

bool ContainsIgnoringCase(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool Matches(const App& app, const Query& query) {
  if (app.state == model::rm::AppState::kNew) return false;
  const std::string_view group = Asked(query, "group");
  if (group == "running" && app.state != model::rm::AppState::kRunning) return false;
  if (group == "waiting" && !Waits(app)) return false;
  if (group == "ended" && !Core::IsCompleted(app)) return false;
  const auto& submission = app.submission;
  if (const auto queue = Asked(query, "queue"); !queue.empty() && !AtOrBelow(submission.queue, queue)) return false;
  if (const auto user = Asked(query, "user"); !user.empty() && user != submission.user) return false;
  const std::string_view text = Asked(query, "text");
  return text.empty() || ContainsIgnoringCase(ToString(submission.id), text) ||
         ContainsIgnoringCase(submission.name, text) || ContainsIgnoringCase(submission.user, text) ||
         ContainsIgnoringCase(submission.queue, text);
}

/// "Is a before b" for the column `key`; the application's id for an unknown one.
std::function<bool(const AppRow*, const AppRow*)> Order(std::string_view key, base::WallTime now) {
  using Text = std::string model::rm::Submission::*;
  static const std::map<std::string_view, Text> kTexts = {{"name", &model::rm::Submission::name},
                                                          {"user", &model::rm::Submission::user},
                                                          {"queue", &model::rm::Submission::queue}};
  if (const auto text = kTexts.find(key); text != kTexts.end()) {
    return [field = text->second](const AppRow* a, const AppRow* b) {
      return a->app.submission.*field < b->app.submission.*field;
    };
  }
  std::function<int64_t(const AppRow&)> number = [](const AppRow& row) {
    return int64_t{row.app.submission.id.number};
  };
  if (key == "state") number = [](const AppRow& row) { return static_cast<int64_t>(Core::VisibleState(row.app)); };
  if (key == "containers") number = [](const AppRow& row) { return int64_t{row.usage.containers}; };
  if (key == "memory") number = [](const AppRow& row) { return row.usage.used.memory_mib(); };
  if (key == "submitted") number = [](const AppRow& row) { return row.app.submitted.ms; };
  if (key == "elapsed") number = [now](const AppRow& row) { return ElapsedMs(row.app, now); };
  return [number](const AppRow* a, const AppRow* b) { return number(*a) < number(*b); };
}

}  // namespace

AppsPage PageOf(const Query& query, const std::vector<const AppRow*>& all, base::WallTime now) {
  std::vector<const AppRow*> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const AppRow* row) { return Matches(row->app, query); });
  std::string_view column = Asked(query, "sort");
  const bool descending = column.starts_with('-');
  if (descending) column.remove_prefix(1);
  const auto before = Order(column, now);
  std::stable_sort(found.begin(), found.end(),
                   [&](const AppRow* a, const AppRow* b) { return descending ? before(b, a) : before(a, b); });
  const size_t first = std::min(AskedNumber(query, "offset", 0), found.size());
  const size_t count = std::min({AskedNumber(query, "limit", kPageMax), kPageMax, found.size() - first});
  const auto begin = found.begin() + static_cast<std::ptrdiff_t>(first);
  return {found.size(), {begin, begin + static_cast<std::ptrdiff_t>(count)}};
}

namespace {

v1::Queue QueueOf(const scheduler::QueueView& view, const model::QueueSet& queues) {
  v1::Queue queue{.name = view.name,
                  .parent = view.parent,
                  .leaf = view.leaf,
                  .policy = view.policy,
                  .weight = view.weight,
                  .fair_share = view.fair_share,
                  .steady_share = view.steady_share,
                  .min_share = view.min_share,
                  .max_share = view.max_share,
                  .demand = view.demand,
                  .used = view.used,
                  .master_used = view.master_used,
                  .runnable_apps = view.runnable_apps,
                  .waiting_apps = view.waiting_apps,
                  .preemptable = view.preemptable,
                  .past_ppm = view.past_ppm};
  for (const scheduler::TaskCounts& one : view.tasks) {
    if (!queue.tasks) queue.tasks.emplace();
    queue.tasks->push_back({std::string(one.type), one.granted, one.waiting, one.missing});
  }
  if (!view.budget.empty()) queue.budget = view.budget;
  if (const model::QueueSet::Queue* configured = queues.Find(view.name)) {
    queue.max_running_apps = configured->max_running_apps;
    queue.max_am_share = configured->max_am_share;
    queue.priority = configured->priority;
    queue.start_time = configured->start_time;
  }
  return queue;
}

}  // namespace

v1::Queues QueuesOf(const scheduler::View& view, const model::QueueSet& queues) {
  v1::Queues all{.cluster = view.cluster};
  for (const scheduler::QueueView& queue : view.queues) all.queues.push_back(QueueOf(queue, queues));
  return all;
}

v1::Node NodeOf(const NodeRow& node) {
  return {.id = ToString(node.address),
          .rack = node.rack,
          .state = std::string(EnumName(node.state)),
          .capacity = node.capacity,
          .used = node.used,
          .containers = node.containers,
          .http_address = node.http_address,
          .version = node.version,
          .health_report = node.health_report};
}

v1::Nodes NodesOf(const Query& query, std::vector<NodeRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const NodeRow& a, const NodeRow& b) {
    return std::tie(a.rack, a.address) < std::tie(b.rack, b.address);
  });
  const std::string_view text = Asked(query, "text");
  std::vector<const NodeRow*> found;
  v1::Nodes nodes;
  for (const NodeRow& node : rows) {
    const int64_t room = node.capacity.memory_mib();
    const int64_t full = room == 0 ? 0 : node.used.memory_mib() * 1000 / room;
    const v1::NodeMark& mark =
        nodes.map.emplace_back(ToString(node.address), node.rack, std::string(EnumName(node.state)), full);
    if (text.empty() || ContainsIgnoringCase(mark.id, text) || ContainsIgnoringCase(mark.rack, text) ||
        ContainsIgnoringCase(mark.state, text)) {
      found.push_back(&node);
    }
  }
  const size_t first = std::min(AskedNumber(query, "offset", 0), found.size());
  const size_t count = std::min(AskedNumber(query, "limit", kNodesMax), found.size() - first);
  nodes.total = static_cast<int64_t>(found.size());
  for (size_t i = first; i < first + count; ++i) nodes.nodes.push_back(NodeOf(*found[i]));
  return nodes;
}

}  // namespace fairlead::process::rm
