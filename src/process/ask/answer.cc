#include "process/ask/answer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "process/ask/learned.h"
#include "report/comparison.h"
#include "report/words.h"

namespace fairlead::process::ask {

namespace v1 = endpoints::v1;

namespace {

/// In the table of applications.
constexpr size_t kMostRows = 1000;

/// One future.
struct Story {
  std::map<model::AppIndex, v1::Fate> fates;
  std::map<std::string, int64_t> taken;  // by queue
  int64_t lost = 0;
  double used = 0;  // of the cluster's memory over the whole time, between 0 and 1
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
    v1::Fate& fate = story.fates[start.app];
    fate.last_ms = (start.at - present.now).millis();
    if (!fate.first_ms) fate.first_ms = fate.last_ms;
  }
  for (const Outcome::End& end : outcome.ends) {
    if (end.at > until) break;
    use -= static_cast<double>(end.memory_mib) * left(end.at);
    v1::Fate& fate = story.fates[end.app];
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
    if (at <= until) story.fates[app].end_ms = (at - present.now).millis();
  }
  const auto memory = static_cast<double>(outcome.memory_mib);
  if (memory > 0 && time.ns > 0) story.used = use / (memory * time.seconds());
  return story;
}

v1::Fate FateOf(const Story& story, model::AppIndex app) {
  const auto at = story.fates.find(app);
  return at == story.fates.end() ? v1::Fate{} : at->second;
}

/// Limits that bind in `in` alone.
std::vector<v1::BindingLimit> LimitsOf(const Outcome& without, const Outcome& in, base::Instant now) {
  std::vector<v1::BindingLimit> rows;
  for (const auto& [limit, at] : in.limits) {
    if (without.limits.contains(limit)) continue;
    rows.push_back({limit.first, std::string(EnumName(limit.second)), (at - now).millis()});
  }
  return rows;
}

std::vector<std::pair<std::string, int64_t>> MoreTaken(const Story& before, const Story& after) {
  std::vector<std::pair<std::string, int64_t>> more;
  for (const auto& [queue, count] : after.taken) {
    const auto at = before.taken.find(queue);
    more.emplace_back(queue.empty() ? "what is submitted" : queue, count - (at == before.taken.end() ? 0 : at->second));
  }
  return more;
}

report::Comparison Compare(const Present& present, base::Duration time, const Story& before, const Story& after,
                           const Outcome& plain, const Outcome& changed) {
  report::Comparison comparison{.ahead_ms = time.millis()};
  for (const Present::App& app : present.apps) {
    if (changed.apps_killed.contains(app.index)) continue;  // that is the change
    comparison.apps.push_back({app.visible ? ToString(app.id) : "", app.name, app.user, app.queue,
                               FateOf(before, app.index), FateOf(after, app.index)});
  }
  comparison.queues = report::GroupsOf(comparison.apps, &v1::AppFates::queue, comparison.ahead_ms, false);
  comparison.users = report::GroupsOf(comparison.apps, &v1::AppFates::user, comparison.ahead_ms, true);
  comparison.taken = MoreTaken(before, after);
  comparison.lost = after.lost - before.lost;
  comparison.limits = LimitsOf(plain, changed, present.now);
  comparison.limits_no_more = LimitsOf(changed, plain, present.now);
  comparison.used_before = before.used;
  comparison.used_after = after.used;
  return comparison;
}

/// What becomes of the jobs that are submitted.
std::vector<std::string> SentencesOfJobs(const Story& after, const std::vector<Future::Submitted>& jobs,
                                         base::Duration time) {
  std::vector<std::string> sentences;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const std::string name = (jobs.size() > 1 ? "Job " + std::to_string(i + 1) : "The job") + " in " + jobs[i].queue;
    const v1::Fate fate = FateOf(after, jobs[i].app);
    const auto in = [](int64_t ms) { return " in " + report::TimeText(base::Duration::Millis(ms)); };
    if (!fate.first_ms) {
      sentences.push_back(name + " does not start within " + report::TimeText(time) + ".");
    } else {
      sentences.push_back(
          name + " starts" + in(*fate.first_ms) +
          (fate.end_ms ? " and ends" + in(*fate.end_ms) : ", and does not end within " + report::TimeText(time)) + ".");
    }
  }
  return sentences;
}

