#include "process/ask/answer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "process/ask/forecast.h"
#include "process/ask/learned.h"

namespace fairlead::process::ask {

namespace v1 = endpoints::v1;

namespace {

/// Who is named in sentences, of those who gain and of those who lose.
constexpr size_t kNamed = 3;
/// In the table of applications.
constexpr size_t kMostRows = 1000;
/// What differs by less is the same.
constexpr base::Duration kSame = base::Duration::Seconds(1);

/// One application in one future, from the present on.
struct Fate {
  std::optional<base::Duration> first;  // it gets a container
  std::optional<base::Duration> last;   // it gets its last one
  std::optional<base::Duration> end;
  int64_t taken = 0;
  int64_t lost = 0;
};

struct Story {
  std::map<model::AppIndex, Fate> fates;
  std::map<std::string, int64_t> taken;  // by queue
  int64_t lost = 0;
  double used = 0;  // of the cluster's memory over the whole time, between 0 and 1
};

struct Pair {
  const Present::App* app = nullptr;
  Fate before;
  Fate after;
  /// Later (above 0) or sooner: its end, else its last container, else its first; nothing: that is in one future only,
  /// or in none.
  std::optional<base::Duration> Delta() const {
    for (const auto part : {&Fate::end, &Fate::last, &Fate::first}) {
      if (before.*part && after.*part) return *(after.*part) - *(before.*part);
      if (before.*part || after.*part) return {};
    }
    return {};
  }
  /// What is in the unchanged future alone is later by at least what is left of `time` from then on.
  base::Duration AtLeastLater(base::Duration time) const {
    for (const auto part : {&Fate::end, &Fate::last, &Fate::first}) {
      if (before.*part && !(after.*part)) return std::max(time - *(before.*part), base::Duration{});
    }
    return {};
  }
};

Story Tell(const Present& present, const Outcome& outcome, base::Duration time) {
  Story story;
  std::map<model::AppIndex, const Present::App*> apps;
  for (const Present::App& app : present.apps) apps.emplace(app.index, &app);
  // What runs at the end has not ended; memory times seconds.
  double use = 0;
  const base::Instant until = present.now + time;
  const auto left = [&](base::Instant from) { return std::max((until - from).seconds(), 0.0); };
  for (const Present::Container& one : present.containers) {
    use += static_cast<double>(one.size.memory_mib()) * left(present.now);
  }
  for (const Outcome::Start& start : outcome.starts) {
    if (start.at > until) break;
    use += static_cast<double>(start.memory_mib) * left(start.at);
    Fate& fate = story.fates[start.app];
    if (!fate.first) fate.first = start.at - present.now;
    fate.last = start.at - present.now;
  }
  for (const Outcome::End& end : outcome.ends) {
    if (end.at > until) break;
    use -= static_cast<double>(end.memory_mib) * left(end.at);
    Fate& fate = story.fates[end.app];
    if (end.taken) {
      ++fate.taken;
      const auto app = apps.find(end.app);
      ++story.taken[app == apps.end() ? "" : app->second->queue];
    } else if (end.lost) {
      ++fate.lost;
      ++story.lost;
    }
  }
  for (const auto& [app, at] : outcome.apps_ended) {
    if (at <= until) story.fates[app].end = at - present.now;
  }
  const auto memory = static_cast<double>(outcome.memory_mib);
  if (memory > 0 && time.ns > 0) story.used = use / (memory * time.seconds());
  return story;
}

std::string NameOf(const Present::App& app) {
  return ToString(app.id) + " (" + app.name + " of " + app.user + ", " + app.queue + ")";
}

/// Of Future's limits.
const char* WordsOf(model::scheduler::PendingReason reason) {
  using enum model::scheduler::PendingReason;
  switch (reason) {
    case kMasterShare:
      return "what masters may use";
    case kMaxRunningApps:
      return "how many applications may run";
    case kUserLimit:
      return "how many applications of a user may run";
    case kUserMaximum:
      return "what a user or a group may use";
    default:
      return "what the queue, or one above it, may use";
  }
}

std::string Percent(double part) { return std::to_string(std::lround(part * 100)) + " %"; }

/// "ends 12 min later, in 40 min": both futures have it.
std::string HowMuch(const Pair& pair) {
  const base::Duration delta = *pair.Delta();
  const std::string by = TimeText({std::abs(delta.ns)}) + (delta.ns > 0 ? " later" : " sooner");
  if (pair.after.end) return "ends " + by + ", in " + TimeText(*pair.after.end);
  return "has what it waits for " + by + ", in " + TimeText(*(pair.after.last ? pair.after.last : pair.after.first));
}

class Teller {
 public:
  Teller(const Present& present, base::Duration time) : present_(present), time_(time) {}

