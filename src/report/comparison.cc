#include "report/comparison.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>

#include "base/text.h"
#include "report/words.h"

namespace fairlead::report {
namespace {

using Apps = std::vector<const v1::AppFates*>;

std::string Time(int64_t ms) { return TimeText(base::Duration::Millis(std::abs(ms))); }
const char* Later(int64_t ms) { return ms >= 0 ? "later" : "sooner"; }
std::string Many(int64_t count, const char* one, const char* many) { return count == 1 ? one : many; }

std::string NameOf(const v1::AppFates& app) {
  return app.id + " (" + app.name + (app.name.empty() ? "of " : " of ") + app.user + ", " + app.queue + ")";
}

/// Which limit a word of BindingLimit stands for.
std::string LimitText(std::string_view reason) {
  using enum model::scheduler::PendingReason;
  if (reason == EnumName(kMasterShare)) return "what masters may use";
  if (reason == EnumName(kMaxRunningApps)) return "how many applications may run";
  if (reason == EnumName(kUserLimit)) return "what a user may run there, or use";
  if (reason == EnumName(kUserMaximum)) return "what a user or a group may use";
  return "what the queue, or one above it, may use";
}

int64_t Differ(const v1::QueueFates& sums) { return sums.apps_later + sums.apps_sooner; }

/// Those first that lose or gain most in sum.
std::vector<const Group*> BySize(const std::vector<Group>& groups) {
  std::vector<const Group*> order;
  for (const Group& group : groups) order.push_back(&group);
  const auto size = [](const Group* group) { return std::abs(group->sums.mean_ms) * Differ(group->sums); };
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return size(a) > size(b); });
  return order;
}

class Teller {
 public:
  Teller(const Comparison& comparison, Most most) : told_(comparison), most_(most) {}

  std::vector<std::string> Tell() {
    TellOfApps();
    TellOfGroups("Queue ", told_.queues);
    if (told_.users.size() > 1) TellOfGroups("User ", told_.users);  // else it is said of the queues
    TellOfTaken();
    for (const v1::BindingLimit& one : told_.limits) {
      const std::string when = one.first_ms > 0 ? "In " + Time(one.first_ms) + " a" : "A";
      Say(when + " limit begins to bind in " + one.queue + ": " + LimitText(one.reason));
    }
    for (const v1::BindingLimit& one : told_.limits_no_more)
      Say("A limit does not bind any more in " + one.queue + ": " + LimitText(one.reason));
    if (sentences_.empty()) Say(told_.nothing + " is different" + Within());
    if (WholePercent(told_.used_before) != WholePercent(told_.used_after)) {
      Say("Of the memory " + WholePercent(told_.used_after) + " are in use in the mean, instead of " +
          WholePercent(told_.used_before));
    }
    return std::move(sentences_);
  }

 private:
  void Say(const std::string& text) { sentences_.push_back(text + "."); }
  std::string Within() const { return told_.ahead_ms ? " within " + Time(*told_.ahead_ms) : ""; }
  std::string Units(int64_t count) const { return base::Counted(count, told_.unit); }

  void TellOfApps() {
    Apps later, sooner, end_no_more, end_then, start_no_more, start_then;
    for (const v1::AppFates& app : told_.apps) {
      const auto delta = DeltaOf(app);
      if (delta && std::abs(*delta) >= kSameMs) (*delta > 0 ? later : sooner).push_back(&app);
      if (!app.before.end_ms != !app.after.end_ms) {
        (app.after.end_ms ? end_then : end_no_more).push_back(&app);
      } else if (!app.before.first_ms != !app.after.first_ms) {
        (app.after.first_ms ? start_then : start_no_more).push_back(&app);
      }
    }
    TellOf(later);
    TellOf(sooner);
    TellOnly(end_no_more, told_.before, "ends", "end");
    TellOnly(end_then, told_.after, "ends", "end");
    TellOnly(start_no_more, told_.before, "gets a container", "get containers");
    TellOnly(start_then, told_.after, "gets a container", "get containers");
  }

