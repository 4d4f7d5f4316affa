#include "past.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/text.h"
#include "cluster_command.h"
#include "env_posix/posix_loop.h"
#include "exit_words.h"
#include "inspect.h"
#include "process/http/target.h"
#include "process/rm/own_documents.h"
#include "process/rm/past_documents.h"
#include "process/rm/reports.h"
#include "progress.h"
#include "shell/rm/moment.h"
#include "shell/rm/replay.h"
#include "shell/rm/story.h"
#include "table.h"
#include "wire/json/json.h"

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;
using process::rm::App;
using process::rm::Core;
using State = model::rm::AppState;
namespace v1 = endpoints::v1;
namespace yarn = wire::yarn;

constexpr const char* kCommand = "replay";
constexpr int64_t kQuietMs = 5000;  // a cluster with nodes has something to say more often

base::Result<shell::Segments> Find(env::Disk& disk, const std::string& journal) {
  auto found = shell::FindSegments(disk, journal);
  if (!found) return found;
  for (const std::string& file : found->left_out) (void)Complain(kCommand, file + "; it is left out", kOk);
  return found;
}

int Refuse(const base::Error& error) {
  return Complain(kCommand, error.message, error.code == ENOENT ? kNotFound : kFailed);
}

/// Says what is kept, and where something is missing.
std::string Kept(const std::string& journal, const shell::Segments& kept, const std::vector<shell::Hole>& holes = {}) {
  std::string text = journal + " has " + Counted(static_cast<int64_t>(kept.files.size()), "file") + " from " +
                     TimeText(kept.begins().ms) + " to " + TimeText(kept.ends.ms);
  for (const shell::Hole& hole : holes) text += "; " + HoleText(hole);
  return text;
}

template <class T>
ordered_json JsonOf(const T& document) {
  auto read = wire::json::ParseOrdered(v1::Text(document), wire::json::kAnswer);
  return read ? std::move(*read) : ordered_json();
}

int NotKept(const std::string& journal, base::WallTime at, const shell::Segments& kept,
            const std::vector<shell::Hole>& holes) {
  return Complain(kCommand, TimeText(at.ms) + " is not kept: " + Kept(journal, kept, holes), kNotFound);
}

/// A machine as it was, in the words of the commands for a live one.
class Moment {
 public:
  Moment(const shell::RmReplay& replay, base::WallTime at) : replay_(replay), core_(replay.machine()->core()), at_(at) {
    for (const process::rm::NodeRow& node : process::rm::NodeRows(core_)) {
      nodes_.push_back(node);
      if (node.in_scheduler) facts_.cluster_memory += node.capacity.memory_mib();
    }
    facts_.now = at;
    facts_.proxy_base = core_.config().ProxyBase();
  }

  yarn::ApplicationReportProto Report(const App& app) const {
    return process::rm::ReportOf(app, process::rm::UsageRecordOf(app, at_), true, facts_);
  }
  std::vector<yarn::ApplicationReportProto> Apps(bool all) const {
    std::vector<yarn::ApplicationReportProto> reports;
    core_.ForEachApp([&](const App& app) {
      if (app.state != State::kNew && (all || !Core::IsCompleted(app))) reports.push_back(Report(app));
    });
    return reports;
  }
  std::vector<yarn::NodeReportProto> Nodes() const {
    std::vector<yarn::NodeReportProto> reports;
    for (const process::rm::NodeRow& node : nodes_) reports.push_back(process::rm::ReportOf(node));
    return reports;
  }
  /// As /fairlead/v1/nodes, without what operators have announced.
  ordered_json NodesKnown() const { return JsonOf(process::rm::NodesOf({}, nodes_)); }
  ordered_json Queues() const {
    return JsonOf(process::rm::QueuesOf(replay_.machine()->scheduler().GetQueues(), *core_.queues()));
  }
  ordered_json Pending(const App& app) const {
    v1::ApplicationDetail detail;
    if (app.in_scheduler) {
      for (const model::scheduler::Pending& one : replay_.machine()->scheduler().Why(app.index, replay_.now())) {
        detail.pending.push_back(process::rm::PendingOf(one, replay_.now()));
      }
    }
    return JsonOf(detail);
  }
  ClusterSums Sums() const {
    ClusterSums sums;
    for (const process::rm::NodeRow& node : nodes_) {
      if (node.state == model::rm::NodeState::kRunning) ++sums.nodes;
      if (!node.in_scheduler) continue;
      sums.used_mib += node.used.memory_mib();
      sums.total_mib += node.capacity.memory_mib();
      sums.containers += node.containers;
    }
    core_.ForEachApp([&](const App& app) {
      const State state = Core::VisibleState(app);
      if (state == State::kRunning) ++sums.running;
      if (state == State::kSubmitted || state == State::kAccepted) ++sums.pending;
    });
    return sums;
  }
  const App* Find(const model::ApplicationId& id) const { return core_.FindApp(id); }
  base::WallTime at() const { return at_; }