  v1::WhatIf Compare(const Future& plain, const Future& changed, const std::vector<std::string>& lost) {
    const Story before = Tell(present_, plain.outcome(), time_);
    const Story after = Tell(present_, changed.outcome(), time_);
    for (const Present::App& app : present_.apps) {
      if (changed.outcome().apps_killed.contains(app.index)) continue;  // that is the change
      Pair pair{&app, {}, {}};
      if (const auto at = before.fates.find(app.index); at != before.fates.end()) pair.before = at->second;
      if (const auto at = after.fates.find(app.index); at != after.fates.end()) pair.after = at->second;
      Sort(std::move(pair));
    }
    for (size_t i = 0; i < changed.submitted().size(); ++i) TellOfJob(after, changed.submitted(), i);
    TellOfApps();
    queues_ = SumsBy(&Present::App::queue, false);
    users_ = SumsBy(&Present::App::user, true);
    TellOfGroups(queues_, "");
    if (users_.size() > 1) TellOfGroups(users_, "User ");  // else it is said of the queues
    TellOfTaken(before, after);
    TellOfVictims();
    TellOfLimits(plain.outcome(), changed.outcome());
    if (sentences_.empty()) Say("Nothing is different within " + TimeText(time_) + ".");
    if (Percent(before.used) != Percent(after.used)) {
      Say("Of the memory " + Percent(after.used) + " are in use in the mean, instead of " + Percent(before.used) + ".");
    }
    const auto containers = static_cast<int64_t>(present_.containers.size() + changed.outcome().starts.size());
    TellOfDoubt(plain.outcome(), changed.outcome(), containers);
    for (const std::string& what : lost) Say("Not carried into the other profile: " + what + ".");
    return {.for_s = time_.ns / 1'000'000'000,
            .sentences = std::move(sentences_),
            .apps = Rows(),
            .queues = std::move(queues_),
            .users = std::move(users_),
            .limits = LimitRows(plain.outcome(), changed.outcome()),
            .limits_no_more = LimitRows(changed.outcome(), plain.outcome()),
            .used_before = before.used,
            .used_after = after.used,
            .containers = containers,
            .unknown_run_times = changed.outcome().endless,
            .undecided = Undecided(changed.outcome())};
  }

 private:
  void Say(std::string text) { sentences_.emplace_back(std::move(text)); }

  void Sort(Pair pair) {
    const auto delta = pair.Delta();
    if (delta && *delta >= kSame) later_.push_back(pair);
    if (delta && *delta <= base::Duration{} - kSame) sooner_.push_back(pair);
    if (!pair.before.end != !pair.after.end) {
      (pair.after.end ? ends_then_ : ends_no_more_).push_back(pair);
    } else if (!pair.before.first != !pair.after.first) {
      (pair.after.first ? starts_then_ : starts_no_more_).push_back(pair);
    }
    all_.push_back(std::move(pair));
  }

  void TellOfJob(const Story& after, const std::vector<Future::Submitted>& jobs, size_t which) {
    const std::string name =
        (jobs.size() > 1 ? "Job " + std::to_string(which + 1) : "The job") + " in " + jobs[which].queue;
    const auto at = after.fates.find(jobs[which].app);
    const Fate fate = at == after.fates.end() ? Fate{} : at->second;
    if (!fate.first) return Say(name + " does not start within " + TimeText(time_) + ".");
    Say(name + " starts in " + TimeText(*fate.first) +
        (fate.end ? " and ends in " + TimeText(*fate.end) : ", and does not end within " + TimeText(time_)) + ".");
  }