/// What the answer hangs on.
std::vector<std::string> SentencesOfDoubt(const v1::WhatIf& answer, bool cut) {
  std::vector<std::string> sentences;
  if (answer.unknown_run_times > 0) {
    const auto all = static_cast<double>(std::max(answer.containers, answer.unknown_run_times));
    sentences.push_back("Of " + base::Counted(answer.unknown_run_times, "container") +
                        " nobody knows how long they run (" +
                        report::WholePercent(static_cast<double>(answer.unknown_run_times) / all) +
                        " of those that run or start), as too few of their kinds have ended: here they run on, and "
                        "what waits for their ends is not told.");
  }
  if (const int64_t undecided = answer.undecided; undecided > 0) {
    sentences.push_back(base::Counted(undecided, "application") + (undecided == 1 ? " still waits" : " still wait") +
                        " then, maybe for these: of " + (undecided == 1 ? "it" : "them") +
                        " the answer hangs on what is not known.");
  }
  if (cut) {
    sentences.push_back("Only the next " + report::TimeText(base::Duration::Seconds(answer.for_s)) +
                        " are told: more happens than a question may follow.");
  }
  return sentences;
}

/// Those for which it makes a difference.
std::vector<v1::QueueFates> Differing(const std::vector<report::Group>& groups) {
  std::vector<v1::QueueFates> rows;
  for (const report::Group& group : groups) {
    if (group.sums.apps_later + group.sums.apps_sooner > 0) rows.push_back(group.sums);
  }
  return rows;
}

v1::WhatIf Answer(const Present& present, base::Duration time, const Future& plain, const Future& changed,
                  const std::vector<std::string>& not_carried) {
  const Outcome& then = changed.outcome();
  const Story before = Tell(present, plain.outcome(), time);
  const Story after = Tell(present, then, time);
  report::Comparison comparison = Compare(present, time, before, after, plain.outcome(), then);
  v1::WhatIf answer{.for_s = time.ns / 1'000'000'000,
                    .sentences = SentencesOfJobs(after, changed.submitted(), time),
                    .queues = Differing(comparison.queues),
                    .users = Differing(comparison.users),
                    .limits = comparison.limits,
                    .limits_no_more = comparison.limits_no_more,
                    .used_before = before.used,
                    .used_after = after.used,
                    .containers = static_cast<int64_t>(present.containers.size() + then.starts.size()),
                    .unknown_run_times = then.endless,
                    // applications that nobody can say a time for
                    .undecided = then.endless > 0 ? static_cast<int64_t>(then.waiting.size()) : 0};
  const auto say = [&](const std::vector<std::string>& sentences) {
    answer.sentences.insert(answer.sentences.end(), sentences.begin(), sentences.end());
  };
  if (!answer.sentences.empty()) comparison.nothing = "Nothing else";
  say(report::Sentences(comparison));
  say(SentencesOfDoubt(answer, plain.outcome().cut || then.cut));
  for (const std::string& what : not_carried) say({"Not carried into the other profile: " + what + "."});
  std::erase_if(comparison.apps, [](const v1::AppFates& app) { return app.id.empty(); });
  comparison.apps.resize(std::min(comparison.apps.size(), kMostRows));
  answer.apps = std::move(comparison.apps);
  return answer;
}

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
    return base::Error{"the answer takes longer than a question may; change less at once", kOutOfTime};
  }
  return Answer(present, until - present.now, plain, changed, carried ? carried->lost : std::vector<std::string>{});
}

}  // namespace fairlead::process::ask
