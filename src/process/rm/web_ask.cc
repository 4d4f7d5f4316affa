#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "endpoints/rest/request_body.h"
#include "endpoints/yarn/refusals.h"
#include "process/ask/answer.h"
#include "process/ask/change.h"
#include "process/ask/forecast.h"
#include "process/ask/track_record.h"
#include "process/rm/draining.h"
#include "process/rm/learning.h"
#include "process/rm/questions.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"
#include "rm/normalize.h"
#include "rm/session_tags.h"

// Questions about the future: /fairlead/v1/what-if and apps/ID/when. Here the present is taken, on the thread that
// decides; the rest is worked out off it.

namespace fairlead::process::rm {

namespace rest = endpoints::rest;
namespace v1 = endpoints::v1;

namespace {

constexpr base::Duration kAheadUnlessSaid = base::Duration::Seconds(7200);
constexpr base::Duration kFarthest = base::Duration::Seconds(86'400);
constexpr size_t kMostChanges = 64;
constexpr int64_t kForecastEvents = 50'000;

/// Cost: a copy of the scheduler's state; applications, containers and nodes.
std::shared_ptr<ask::Present> TakePresent(const ResourceManager& manager, const Viewer& viewer) {
  auto present = std::make_shared<ask::Present>();
  const base::WallTime wall = manager.now_wall();
  const base::Duration heartbeat = manager.options().heartbeat;
  present->now = manager.now();
  present->scheduler = manager.scheduler().Fork();
  if (manager.options().grants_by_heartbeat) present->heartbeat = heartbeat;
  present->queues = manager.queues();
  present->acls = manager.core().config().acls;
  manager.core().ForEachApp([&](const App& app) {
    if (!app.in_scheduler) return;
    const auto& submission = app.submission;
    present->apps.push_back({app.index, submission.id, submission.name, submission.user, submission.queue,
                             fairlead::rm::KindOf(submission.name), app.current() ? app.current()->id.attempt : 0,
                             submission.unmanaged, viewer.May(app, false), app.master_asks, submission.priority});
    app.containers.ForEach([&](const Container& one) {
      const base::Instant started =
          present->now - base::Duration::Millis(std::max<int64_t>(wall.ms - one.created.ms, 0));
      present->containers.push_back({one.id, app.index, one.node, one.resources, started, one.priority, one.is_master,
                                     one.state != model::rm::ContainerState::kAllocated, one.launched});
    });
  });
  const std::vector<model::rm::HostWindow> windows = manager.draining().maintenance().Ahead();
  const std::vector<std::string> in_window = manager.draining().maintenance().Now();
  const auto at = [&](base::WallTime time) { return present->now + base::Duration::Millis(time.ms - wall.ms); };
  manager.core().ForEachNode([&](const Node& node) {
    if (!node.in_scheduler) return;
    present->nodes.push_back({node.index, node.address.host, node.address.port, node.rack, node.capacity, node.labels,
                              node.last_seen + heartbeat, node.state == model::rm::NodeState::kDecommissioning});
    if (manager.draining().hosts().contains(node.address.host)) return;
    const bool closed = std::find(in_window.begin(), in_window.end(), node.address.host) != in_window.end();
    if (present->nodes.back().drains && !closed) return;  // by the file of excluded hosts
    for (const model::rm::HostWindow& one : windows) {
      if (one.host == node.address.host) present->nodes.back().windows.push_back({at(one.from), at(one.until)});
    }
  });
  // As the scheduler has them by index, whatever order they are kept in.
  std::sort(present->apps.begin(), present->apps.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  return present;
}

/// What POST what-if brings.
struct WhatIfRequest {
  std::vector<ask::Change> changes;  // without those of queues
  std::vector<QueueChange> queues;   // one for each queue
  std::string queues_file;
  std::optional<model::QueueTree> tree;  // what those of the queues come to
  std::string implied;                   // the profile that reads the file, where the one that runs does not
  base::Duration ahead = kAheadUnlessSaid;
};

void AddQueueChange(WhatIfRequest& request, const ask::SetQueue& change) {
  auto at = std::find_if(request.queues.begin(), request.queues.end(),
                         [&](const QueueChange& one) { return one.queue == change.queue; });
  if (at == request.queues.end()) at = request.queues.insert(at, QueueChange{change.queue, {}});
  at->settings.emplace_back(change.setting, change.value);
}

base::Result<WhatIfRequest> ReadRequest(const http::Request& request) {
  const auto body = rest::ParseBody("application/json", request.body, "what-if");
  if (!body.ok()) return body.error();
  WhatIfRequest read;
  const std::vector<nlohmann::json> changes = rest::Items(*body, "changes");
  if (changes.size() > kMostChanges) return base::Error{"at most " + std::to_string(kMostChanges) + " changes at once"};
  for (const nlohmann::json& one : changes) {
    if (!one.is_string()) return base::Error{"a change is a text, such as \"kill application_1_0001\""};
    base::Result<ask::Change> change = ask::ParseChange(one.get<std::string>());
    if (!change.ok()) return change.error();
    if (auto* submit = std::get_if<ask::Submit>(&*change)) submit->user = http::CallerOf(request);
    const auto* queue = std::get_if<ask::SetQueue>(&*change);
    if (!queue) {
      read.changes.push_back(std::move(*change));
    } else {
      AddQueueChange(read, *queue);
    }
  }
  if (const base::Status within = ask::WithinSums(read.changes); !within.ok()) return within.error();
  read.queues_file = rest::Text(*body, "queues_file");
  if (!read.queues_file.empty() && !read.queues.empty())
    return base::Error{"settings of a queue, or a whole file: not both"};
  if (read.changes.empty() && read.queues_file.empty() && read.queues.empty()) {
    return base::Error{
        "write {\"changes\": [\"NAME VALUE\", ...], \"queues_file\": TEXT, \"for\": \"2h\"}; docs/ask.md has the "
        "changes"};
  }
  if (const std::string ahead = rest::Text(*body, "for"); !ahead.empty()) {
    const auto time = ask::ParseTime(ahead);
    if (!time.ok()) return base::Error{"for: " + time.error().message};
    if (*time > kFarthest) return base::Error{"for: a question looks ahead 1d at most"};
    read.ahead = *time;
  }
  return read;
}

using EditQueues = decltype(ResourceManagerOptions::edit_queue_file);
using ParseQueues = decltype(ResourceManagerOptions::parse_queues);

constexpr std::string_view kOfCapacity = "yarn-capacity";  // alone reads a capacity-scheduler.xml

/// Queues in the form of another profile than the one that runs imply that it decides. Error: the one that is asked
/// about does not read them.
base::Status ChooseProfile(WhatIfRequest& request, bool capacity_runs) {
  const bool capacity = request.tree->capacity.has_value();
  for (const ask::Change& change : request.changes) {
    const auto* profile = std::get_if<ask::UseProfile>(&change);
    if (!profile) continue;
    if ((profile->name == kOfCapacity) == capacity) return {};
    const std::string form =
        capacity ? "a capacity-scheduler.xml, which yarn-capacity alone reads" : "not one that yarn-capacity reads";
    return base::Error{"the file of queues is " + form + ": ask with --profile " +
                       (capacity ? "yarn-capacity" : "yarn-fair") + " --queues-file FILE, or without --profile"};
  }
  if (capacity == capacity_runs) return {};
  request.implied = capacity ? kOfCapacity : "yarn-fair";
  request.changes.emplace_back(ask::UseProfile{request.implied});
  return {};
}

/// The changes of queues as the queues that there would be, before the others. Reads files.
base::Status MakeQueues(WhatIfRequest& request, const EditQueues& edit_file, const ParseQueues& parse,
                        bool capacity_runs) {
  if (request.queues.empty() && request.queues_file.empty()) return {};
  if (!edit_file || !parse) return base::Error{"the queues of this resource manager are in no file"};
  for (QueueChange& queue : request.queues) {
    queue.in = request.queues_file;  // as the one before left it
    const base::Result<QueueEdit> edit = edit_file(queue);
    if (!edit.ok()) return base::Error{edit.error().message};
    request.queues_file = edit->after;
  }
  base::Result<model::QueueTree> tree = parse(request.queues_file);
  if (!tree.ok()) return base::Error{tree.error().message};
  request.tree = std::move(*tree);
  request.changes.insert(request.changes.begin(), ask::NewQueues{*request.tree});
  return request.queues.empty() ? ChooseProfile(request, capacity_runs) : base::Status();
}

/// Jobs as their submission would make them: with the caller's groups, sizes rounded. Error: Hadoop's, of a container
/// that is too large.
base::Status FitJobs(WhatIfRequest& request, ResourceManager& manager) {
  for (ask::Change& change : request.changes) {
    auto* job = std::get_if<ask::Submit>(&change);
    if (!job) continue;
    job->groups = manager.access().Of(job->user).groups;
    model::Ask one;
    one.name = "*";
    one.capability = job->size;
    one.count = job->count;
    const model::Refused refused =
        fairlead::rm::NormalizeAsk(manager.core().config(), manager.core().MaximumAllocation(manager.now()), "", one);
    if (refused) return base::Error{endpoints::yarn::ExceptionOf(refused).message};
    job->size = one.capability;
  }
  return {};
}

http::Response Refusal(int status, const std::string& why) {
  return http::JsonResponse(status, v1::Text(v1::Error{why}));
}

http::Response Unanswered(const base::Error& error) {
  return error.code == ask::kOutOfTime ? Questions::OutOfTime(error.message) : Refusal(400, error.message);
}

v1::Moment MomentOf(const ask::When& when) {
  v1::Moment moment;
  if (when.p50) moment.p50_ms = when.p50->millis();
  if (when.p90) moment.p90_ms = when.p90->millis();
  return moment;
}

}  // namespace

// POST what-if {"changes": ["NAME VALUE", ...], "queues_file": TEXT, "for": "2h"}.
void Web::WhatIf(const http::Request& request, const Reply& reply) {
  base::Result<WhatIfRequest> read = ReadRequest(request);
  if (!read.ok()) return OwnError(reply, 400, read.error().message);
  for (const QueueChange& queue : read->queues) {
    if (!manager_.access().QueueExists(queue.queue)) return OwnError(reply, 400, "there is no queue " + queue.queue);
  }
  if (const base::Status fit = FitJobs(*read, manager_); !fit.ok()) return OwnError(reply, 400, fit.error().message);
  const auto made = std::make_shared<http::Response>();
  const auto begin = [this, made, read = std::move(*read),
                      user = http::CallerOf(request)](const Questions::Ended& ended) {
    const ResourceManagerOptions& options = manager_.options();
    return [made, read, make = options.make_other, own = manager_.core().config().queues,
            epoch = manager_.core().epoch() + 1, capacity_runs = options.hadoop_scheduler == "CapacityScheduler",
            present = TakePresent(manager_, manager_.access().Of(user)), edit = options.edit_queue_file,
            parse = options.parse_queues, learned = manager_.learning().Share(), heartbeat = options.heartbeat,
            ended]() mutable {
      try {
        const base::Status queues = MakeQueues(read, edit, parse, capacity_runs);
        if (!queues.ok()) return void(*made = Refusal(400, queues.error().message));
        ask::MakeOther other;
        if (make) other = [&](const std::string& name) { return make(name, read.tree ? *read.tree : own, epoch); };
        const ask::Bounds bounds{.ahead = read.ahead, .events = 4'000'000, .ended = ended};
        auto answer = ask::WhatIf(*present, learned, read.changes, bounds, other, heartbeat);
        if (answer.ok() && !read.implied.empty()) {
          answer->sentences.insert(answer->sentences.begin(), "The file is one that profile " + read.implied +
                                                                  " reads: it decides, with these queues.");
        }
        *made = answer.ok() ? http::JsonResponse(200, v1::Text(*answer)) : Unanswered(answer.error());
      } catch (const std::exception& error) {
        *made = http::BrokenPage("what-if", error);
      }
    };
  };
  const bool taken =
      questions_->Ask(http::CallerOf(request), request.asker, begin, [made, reply] { reply(std::move(*made)); });
  if (!taken) reply(Questions::TooMany());
}

// GET apps/ID/when
void Web::AppWhen(const http::Request& request, const App& app, const Reply& reply) {
  const std::string user = http::CallerOf(request);
  if (!manager_.access().Of(user).May(app, false)) {
    return OwnError(reply, 403, user + " may not see what " + ToString(app.submission.id) + " waits for");
  }
  const auto make = [this](const Questions::Ended& ended) {
    return [present = TakePresent(manager_, {}), learned = manager_.learning().Share(),
            correction = manager_.estimates().correction(), ended]() -> Questions::Forecasts {
      const ask::Bounds bounds{.ahead = kAheadUnlessSaid, .events = kForecastEvents, .ended = ended};
      return std::make_shared<ask::Forecast>(present, learned, bounds, correction);
    };
  };
  const auto tell = [this, reply, user, id = app.submission.id](const Questions::Forecasts& forecast) {
    manager_.estimates().Foresee(*forecast);
    const App* now = manager_.core().FindApp(id);
    const ask::TrackRecord::Held held = manager_.estimates().held(manager_.now());
    v1::When when{.id = ToString(id),
                  .age_ms = (manager_.now() - forecast->present().now).millis(),
                  .ahead_ms = forecast->ahead().millis(),
                  .held = {held.estimates, held.within_p90, held.close, held.median_error}};
    if (now && now->in_scheduler) {
      const Viewer viewer = manager_.access().Of(user);
      const auto visible = [&](const ask::Present::App& one) {
        const App* other = manager_.core().AppAt(one.index);
        return other && other->submission.id == one.id && viewer.May(*other, false);
      };
      for (const ask::AskWhen& one : forecast->Of(now->index, visible)) {
        when.asks.push_back({one.priority, one.count, one.size, MomentOf(one.first), MomentOf(one.all), one.reason});
      }
    }
    reply(http::JsonResponse(200, v1::Text(when)));
  };
  const base::Instant since = manager_.now() - base::Duration::Millis(manager_.now_wall().ms - app.submitted.ms);
  if (!questions_->AskForecast(since, make, tell)) reply(Questions::TooMany());
}

}  // namespace fairlead::process::rm