  /// Those of most difference by name, and how many there are.
  void TellOf(Apps& apps) {
    if (apps.empty()) return;
    std::stable_sort(apps.begin(), apps.end(),
                     [](auto* a, auto* b) { return std::abs(*DeltaOf(*a)) > std::abs(*DeltaOf(*b)); });
    const int64_t most = *DeltaOf(*apps.front());
    const auto count = static_cast<int64_t>(apps.size());
    Say(Units(count) + Many(count, " is", " are") + " served " + Later(most) + ", by " + Time(most) + " at most");
    size_t named = 0;
    for (const v1::AppFates* app : apps) {
      if (app->id.empty()) continue;
      if (named++ == most_.named) break;
      const int64_t delta = *DeltaOf(*app);
      const v1::Fate& fate = app->after;
      const std::string by = Time(delta) + " " + Later(delta) + ", " + told_.then + " ";
      Say(NameOf(*app) + (fate.end_ms
                              ? " ends " + by + Time(*fate.end_ms)
                              : " has what it waits for " + by + Time(*(fate.last_ms ? fate.last_ms : fate.first_ms))));
    }
  }

  /// What `apps` do in one of the runs alone.
  void TellOnly(const Apps& apps, const std::string& in, const char* one, const char* many) {
    if (apps.empty()) return;
    std::string names;
    size_t named = 0;
    for (const v1::AppFates* app : apps) {
      if (!app->id.empty() && named < most_.named) {
        ++named;
        names += (names.empty() ? ": " : ", ") + NameOf(*app);
      }
    }
    const auto count = static_cast<int64_t>(apps.size());
    if (!names.empty() && apps.size() > named) names += " and " + std::to_string(apps.size() - named) + " more";
    Say("Only " + in + " " + Units(count) + " " + Many(count, one, many) + Within() + names);
  }

  void TellOfGroups(const std::string& what, const std::vector<Group>& groups) {
    size_t left = most_.groups;
    for (const Group* group : BySize(groups)) {
      const v1::QueueFates& sums = group->sums;
      const int64_t differ = Differ(sums);
      if (!group->told || std::abs(sums.mean_ms) < kSameMs) continue;  // what it loses it gains elsewhere
      if (left-- == 0) return;
      Say(what + sums.name + " is served " + Later(sums.mean_ms) + ": " +
          (differ == sums.apps ? Units(differ) : std::to_string(differ) + " of " + Units(sums.apps)) + ", by " +
          (sums.apps_no_more > 0 ? "at least " : "") + Time(sums.mean_ms) + " on the mean");
      if (!group->why.empty()) sentences_.back() += " " + group->why;
    }
  }

  void TellOfTaken() {
    const auto back = [&](const std::string& from, int64_t more) {
      Say(from + " " + base::Counted(more, "container") + " more " + Many(more, "is", "are") + " taken back");
    };
    for (const auto& [from, more] : told_.taken) {
      if (more > 0) back("From " + from, more);
    }
    if (told_.lost > 0)
      Say(base::Counted(told_.lost, "container") + " more " + Many(told_.lost, "ends", "end") + " before time");
    Apps victims;
    const auto more = [](const v1::AppFates* app) { return app->after.taken - app->before.taken; };
    for (const v1::AppFates& app : told_.apps) {
      if (!app.id.empty() && more(&app) > 0) victims.push_back(&app);
    }
    std::stable_sort(victims.begin(), victims.end(), [&](auto* a, auto* b) { return more(a) > more(b); });
    victims.resize(std::min(victims.size(), most_.named));
    for (const v1::AppFates* app : victims) back("Of " + NameOf(*app), more(app));
  }

  const Comparison& told_;
  Most most_;
  std::vector<std::string> sentences_;
};

std::string ChangeText(int64_t ms) { return SpanText(std::abs(ms)) + " " + Later(ms); }

Table AppTable(const Comparison& comparison, size_t most) {
  Table table{comparison.unit == "job" ? "Jobs" : "Applications",
              {comparison.unit, "name", "user", "queue", "first container", "end", "change", "taken back"},
              {}};
  Apps apps;
  for (const v1::AppFates& app : comparison.apps) {
    if (!app.id.empty()) apps.push_back(&app);
  }
  const auto size = [](const v1::AppFates* app) { return std::abs(DeltaOf(*app).value_or(0)); };
  std::stable_sort(apps.begin(), apps.end(), [&](auto* a, auto* b) { return size(a) > size(b); });
  table.left_out = apps.size() - std::min(apps.size(), most);
  apps.resize(apps.size() - table.left_out);
  for (const v1::AppFates* app : apps) {
    const auto delta = DeltaOf(*app);
    table.rows.push_back({{app->id, app->name, app->user, app->queue, FromTo(app->before.first_ms, app->after.first_ms),
                           FromTo(app->before.end_ms, app->after.end_ms), delta ? ChangeText(*delta) : "-",
                           std::to_string(app->before.taken) + " -> " + std::to_string(app->after.taken)}});
  }
  return table;
}