 private:
  const shell::RmReplay& replay_;
  const Core& core_;
  const base::WallTime at_;
  std::vector<process::rm::NodeRow> nodes_;
  process::rm::ReportFacts facts_;
};

int ShowWhy(const Moment& moment, const PastOptions& options) {
  const auto id = model::ParseApplicationId(options.why);
  if (!id) return Complain(kCommand, id.error().message, kUsage);
  const App* app = moment.Find(*id);
  if (app == nullptr) {
    return Complain(
        kCommand, options.why + " is not known at " + TimeText(moment.at().ms) + "; --apps --all shows those that are",
        kNotFound);
  }
  PrintWhy(moment.Report(*app), moment.Pending(*app), options.json);
  return kOk;
}

int ShowDocument(const shell::RmReplay& replay, base::WallTime at, const std::string& target) {
  std::string name;
  process::rm::Query query;
  process::http::SplitTarget(target, name, query);
  const auto document = process::rm::PastDocument(*replay.machine(), replay.now(), at, name, query);
  if (!document) {
    return Complain(kCommand, "there is no " + base::VisibleText(name) + "; there are cluster, apps, nodes and queues",
                    kNotFound);
  }
  std::puts(document->c_str());
  return kOk;
}

int ShowSummary(const Moment& moment, base::WallTime changed, bool json) {
  const ClusterSums sums = moment.Sums();
  ordered_json queues = moment.Queues();
  if (json) {
    TakeNoBoundsOut(queues);
    PrintJson({{"atMs", moment.at().ms},
               {"changedMs", changed.ms},
               {"nodes", sums.nodes},
               {"appsRunning", sums.running},
               {"appsPending", sums.pending},
               {"containers", sums.containers},
               {"usedMib", sums.used_mib},
               {"totalMib", sums.total_mib},
               {"queues", queues["queues"]}});
    return kOk;
  }
  std::puts(SumsText(sums).c_str());
  PrintQueues(std::move(queues), false);
  return kOk;
}

// ---------------------------------------------------------------- a story

std::string Containers(const shell::Chapter& chapter) {
  return Counted(chapter.count, "container") + " of " + (chapter.alike ? "" : "up to ") +
         SizeText(chapter.size.memory_mib(), chapter.size.vcores());
}

/// " (12 succeeded, 1 exit status 3)"
std::string EndsText(const std::map<int32_t, int64_t>& ends) {
  std::string text;
  for (const auto& [status, count] : ends)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + ExitWords(status);
  return text;
}

std::string GainersText(const shell::Chapter& chapter) {
  std::string text;
  for (const auto& [by, count] : chapter.gainers) {
    if (by.empty()) continue;
    text += (text.empty() ? "" : ", ") + (chapter.gainers.size() > 1 ? std::to_string(count) + " for " : "for ") + by;
  }
  return text;
}

int64_t CountOf(const auto& counts) {
  int64_t all = 0;
  for (const auto& [what, count] : counts) all += count;
  return all;
}

std::string NodesText(const shell::Chapter& chapter) {
  if (chapter.nodes.size() == 1) return " on " + *chapter.nodes.begin();
  return " on " + Counted(static_cast<int64_t>(chapter.nodes.size()), "node");
}

std::string ContainersText(const shell::Chapter& chapter) {
  std::string text;
  if (chapter.count > 0) text = Containers(chapter) + " granted" + NodesText(chapter);
  if (const int64_t ended = CountOf(chapter.ends); ended > 0) {
    const std::string words =
        chapter.ends.size() > 1 ? ": " + EndsText(chapter.ends) : ": " + ExitWords(chapter.ends.begin()->first);
    text += (text.empty() ? "" : "; ") + Counted(ended, "container") + " ended" + words;
  }
  return text;
}

