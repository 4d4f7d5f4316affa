#include "shell/rm/story.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace fairlead::shell {

using Kind = Chapter::Kind;
using State = model::rm::AppState;
namespace ms = model::scheduler;

namespace {

constexpr base::Duration kShortest = base::Duration::Seconds(1);  // a wait that is worth telling
constexpr int64_t kLooksOfAWait = 16;                             // so much longer it waits until the next look
constexpr size_t kGainersMax = 8;
constexpr size_t kNodesMax = 10'000;

void TakeIn(Chapter& chapter, const model::Resources& size) {
  if (chapter.size == model::Resources()) chapter.size = size;
  if (chapter.size == size) return;
  chapter.alike = false;
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    chapter.size[type] = std::max(chapter.size[type], size[type]);
  }
}

void Gained(Chapter& chapter, const std::string& by) {
  const bool room = chapter.gainers.size() < kGainersMax || chapter.gainers.contains(by);
  ++chapter.gainers[room ? by : "others"];
}

/// What one chapter tells, into the sum of several.
void Sum(Chapter& sum, const Chapter& one) {
  sum.to = std::max(sum.to, one.to);
  if (one.kind == Kind::kContainers || one.kind == Kind::kBetween) {
    sum.count += one.count;
    if (one.count > 0) TakeIn(sum, one.size);
    sum.alike = sum.alike && one.alike;
  }
  for (const auto& [status, count] : one.ends) sum.ends[status] += count;
  for (const std::string& node : one.nodes) {
    if (sum.nodes.size() < kNodesMax) sum.nodes.insert(node);
  }
  if (one.kind != Kind::kTaken && one.kind != Kind::kBetween) return;
  int64_t known = 0;
  for (const auto& [by, count] : one.gainers) {
    sum.gainers[sum.gainers.size() < kGainersMax || sum.gainers.contains(by) ? by : "others"] += count;
    known += count;
  }
  if (one.kind == Kind::kTaken && one.count > known) sum.gainers[""] += one.count - known;
}

bool IsOver(State state) { return state == State::kFinished || state == State::kFailed || state == State::kKilled; }

}  // namespace

/// Puts what the scheduler decided about the application into its story; other effects give nothing.
class Story::Teller {
 public:
  Teller(Story& story, const fairlead::rm::Core& core, base::WallTime at) : story_(story), core_(core), at_(at) {}

  template <class Effect>
  void operator()(const Effect&) {}
  void operator()(const ms::Granted& effect) {
    if (!Ours(effect.app)) return Fill(effect.node, effect.app);
    if (effect.is_master) {
      Chapter& master = story_.Add(Kind::kMaster, at_);
      master.nodes.insert(NodeName(effect.node));
      master.size = effect.resources;
      return;
    }
    Chapter& containers = story_.Goes(Kind::kContainers, at_);
    ++containers.count;
    ++story_.sums_.granted;
    TakeIn(containers, effect.resources);
    if (containers.nodes.size() < kNodesMax) containers.nodes.insert(NodeName(effect.node));
  }
  void operator()(const ms::Finished& effect) {
    if (!Ours(effect.app)) return;
    if (effect.exit_status == model::kExitPreempted) return Taken(effect);
    const auto* app = core_.AppAt(effect.app);
    const auto* attempt = app->current();
    if (attempt == nullptr || attempt->master.id != effect.container) {
      ++story_.Goes(Kind::kContainers, at_).ends[effect.exit_status];
      return;
    }
    story_.Add(Kind::kMasterEnded, at_, effect.diagnostics).ends[effect.exit_status] = 1;
  }
  /// A reservation precedes the notices of those that make room for it.
  void operator()(const ms::Reserved& effect) {
    story_.held_for_ = effect.app;
    if (!Ours(effect.app)) Fill(effect.node, effect.app);
  }
  void operator()(const ms::PreemptionNotice& effect) {
    if (Ours(effect.app) && story_.held_for_.valid()) {
      story_.gains_[effect.container] = story_.NameOf(core_, story_.held_for_);
    }
  }
  void operator()(const ms::VictimsChosen& effect) {
    for (const model::ContainerId& victim : effect.victims) {
      if (victim.attempt.app == story_.id_) story_.gains_[victim] = story_.NameOf(core_, effect.app);
    }
  }