  /// Those of most difference by name, and how many there are.
  void TellOf(std::vector<Pair>& pairs, const char* how) {
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& a, const Pair& b) { return std::abs(a.Delta()->ns) > std::abs(b.Delta()->ns); });
    if (pairs.empty()) return;
    const base::Duration most{std::abs(pairs.front().Delta()->ns)};
    Say(base::Counted(static_cast<int64_t>(pairs.size()), "application") + (pairs.size() == 1 ? " is " : " are ") +
        "served " + how + ", by " + TimeText(most) + " at most.");
    size_t named = 0;
    for (const Pair& pair : pairs) {
      if (!pair.app->visible || named == kNamed) continue;
      ++named;
      Say(NameOf(*pair.app) + " " + HowMuch(pair) + ".");
    }
  }
  /// What `pairs` do in one of the futures alone.
  void TellOnly(const std::vector<Pair>& pairs, const char* in, const char* one, const char* many) {
    if (pairs.empty()) return;
    std::string names;
    size_t named = 0;
    for (const Pair& pair : pairs) {
      if (pair.app->visible && named++ < kNamed) names += (names.empty() ? ": " : ", ") + NameOf(*pair.app);
    }
    Say(std::string("Only ") + in + " the change " + base::Counted(static_cast<int64_t>(pairs.size()), "application") +
        " " + (pairs.size() == 1 ? one : many) + " within " + TimeText(time_) + names + ".");
  }
  void TellOfApps() {
    TellOf(later_, "later");
    TellOf(sooner_, "sooner");
    TellOnly(ends_no_more_, "without", "ends", "end");
    TellOnly(ends_then_, "with", "ends", "end");
    TellOnly(starts_no_more_, "without", "gets a container", "get containers");
    TellOnly(starts_then_, "with", "gets a container", "get containers");
  }

  /// Of each queue or user, those for which it makes a difference.
  std::vector<v1::QueueFates> SumsBy(std::string Present::App::*group, bool visible_alone) const {
    std::map<std::string, v1::QueueFates> sums;
    const auto add = [&](const std::vector<Pair>& pairs, int64_t v1::QueueFates::*count, bool no_more) {
      for (const Pair& pair : pairs) {
        if (visible_alone && !pair.app->visible) continue;
        v1::QueueFates& sum = sums[pair.app->*group];
        ++(sum.*count);
        if (no_more) ++sum.apps_no_more;
        sum.mean_ms += (no_more ? pair.AtLeastLater(time_) : *pair.Delta()).millis();
      }
    };
    add(later_, &v1::QueueFates::apps_later, false);
    add(sooner_, &v1::QueueFates::apps_sooner, false);
    add(ends_no_more_, &v1::QueueFates::apps_later, true);
    add(starts_no_more_, &v1::QueueFates::apps_later, true);
    std::vector<v1::QueueFates> rows;
    for (auto& [name, sum] : sums) {
      sum.name = name;
      sum.mean_ms /= sum.apps_later + sum.apps_sooner;
      rows.push_back(std::move(sum));
    }
    return rows;
  }
  void TellOfGroups(const std::vector<v1::QueueFates>& groups, const char* what) {
    for (const v1::QueueFates& one : groups) {
      Say(what + one.name + ": " + base::Counted(one.apps_later + one.apps_sooner, "application") + ", in the mean " +
          (one.apps_no_more > 0 ? "at least " : "") + TimeText(base::Duration::Millis(std::abs(one.mean_ms))) +
          (one.mean_ms >= 0 ? " later" : " sooner") + ".");
    }
  }