std::string WordsOf(const shell::Chapter& chapter, const shell::Story::Sums& sums) {
  using Kind = shell::Chapter::Kind;
  const std::string took = DurationText(chapter.to.ms - chapter.from.ms);
  const std::string within = chapter.to.ms - chapter.from.ms < 1000 ? "" : ", within " + took;
  switch (chapter.kind) {
    case Kind::kSubmitted:
      return sums.user + " submitted it to " + chapter.text + (sums.name.empty() ? "" : ": " + sums.name) +
             (sums.type.empty() ? "" : ", " + sums.type) + (chapter.before ? "; its beginning is not kept" : "");
    case Kind::kWaiting:
      return "waits " + took + " for " + Containers(chapter) + ": " + chapter.text + ": " + chapter.detail +
             (chapter.remedy.empty() ? "" : "; to free it: " + chapter.remedy);
    case Kind::kMaster:
      return "its master is granted" + NodesText(chapter) + ", " +
             SizeText(chapter.size.memory_mib(), chapter.size.vcores());
    case Kind::kMasterEnded:
      return "its master ends: " + ExitWords(chapter.ends.begin()->first, chapter.text);
    case Kind::kRunning:
      return "its master has registered: it runs";
    case Kind::kContainers:
      return ContainersText(chapter) + within;
    case Kind::kTaken: {
      const std::string gainers = GainersText(chapter);
      return Containers(chapter) + " taken back" + (gainers.empty() ? "" : " " + gainers) + within;
    }
    case Kind::kAsked:
      return "somebody " + chapter.text + (chapter.detail.empty() ? "" : ": " + chapter.detail);
    case Kind::kAttempt:
      return chapter.text + " failed" + (chapter.detail.empty() ? "" : ": " + chapter.detail);
    case Kind::kEnded:
      return "it ends " + chapter.text + ", " + chapter.final_status +
             (chapter.detail.empty() ? "" : ": " + chapter.detail);
    case Kind::kMissing:
      return "what it did then is not kept" + (chapter.to == chapter.from ? "" : " until " + TimeText(chapter.to.ms)) +
             ": " + chapter.detail;
    case Kind::kBetween: {
      const int64_t taken = CountOf(chapter.gainers);
      const std::string gainers = GainersText(chapter);
      return "summed up: " + ContainersText(chapter) +
             (taken > 0 ? "; " + Counted(taken, "container") + " taken back" + (gainers.empty() ? "" : " " + gainers)
                        : "") +
             within;
    }
  }
  return "";
}

std::string EndText(const shell::Story& story) {
  const shell::Story::Sums& sums = story.sums();
  std::string text = Counted(sums.granted, "container") + " granted, " + std::to_string(sums.taken) + " taken back, " +
                     DurationText(sums.waited_ms) + " in which something of it waited";
  if (!story.ended()) {
    text += "; it was last seen at " + TimeText(sums.seen.ms) + ", " + std::string(EnumName(sums.state));
  }
  return text;
}

void PrintStory(const shell::Story& story, const std::string& id, bool json) {
  ordered_json list = ordered_json::array();
  if (!json) std::printf("%s\n", id.c_str());
  for (const shell::Chapter& chapter : story.Chapters()) {
    const std::string words = WordsOf(chapter, story.sums());
    list.push_back({{"fromMs", chapter.from.ms}, {"toMs", chapter.to.ms}, {"what", words}});
    if (!json) std::puts(base::VisibleText(TimeText(chapter.from.ms) + "  " + words).c_str());
  }
  const shell::Story::Sums& sums = story.sums();
  if (!json) {
    std::puts(base::VisibleText("In all: " + EndText(story)).c_str());
    return;
  }
  PrintJson({{"id", id},
             {"user", sums.user},
             {"queue", sums.queue},
             {"state", EnumName(sums.state)},
             {"ended", story.ended()},
             {"granted", sums.granted},
             {"takenBack", sums.taken},
             {"waitedMs", sums.waited_ms},
             {"story", list}});
}

/// The newest application that the file's first state knows, in order of ids.
base::Result<model::ApplicationId> NewestAtBegin(env::Disk& disk, const shell::Segment& file) {
  model::ApplicationId newest;
  shell::Walk walk;
  walk.see = [](const shell::RmReplay&) { return false; };
  const auto see = [&](const shell::RmReplay& replay) {
    replay.machine()->core().ForEachApp([&](const App& app) { newest = std::max(newest, app.submission.id); });
  };
  bool begun = false;
  walk.begun = [&](const shell::RmReplay& replay, base::WallTime) {
    see(replay);
    begun = true;
  };
  const auto walked = shell::WalkRm(disk, {&file, 1}, walk);
  if (!walked) return walked.error();
  if (!begun && (*walked)->machine() != nullptr) see(**walked);  // it begins with a start, which brings the stored ones
  return newest;
}