 private:
  bool Ours(model::AppIndex app) const { return story_.Is(core_, app); }
  std::string NodeName(model::NodeIndex index) const {
    const auto* node = core_.NodeAt(index);
    return node == nullptr ? "" : ToString(node->address);
  }
  void Taken(const ms::Finished& effect) {
    Chapter& taken = story_.Goes(Kind::kTaken, at_);
    ++taken.count;
    ++story_.sums_.taken;
    if (const auto* container = core_.FindContainer(effect.container)) TakeIn(taken, container->resources);
    if (auto gains = story_.gains_.extract(effect.container)) return Gained(taken, gains.mapped());
    story_.emptied_[effect.node] = story_.chapters_.size() - 1;
  }
  /// The room that ours had there is given away: to that one.
  void Fill(model::NodeIndex node, model::AppIndex app) {
    if (story_.emptied_.empty()) return;
    const auto emptied = story_.emptied_.extract(node);
    if (emptied) Gained(story_.chapters_[emptied.mapped()], story_.NameOf(core_, app));
  }

  Story& story_;
  const fairlead::rm::Core& core_;
  const base::WallTime at_;
};

bool Story::Is(const fairlead::rm::Core& core, model::AppIndex index) const {
  const auto* app = core.AppAt(index);
  return app != nullptr && app->submission.id == id_;
}

std::string Story::NameOf(const fairlead::rm::Core& core, model::AppIndex index) const {
  const auto* app = core.AppAt(index);
  return app == nullptr ? "" : ToString(app->submission.id) + " in " + app->submission.queue;
}

Chapter& Story::Add(Kind kind, base::WallTime at, std::string text) {
  if (chapters_.size() >= 2 * kMost) Fold();
  chapters_.push_back({});
  Chapter& added = chapters_.back();
  added.kind = kind;
  added.from = added.to = at;
  added.text = std::move(text);
  return added;
}

Chapter& Story::Goes(Kind kind, base::WallTime at) {
  // A wait goes on beside what is granted meanwhile: it parts nothing.
  for (auto last = chapters_.rbegin(); last != chapters_.rend(); ++last) {
    if (last->kind == kind) {
      last->to = at;
      return *last;
    }
    if (last->kind != Kind::kWaiting) break;
  }
  return Add(kind, at);
}

void Story::Fold() {
  const auto first = chapters_.begin() + kMost / 2;
  const auto end = chapters_.end() - (kMost / 2 - 1);
  Chapter sum;
  sum.kind = Kind::kBetween;
  sum.from = sum.to = first->from;
  for (auto one = first; one != end; ++one) Sum(sum, *one);
  *first = std::move(sum);
  chapters_.erase(first + 1, end);
  emptied_.clear();
  wait_.chapter.reset();
}

std::vector<Chapter> Story::Chapters() const {
  Story told = *this;
  if (chapters_.size() > kMost) told.Fold();
  std::stable_sort(told.chapters_.begin(), told.chapters_.end(),
                   [](const Chapter& a, const Chapter& b) { return a.from < b.from; });
  return std::move(told.chapters_);
}

void Story::Decided(const RmReplay& replay, base::WallTime wall, std::span<const ms::Effect> effects) {
  held_for_ = {};
  Teller teller(*this, replay.machine()->core(), wall);
  for (const ms::Effect& effect : effects) std::visit(teller, effect);
}

int64_t Story::WaitedUntil(base::WallTime now) const {
  const int64_t waited = waits_ ? now.ms - wait_.since.ms : 0;
  return waited >= kShortest.millis() ? waited : 0;
}

Story::Sums Story::sums() const {
  Sums sums = sums_;
  sums.waited_ms += WaitedUntil(sums_.seen);
  return sums;
}

void Story::EndWait(base::WallTime now) {
  if (!waits_) return;
  if (wait_.chapter) chapters_[*wait_.chapter].to = now;
  sums_.waited_ms += WaitedUntil(now);
  waits_ = false;
}

