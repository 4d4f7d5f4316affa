#include "process/rm/own_documents.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "process/rm/queue_names.h"

namespace fairlead::process::rm {

using endpoints::rest::Document;

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

Document AmountDocument(const model::Resources& resources) {
  Document document = Document::Object().Add("memory_mib", resources.memory_mib()).Add("vcores", resources.vcores());
  for (size_t type = 2; type < model::ResourceTypes::Count(); ++type) {
    document.Add(std::string(model::ResourceTypes::Name(type)), resources[type]);
  }
  return document;
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

Document ShortApp(const App& app, const UsageRecord& used, bool full, base::WallTime now) {
  const AppUsage usage = full ? UsageAt(used, now) : AppUsage{};
  const Attempt* attempt = full ? app.current() : nullptr;
  return Document::Object()
      .Add("id", ToString(app.submission.id))
      .Add("name", app.submission.name)
      .Add("type", app.submission.type)
      .Add("user", app.submission.user)
      .Add("queue", app.submission.queue)
      .Add("state", EnumName(Core::VisibleState(app)))
      .Add("final_status", EnumName(Core::VisibleFinalStatus(app)))
      .Add("priority", app.submission.priority)
      .Add("progress", Document::Float(attempt ? attempt->progress : 0.0F))
      .Add("submitted_ms", app.submitted.ms)
      .Add("launched_ms", app.launched.ms)
      .Add("finished_ms", Core::IsCompleted(app) ? app.finished.ms : 0)
      .Add("elapsed_ms", ElapsedMs(app, now))
      .Add("containers", usage.containers)
      .Add("used", AmountDocument(usage.used))
      .Add("tracking_url", attempt ? attempt->original_url : "")
      .Add("hidden", !full);
}

Document PendingDocument(const model::scheduler::Pending& one, base::Instant now) {
  return Document::Object()
      .Add("name", one.ask.name)
      .Add("priority", one.ask.priority)
      .Add("count", one.ask.count)
      .Add("capability", AmountDocument(one.ask.capability))
      .Add("reason", EnumName(one.reason))
      .Add("detail", one.detail)
      .Add("remedy", one.remedy)
      .Add("waiting_ms", (now - one.since).millis());
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

/// Settings that no view has, where the file gives them.
void AddSettings(const model::QueueSet::Queue& queue, Document& document) {
  if (queue.max_running_apps) document.Add("max_running_apps", *queue.max_running_apps);
  if (queue.max_am_share) document.Add("max_am_share", Document::Double(*queue.max_am_share));
  if (queue.priority) document.Add("priority", *queue.priority);
  if (queue.start_time) document.Add("start_time", *queue.start_time);
}

Document TasksDocument(const std::vector<scheduler::TaskCounts>& tasks) {
  Document::List list;
  for (const scheduler::TaskCounts& one : tasks) {
    list.push_back(Document::Object()
                       .Add("type", one.type)
                       .Add("granted", one.granted)
                       .Add("waiting", one.waiting)
                       .Add("missing", one.missing));
  }
  return Document(std::move(list));
}

}  // namespace

Document QueuesDocument(const scheduler::View& view, const model::QueueSet& queues) {
  Document::List list;
  for (const scheduler::QueueView& queue : view.queues) {
    list.push_back(Document::Object()
                       .Add("name", queue.name)
                       .Add("parent", queue.parent)
                       .Add("leaf", queue.leaf)
                       .Add("policy", queue.policy)
                       .Add("weight", Document::Double(queue.weight))
                       .Add("fair_share", AmountDocument(queue.fair_share))
                       .Add("steady_share", AmountDocument(queue.steady_share))
                       .Add("min_share", AmountDocument(queue.min_share))
                       .Add("max_share", AmountDocument(queue.max_share))
                       .Add("demand", AmountDocument(queue.demand))
                       .Add("used", AmountDocument(queue.used))
                       .Add("master_used", AmountDocument(queue.master_used))
                       .Add("runnable_apps", queue.runnable_apps)
                       .Add("waiting_apps", queue.waiting_apps)
                       .Add("preemptable", queue.preemptable));
    if (!queue.tasks.empty()) list.back().Add("tasks", TasksDocument(queue.tasks));
    if (queue.past_ppm) list.back().Add("past_ppm", *queue.past_ppm);
    if (!queue.budget.empty()) list.back().Add("budget", queue.budget);
    if (const model::QueueSet::Queue* configured = queues.Find(queue.name)) AddSettings(*configured, list.back());
  }
  return Document::Object().Add("cluster", AmountDocument(view.cluster)).Add("queues", Document(std::move(list)));
}

Document ShortNode(const NodeRow& node) {
  return Document::Object()
      .Add("id", ToString(node.address))
      .Add("rack", node.rack)
      .Add("state", EnumName(node.state))
      .Add("capacity", AmountDocument(node.capacity))
      .Add("used", AmountDocument(node.used))
      .Add("containers", node.containers)
      .Add("http_address", node.http_address)
      .Add("version", node.version)
      .Add("health_report", node.health_report);
}

Document NodesDocument(const Query& query, std::vector<NodeRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const NodeRow& a, const NodeRow& b) {
    return std::tie(a.rack, a.address) < std::tie(b.rack, b.address);
  });
  const std::string_view text = Asked(query, "text");
  std::vector<const NodeRow*> found;
  Document::List map;
  for (const NodeRow& node : rows) {
    const int64_t room = node.capacity.memory_mib();
    const int64_t full = room == 0 ? 0 : node.used.memory_mib() * 1000 / room;
    map.push_back(Document(Document::List{ToString(node.address), node.rack, EnumName(node.state), full}));
    if (text.empty() || ContainsIgnoringCase(ToString(node.address), text) || ContainsIgnoringCase(node.rack, text) ||
        ContainsIgnoringCase(EnumName(node.state), text)) {
      found.push_back(&node);
    }
  }
  const size_t first = std::min(AskedNumber(query, "offset", 0), found.size());
  const size_t count = std::min(AskedNumber(query, "limit", kNodesMax), found.size() - first);
  Document::List list;
  for (size_t i = first; i < first + count; ++i) list.push_back(ShortNode(*found[i]));
  return Document::Object()
      .Add("total", static_cast<int64_t>(found.size()))
      .Add("nodes", Document(std::move(list)))
      .Add("map", Document(std::move(map)));
}

}  // namespace fairlead::process::rm