/// The files in which the application may have lived: from the last one on that begins before it was submitted.
std::span<const shell::Segment> FilesOf(env::Disk& disk, const std::vector<shell::Segment>& files,
                                        const model::ApplicationId& id) {
  for (size_t first = files.size() - 1; first > 0; --first) {
    const auto newest = NewestAtBegin(disk, files[first]);
    if (newest && *newest < id) return std::span(files).subspan(first);  // one that cannot be read shows nothing
  }
  return std::span(files);
}

}  // namespace

std::string HoleText(const shell::Hole& hole) {
  const std::string to = hole.to.ms == INT64_MAX ? " on" : " to " + TimeText(hole.to.ms);
  return "from " + TimeText(hole.from.ms) + to + " nothing is kept: " + hole.why;
}

int ShowMoment(const PastOptions& options) {
  const auto disk = env_posix::MakePosixDisk();
  const auto kept = Find(*disk, options.journal);
  if (!kept) return Refuse(kept.error());
  auto at = shell::ParseMoment(options.at, kept->ends);
  if (!at) return Complain(kCommand, "--at: " + at.error().message, kUsage);
  if (at->ms / 1000 == kept->begins().ms / 1000) at = std::max(*at, kept->begins());  // people write whole seconds
  std::vector<shell::Hole> holes;
  if (!kept->Keeps(*at)) return NotKept(options.journal, *at, *kept, holes);
  const auto files = kept->From(*at);
  shell::Walk walk;
  walk.until = *at;
  walk.hole = [&](const shell::Hole& hole) { holes.push_back(hole); };
  const auto replay = shell::WalkRm(*disk, files.first(std::min<size_t>(files.size(), 2)), walk);
  if (!replay) {
    holes.push_back(
        {files[0].begins, files.size() > 1 ? files[1].begins : base::WallTime{INT64_MAX}, replay.error().message});
  }
  if (*at > kept->ends && !kept->behind.empty()) holes.push_back({kept->ends, {INT64_MAX}, kept->behind});
  if (!holes.empty()) return NotKept(options.journal, *at, *kept, holes);
  const Moment moment(**replay, *at);
  const base::WallTime changed = (*replay)->wall();
  std::fprintf(
      stderr, "as of %s%s\n", TimeText(at->ms).c_str(),
      at->ms - changed.ms < kQuietMs ? "" : (", as the resource manager left it at " + TimeText(changed.ms)).c_str());
  if (!options.why.empty()) return ShowWhy(moment, options);
  if (!options.document.empty()) return ShowDocument(**replay, *at, options.document);
  if (options.nodes) {
    PrintNodes(moment.Nodes(), options.json, "http://", moment.NodesKnown());
  } else if (options.queues) {
    PrintQueues(moment.Queues(), options.json);
  } else if (options.apps) {
    PrintApps(moment.Apps(options.all), at->ms, options.json);
  } else {
    return ShowSummary(moment, changed, options.json);
  }
  return kOk;
}

int TellStory(const PastOptions& options) {
  const auto id = model::ParseApplicationId(options.story);
  if (!id) return Complain(kCommand, id.error().message, kUsage);
  const auto disk = env_posix::MakePosixDisk();
  const auto kept = Find(*disk, options.journal);
  if (!kept) return Refuse(kept.error());
  const auto files = FilesOf(*disk, kept->files, *id);
  uint64_t bytes = 0;
  for (const shell::Segment& file : files) bytes += file.bytes;
  shell::Story story(*id);
  Progress progress(kCommand);
  shell::Walk walk;
  walk.decided = [&](const shell::RmReplay& replay, base::WallTime wall, const auto& effects) {
    story.Decided(replay, wall, effects);
  };
  walk.begun = [&](const shell::RmReplay& replay, base::WallTime) { story.Begin(replay); };
  walk.see = [&](const shell::RmReplay& replay) { return story.See(replay); };
  std::vector<shell::Hole> holes;
  walk.hole = [&](const shell::Hole& hole) {
    holes.push_back(hole);
    story.Miss(hole);
  };
  walk.progress = [&](uint64_t done) {
    progress.Show(static_cast<int64_t>(done >> 20), static_cast<int64_t>(bytes >> 20), "MiB");
  };
  const auto walked = shell::WalkRm(*disk, files, walk);
  progress.TakeAway();
  for (const shell::Hole& hole : holes) (void)Complain(kCommand, HoleText(hole), kOk);
  if (!walked) return Refuse(walked.error());
  if (!story.found()) {
    return Complain(kCommand, options.story + " is in nothing that is kept: " + Kept(options.journal, *kept, holes),
                    kNotFound);
  }
  PrintStory(story, options.story, options.json);
  return kOk;
}

}  // namespace fairlead::apps