Table GroupTable(const Comparison& comparison, const std::string& title, const std::vector<Group>& groups) {
  Table table{
      title + "s", {base::Lowered(title), comparison.unit + "s", "later", "sooner", "no more", "on the mean"}, {}};
  table.header.insert(table.header.end(), comparison.columns.begin(), comparison.columns.end());
  for (const Group* group : BySize(groups)) {
    const v1::QueueFates& sums = group->sums;
    Table::Row row{{sums.name, std::to_string(sums.apps), std::to_string(sums.apps_later),
                    std::to_string(sums.apps_sooner), std::to_string(sums.apps_no_more),
                    Differ(sums) == 0 ? "-" : ChangeText(sums.mean_ms)}};
    row.cells.insert(row.cells.end(), group->cells.begin(), group->cells.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table LimitTable(const Comparison& comparison) {
  Table table{"Limits", {"queue", "limit", "binds"}, {}};
  for (const v1::BindingLimit& one : comparison.limits)
    table.rows.push_back({{one.queue, LimitText(one.reason), "only " + comparison.after}});
  for (const v1::BindingLimit& one : comparison.limits_no_more)
    table.rows.push_back({{one.queue, LimitText(one.reason), "only " + comparison.before}});
  return table;
}

}  // namespace

std::optional<int64_t> DeltaOf(const v1::AppFates& app) {
  for (const auto part : {&v1::Fate::end_ms, &v1::Fate::last_ms, &v1::Fate::first_ms}) {
    if (app.before.*part && app.after.*part) return *(app.after.*part) - *(app.before.*part);
    if (app.before.*part || app.after.*part) return {};
  }
  return {};
}

std::vector<Group> GroupsOf(const std::vector<v1::AppFates>& apps, std::string v1::AppFates::*name,
                            std::optional<int64_t> ahead_ms, bool named) {
  std::map<std::string, v1::QueueFates> all;
  for (const v1::AppFates& app : apps) {
    if (named && app.id.empty()) continue;
    v1::QueueFates& sums = all[app.*name];
    ++sums.apps;
    const auto served = [](const v1::Fate& fate) {
      return fate.end_ms ? fate.end_ms : fate.last_ms ? fate.last_ms : fate.first_ms;
    };
    const bool ends_no_more = app.before.end_ms && !app.after.end_ms;
    const bool starts_no_more = !app.after.end_ms && app.before.first_ms && !app.after.first_ms;
    if (const auto delta = DeltaOf(app); delta && std::abs(*delta) >= kSameMs) {
      ++(*delta > 0 ? sums.apps_later : sums.apps_sooner);
      sums.mean_ms += *delta;
    } else if (ahead_ms && (ends_no_more || starts_no_more)) {
      ++sums.apps_later;
      ++sums.apps_no_more;
      sums.mean_ms += std::max<int64_t>(*ahead_ms - *served(app.before), 0);
    }
  }
  std::vector<Group> groups;
  for (auto& [group, sums] : all) {
    sums.name = group;
    if (const int64_t differ = Differ(sums); differ > 0) sums.mean_ms /= differ;
    groups.push_back({std::move(sums)});
  }
  return groups;
}

std::vector<std::string> Sentences(const Comparison& comparison, Most most) { return Teller(comparison, most).Tell(); }

std::vector<Table> Tables(const Comparison& comparison, size_t most) {
  std::vector<Table> tables = {AppTable(comparison, most), GroupTable(comparison, "Queue", comparison.queues),
                               GroupTable(comparison, "User", comparison.users), LimitTable(comparison)};
  std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
  for (Table& table : tables) Cut(table, most);
  return tables;
}

}  // namespace fairlead::report