void Story::Look(const RmReplay& replay, const fairlead::rm::App& app) {
  const base::WallTime now = replay.wall();
  const auto& scheduler = replay.machine()->scheduler();
  if (!app.in_scheduler || scheduler.PendingContainers(app.index) == 0) return EndWait(now);
  if (!waits_) {
    wait_ = {now, base::WallTime{now.ms + kShortest.millis()}, {}};
    waits_ = true;
  }
  if (now < wait_.next_look) return;
  wait_.next_look.ms = now.ms + std::max(kShortest.millis(), (now.ms - wait_.since.ms) / kLooksOfAWait);
  const std::vector<ms::Pending> all = scheduler.Why(app.index, replay.now());
  if (all.empty()) return;
  const ms::Pending& first = all.front();
  const std::string reason(EnumName(first.reason));
  if (wait_.chapter && chapters_[*wait_.chapter].text == reason) {
    chapters_[*wait_.chapter].to = now;
    return;
  }
  const base::WallTime since = wait_.chapter ? now : wait_.since;
  Chapter& wait = Add(Kind::kWaiting, since, reason);
  wait.to = now;
  wait.detail = first.detail;
  wait.remedy = first.remedy;
  wait.size = first.ask.capability;
  wait.count = scheduler.PendingContainers(app.index);
  wait_.chapter = chapters_.size() - 1;
}

void Story::Meet(const fairlead::rm::App& app, bool before) {
  found_ = true;
  running_ = before && fairlead::rm::Core::VisibleState(app) == State::kRunning;
  sums_.user = app.submission.user;
  sums_.name = app.submission.name;
  sums_.type = app.submission.type;
  Chapter first;  // what the step that brought it has decided comes behind
  first.kind = Kind::kSubmitted;
  first.from = first.to = app.submitted;
  first.text = app.submission.queue;
  first.before = before;
  chapters_.insert(chapters_.begin(), std::move(first));
  emptied_.clear();
}

void Story::Begin(const RmReplay& replay) {
  const auto* app = replay.machine()->core().FindApp(id_);
  if (app == nullptr || app->state == State::kNew) return;
  if (!found_) Meet(*app, true);
  running_ = running_ || fairlead::rm::Core::VisibleState(*app) == State::kRunning;
}

void Story::Miss(const Hole& hole) {
  if (!found_ || ended_) return;
  EndWait(hole.from);
  Chapter& missing = Add(Kind::kMissing, hole.from);
  if (hole.to.ms != INT64_MAX) missing.to = hole.to;
  missing.detail = hole.why;
  emptied_.clear();
}

void Story::TellActs(const RmReplay& replay) {
  const auto asked = [&](const std::string& what, const std::string& detail) {
    Add(Kind::kAsked, replay.wall(), what).detail = detail;
  };
  for (const model::rm::OuterEvent& event : replay.events()) {
    if (const auto* kill = std::get_if<model::rm::KillApp>(&event); kill != nullptr && kill->app == id_) {
      asked("ends it", kill->diagnostics);
    } else if (const auto* move = std::get_if<model::rm::MoveApp>(&event); move != nullptr && move->app == id_) {
      asked("moves it to " + move->queue, "");
    } else if (const auto* now = std::get_if<model::rm::SetPriority>(&event); now != nullptr && now->app == id_) {
      asked("gives it priority " + std::to_string(now->priority), "");
    }
  }
  for (const model::rm::OuterEffect& effect : replay.effects()) {
    const auto* change = std::get_if<model::rm::StateChanged>(&effect);
    if (change == nullptr || change->app != id_ || change->to != "FAILED" || change->subject == ToString(id_)) continue;
    Add(Kind::kAttempt, replay.wall(), change->subject).detail = change->detail;
  }
}

bool Story::See(const RmReplay& replay) {
  const auto* app = replay.machine()->core().FindApp(id_);
  if (app == nullptr || app->state == State::kNew) return true;
  const base::WallTime now = replay.wall();
  if (!found_) Meet(*app, false);
  if (sums_.queue != app->submission.queue) sums_.queue = app->submission.queue;
  sums_.state = fairlead::rm::Core::VisibleState(*app);
  sums_.seen = now;
  TellActs(replay);
  if (!running_ && sums_.state == State::kRunning) {
    running_ = true;
    Add(Kind::kRunning, now);
  }
  if (!IsOver(sums_.state)) {
    Look(replay, *app);
    return true;
  }
  EndWait(now);
  // In a hole it may have ended before.
  const base::WallTime at = app->finished.ms > 0 ? std::min(app->finished, now) : now;
  Chapter& end = Add(Kind::kEnded, at, std::string(EnumName(sums_.state)));
  end.detail = fairlead::rm::Core::VisibleDiagnostics(*app);
  end.final_status = EnumName(fairlead::rm::Core::VisibleFinalStatus(*app));
  ended_ = true;
  return false;
}

}  // namespace fairlead::shell