  /// The applications that lose more to others than without the change, by name.
  void TellOfVictims() {
    std::vector<std::pair<int64_t, const Pair*>> victims;
    for (const Pair& pair : all_) {
      const int64_t more = pair.after.taken - pair.before.taken;
      if (more > 0 && pair.app->visible) victims.emplace_back(more, &pair);
    }
    std::stable_sort(victims.begin(), victims.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (victims.size() > kNamed) victims.resize(kNamed);
    for (const auto& [more, pair] : victims) {
      Say("Of " + NameOf(*pair->app) + " " + base::Counted(more, "container") + " more " + (more == 1 ? "is" : "are") +
          " taken back.");
    }
  }

  void TellOfTaken(const Story& before, const Story& after) {
    for (const auto& [queue, count] : after.taken) {
      const auto at = before.taken.find(queue);
      const int64_t more = count - (at == before.taken.end() ? 0 : at->second);
      if (more > 0)
        Say("From " + (queue.empty() ? "what is submitted" : queue) + " " + base::Counted(more, "container") +
            " more " + (more == 1 ? "is" : "are") + " taken back.");
    }
    if (after.lost > before.lost) {
      const int64_t more = after.lost - before.lost;
      Say(base::Counted(more, "container") + (more == 1 ? " ends" : " end") + " before time.");
    }
  }

  void TellOfLimits(const Outcome& before, const Outcome& after) {
    for (const auto& [limit, at] : after.limits) {
      if (before.limits.contains(limit)) continue;
      const std::string when = at > present_.now ? "In " + TimeText(at - present_.now) + " a" : "A";
      Say(when + " limit begins to bind in " + limit.first + ": " + WordsOf(limit.second) + ".");
    }
    for (const auto& [limit, at] : before.limits) {
      if (!after.limits.contains(limit)) {
        Say("A limit does not bind any more in " + limit.first + ": " + WordsOf(limit.second) + ".");
      }
    }
  }
  /// Limits that bind in `in` alone.
  std::vector<v1::BindingLimit> LimitRows(const Outcome& without, const Outcome& in) const {
    std::vector<v1::BindingLimit> rows;
    for (const auto& [limit, at] : in.limits) {
      if (without.limits.contains(limit)) continue;
      rows.push_back({limit.first, std::string(EnumName(limit.second)), (at - present_.now).millis()});
    }
    return rows;
  }

  /// Applications that nobody can say a time for.
  static int64_t Undecided(const Outcome& after) {
    return after.endless > 0 ? static_cast<int64_t>(after.waiting.size()) : 0;
  }
  void TellOfDoubt(const Outcome& before, const Outcome& after, int64_t containers) {
    if (after.endless > 0) {
      const double share =
          static_cast<double>(after.endless) / static_cast<double>(std::max(containers, after.endless));
      Say("Of " + base::Counted(after.endless, "container") + " nobody knows how long they run (" + Percent(share) +
          " of those that run or start), as too few of their kinds have ended: here they run on, and what waits for "
          "their ends is not told.");
    }
    if (const int64_t undecided = Undecided(after); undecided > 0) {
      Say(base::Counted(undecided, "application") + (undecided == 1 ? " still waits" : " still wait") +
          " then, maybe for these: of " + (undecided == 1 ? "it" : "them") + " the answer hangs on what is not known.");
    }
    if (before.cut || after.cut) {
      Say("Only the next " + TimeText(time_) + " are told: more happens than a question may follow.");
    }
  }

  std::vector<v1::AppFates> Rows() const {
    std::vector<v1::AppFates> rows;
    const auto millis = [](const std::optional<base::Duration>& at) {
      return at ? std::optional(at->millis()) : std::nullopt;
    };
    const auto told = [&](const Fate& fate) {
      return v1::Fate{millis(fate.first), millis(fate.last), millis(fate.end), fate.taken, fate.lost};
    };
    for (const Pair& pair : all_) {
      if (!pair.app->visible || rows.size() == kMostRows) continue;
      rows.push_back({ToString(pair.app->id), pair.app->name, pair.app->user, pair.app->queue, told(pair.before),
                      told(pair.after)});
    }
    return rows;
  }

  const Present& present_;
  base::Duration time_;
  std::vector<Pair> all_, later_, sooner_;
  std::vector<Pair> ends_then_, ends_no_more_, starts_then_, starts_no_more_;
  std::vector<std::string> sentences_;
  std::vector<v1::QueueFates> queues_, users_;
};

}  // namespace

base::Result<v1::WhatIf> WhatIf(const Present& present, const std::shared_ptr<const scheduler::RunTimes>& learned,
                                const std::vector<Change>& changes, Bounds bounds, const MakeOther& other,
                                base::Duration heartbeat) {
  if (const base::Status within = WithinSums(changes); !within.ok()) return within.error();
  bounds.limits = true;
  std::optional<Carried> carried;
  for (const Change& change : changes) {
    const auto* profile = std::get_if<UseProfile>(&change);
    if (!profile) continue;
    if (carried) return base::Error{"one profile at a time"};
    if (!other) return base::Error{"this resource manager can make no scheduler of another profile"};
    base::Result<OtherProfile> made = other(profile->name);
    if (!made.ok()) return made.error();
    carried = Carry(present, std::move(*made), heartbeat);
  }
  const Present& begin = carried ? carried->present : present;
  Future changed(begin, FromLearned(begin, learned, {}), bounds);
  if (const base::Status applied = changed.Apply(changes); !applied.ok()) return applied.error();
  Future plain(present, FromLearned(present, learned, {}), bounds);
  (void)plain.Run();  // no job is submitted
  if (const base::Status ran = changed.Run(); !ran.ok()) return ran.error();
  const base::Instant until = std::min(plain.outcome().until, changed.outcome().until);
  if (until < present.now) {  // ended before the present moment was over
    return base::Error{"the answer takes longer than a question may; change less at once"};
  }
  return Teller(present, until - present.now)
      .Compare(plain, changed, carried ? carried->lost : std::vector<std::string>{});
}

}  // namespace fairlead::process::ask
