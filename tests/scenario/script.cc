#include "scenario/script.h"

#include <algorithm>

namespace fairlead::scenario {

base::Status Wrong(Words& words) {
  words.End();
  if (words.error().empty()) return {};
  return base::Error{words.error()};
}

namespace {

/// Sizes count as they are written, and a heartbeat fills a node.
const std::pair<const char*, const char*> kKeys[] = {
    {"yarn.scheduler.minimum-allocation-mb", "1"},       {"yarn.scheduler.minimum-allocation-vcores", "1"},
    {"yarn.scheduler.increment-allocation-mb", "1"},     {"yarn.scheduler.increment-allocation-vcores", "1"},
    {"yarn.scheduler.maximum-allocation-mb", "1048576"}, {"yarn.scheduler.maximum-allocation-vcores", "1024"},
    {"yarn.scheduler.fair.assignmultiple", "true"},      {"yarn.scheduler.fair.dynamic.max.assign", "false"},
};

/// min or max of a queue: "50 %" of the cluster or an amount.
model::ConfiguredResources Limit(Words& words, int64_t unnamed) {
  model::ConfiguredResources out;
  out.unnamed = unnamed;
  Words ahead = words;
  const double percent = ahead.Number("");
  if (ahead.Take("%")) {
    words = ahead;
    out.percent["*"] = percent;
  } else {
    out.absolute = words.Amounts();
  }
  return out;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

base::Result<std::vector<std::string>> ProfilesOf(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view line : Lines(text)) {
    Words words(line);
    if (!words.Take("profiles")) continue;
    while (!words.done()) names.push_back(words.Next("a profile"));
  }
  for (const std::string& name : names) {
    if (profiles::Find(name) == nullptr) return base::Error{"there is no profile \"" + name + "\""};
  }
  return names.empty() ? profiles::Names() : names;
}

Script::Script(const profiles::Profile& profile, std::function<void(const std::string&)> show)
    : profile_(profile), show_(std::move(show)) {
  for (const auto& [key, value] : kKeys) conf_.Set(key, value);
}

std::vector<std::string> Script::Run(const std::string& file, std::string_view text) {
  std::vector<std::string> failures;
  int number = 0;
  bool asserted = false;
  for (const std::string_view line : Lines(text)) {
    ++number;
    Words words(line);
    if (words.done()) continue;
    show_(std::string(line));
    asserted = asserted || words.Peek() == "expect";
    const base::Status done = Do(words);
    if (done.ok()) continue;
    const bool unmet = done.error().code == kUnmet;
    failures.push_back(file + ":" + std::to_string(number) + ": [" + std::string(profile_.name) + "] " +
                       (unmet ? std::string(line.substr(line.find_first_not_of(' '))) + ": got " : "") +
                       done.error().message);
    if (!unmet) return failures;
  }
  if (!asserted) failures.push_back(file + ": nothing is expected; write a line that begins with expect");
  return failures;
}

base::Status Script::Do(Words& words) {
  if (words.Take("profiles")) return {};
  if (words.Take("set")) return Set(words);
  if (words.Take("queue")) return Queue(words);
  if (words.Take("user")) return User(words);
  if (const base::Status started = Start(); !started.ok()) return started;
  base::Status done;
  if (words.Take("nodes")) {
    done = Nodes(words);
  } else if (words.Take("app")) {
    done = AddApp(words);
  } else if (words.Take("after")) {
    const base::Duration time = words.Time();
    if (done = Wrong(words); done.ok()) cluster_->Advance(time);
  } else if (words.Take("expect")) {
    return Expect(words);
  } else if (cluster_->HasNode(std::string(words.Peek()))) {
    done = OfNode(words.Next(""), words);
  } else if (cluster_->HasApp(std::string(words.Peek()))) {
    done = OfApp(words.Next(""), words);
  } else {
    words.Fail("set, queue, user, nodes, app, after, expect, profiles, or the name of a node or an application");
    done = Wrong(words);
  }
  if (!done.ok()) return done;
  const std::string broken = cluster_->scheduler().CheckInvariants();
  if (!broken.empty()) return base::Error{"the scheduler's books disagree: " + broken};
  return {};
}

base::Status Script::Start() {
  if (cluster_ && !std::exchange(queues_changed_, false)) return {};
  if (cluster_) {
    cluster_->Reload(queues_);
    return {};
  }
  const auto maker = profiles::Read(profile_.name, conf_, queues_);
  if (!maker) return maker.error();
  cluster_.emplace((*maker)(0), show_);
  queues_changed_ = false;
  return {};
}

base::Status Script::Set(Words& words) {
  const std::string key = words.Next("a key");
  const std::string value = words.Next("its value");
  if (cluster_) words.Fail("this line before the first node");
  conf_.Set(key, value);
  return Wrong(words);
}

/// The settings of the queue, made with the queues above it where they are new.
model::QueueConfig& Script::QueueOf(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 4) QueueOf(name.substr(0, dot)).parent_type = true;
  auto& all = queues_.queues;
  const auto it = std::find_if(all.begin(), all.end(), [&](const auto& queue) { return queue.name == name; });
  if (it != all.end()) return *it;
  all.emplace_back().name = name;
  return all.back();
}

base::Status Script::Queue(Words& words) {
  const std::string name = words.Next("a queue");
  model::QueueConfig& queue = QueueOf(name);
  while (!words.done() && words.error().empty()) {
    if (words.Take("weight")) {
      queue.weight = words.Number("a weight");
    } else if (words.Take("min")) {
      queue.min_resources = Limit(words, 0);
    } else if (words.Take("max")) {
      queue.max_resources = Limit(words, INT64_MAX);
    } else if (words.Take("container")) {
      queue.max_container_allocation = Limit(words, INT64_MAX);
    } else if (words.Take("policy")) {
      queue.policy = words.Next("fair, drf or fifo");
    } else if (words.Take("apps")) {
      queue.max_running_apps = static_cast<int32_t>(words.Count("applications that run"));
    } else if (words.Take("masters")) {
      queue.max_am_share = words.Number("a part of 1");
    } else if (words.Take("priority")) {
      queue.priority = static_cast<int32_t>(words.Count("a priority"));
    } else if (words.Take("since")) {
      queue.start_time = words.Time().millis();
    } else if (words.Take("keeps")) {
      queue.allow_preemption_from = false;
    } else if (words.Take("starves")) {
      const base::Duration wait = words.Time();
      queue.min_share_preemption_timeout = wait;
      queue.fair_share_preemption_timeout = wait;
      queue.fair_share_preemption_threshold = 1.0;
    } else {
      words.Fail("weight, min, max, container, policy, apps, masters, priority, since, keeps or starves");
    }
  }
  queues_changed_ = true;
  return Wrong(words);
}

base::Status Script::User(Words& words) {
  const std::string name = words.Next("a user");
  if (words.Take("max")) {
    queues_.user_max_resources[name] = Limit(words, INT64_MAX);
  } else {
    words.Need("apps");
    queues_.user_max_apps[name] = static_cast<int32_t>(words.Count("applications that run"));
  }
  queues_changed_ = true;
  return Wrong(words);
}

base::Status Script::Nodes(Words& words) {
  const int64_t count = words.Count("how many nodes");
  words.Need("x");
  const model::Resources capacity = words.Amount();
  const std::string rack = words.Take("rack") ? words.Next("a rack") : "/rack";
  const std::string label = words.Take("label") ? words.Next("a label") : "";
  if (count > 10'000) words.Fail("fewer nodes");
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  for (int64_t i = 0; i < count; ++i) cluster_->AddNode("n" + std::to_string(++nodes_), capacity, rack, label);
  return {};
}

base::Status Script::AddApp(Words& words) {
  NewApp app;
  app.name = words.Next("a name");
  words.Need("in");
  app.queue = words.Next("a queue");
  while (!words.done() && words.error().empty()) {
    if (words.Take("of")) {
      app.user = words.Next("a user");
    } else if (words.Take("priority")) {
      app.priority = static_cast<int32_t>(words.Count("a priority"));
    } else if (words.Take("master")) {
      app.master = words.Amount();
    } else if (words.Take("keeps")) {
      app.session.preemptable = false;
    } else if (words.Take("maps")) {
      app.session.maps = static_cast<int32_t>(words.Count("how many maps"));
    } else {
      words.Fail("of, priority, master, keeps or maps");
    }
  }
  if (cluster_->HasApp(app.name)) return base::Error{"there is an application " + app.name + " already"};
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  cluster_->AddApp(app);
  return {};
}

base::Status Script::OfNode(const std::string& name, Words& words) {
  if (words.Take("has")) {
    const model::Resources capacity = words.Amount();
    if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
    cluster_->ResizeNode(name, capacity);
    return {};
  }
  if (words.Take("measures")) {
    const std::string what = words.Next("cores or disks");
    model::MeasuredUse use;
    int64_t each_percent = -1;
    if (what == "cores") {
      use.milli_cores = words.Count("how many are in use") * 1000;
      if (words.Take("each")) each_percent = words.Count("percent of its cores");
    } else if (what == "disks") {
      use.disk_busy = words.Count("percent of the time with work") * 10;
    } else {
      words.Fail("cores or disks");
    }
    if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
    cluster_->Measure(name, use, each_percent);
    return {};
  }
  words.Need("is");
  const std::string state = words.Next("lost, closed or open");
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  if (state == "lost") {
    cluster_->LoseNode(name);
  } else if (state == "closed" || state == "open") {
    cluster_->SetSchedulable(name, state == "open");
  } else {
    return base::Error{"a node is lost, closed or open, not \"" + state + "\""};
  }
  return {};
}

std::string Script::NodeName(Words& words) {
  if (!cluster_->HasNode(std::string(words.Peek()))) words.Fail("a node");
  return words.Next("a node");
}

base::Status Script::OfApp(const std::string& name, Words& words) {
  if (!cluster_->lives(name)) return base::Error{name + " was refused, or has left"};
  if (words.Take("asks")) return Asks(name, words);
  const std::string verb = words.Next("a verb");
  std::function<void()> act;
  if (verb == "excludes" || verb == "admits") {
    act = [=, this, node = NodeName(words)] { cluster_->Exclude(name, node, verb == "excludes"); };
  } else if (verb == "ends") {
    return Ends(name, words);
  } else if (verb == "leaves") {
    act = [=, this] { cluster_->RemoveApp(name); };
  } else if (verb == "moves") {
    words.Need("to");
    act = [=, this, queue = words.Next("a queue")] { cluster_->MoveApp(name, queue); };
  } else if (verb == "gets") {
    words.Need("priority");
    act = [=, this, to = static_cast<int32_t>(words.Count("a priority"))] { cluster_->SetPriority(name, to); };
  } else if (verb == "resizes") {
    return Resizes(name, words);
  } else {
    return base::Error{"an application asks, ends, leaves, excludes, admits, moves, resizes or gets, not \"" + verb +
                       "\""};
  }
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  act();
  return {};
}

base::Status Script::Ends(const std::string& app, Words& words) {
  const int64_t count = words.Count("how many containers");
  const std::string node = words.Take("on") ? NodeName(words) : "";
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  if (cluster_->End(app, count, node)) return {};
  return base::Error{app + " runs fewer containers than that"};
}

base::Status Script::Resizes(const std::string& app, Words& words) {
  const int64_t number = words.Count("a container's number, from 1");
  words.Need("to");
  const model::Resources size = words.Amount();
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  if (cluster_->Resize(app, static_cast<size_t>(number), size)) return {};
  return base::Error{app + " never had a container " + std::to_string(number)};
}

base::Status Script::Asks(const std::string& app, Words& words) {
  Wish wish;
  wish.count = static_cast<int32_t>(words.Count("how many containers"));
  words.Need("x");
  wish.size = words.Amount();
  while (!words.done() && words.error().empty()) {
    if (words.Take("at")) {
      words.Need("priority");
      wish.priority = static_cast<int32_t>(words.Count("a priority"));
    } else if (words.Take("on")) {
      while (words.Peek().starts_with('/')) wish.racks.push_back(words.Next("a rack"));
      while (cluster_->HasNode(std::string(words.Peek()))) wish.hosts.push_back(words.Next("a node"));
      if (wish.hosts.empty() && wish.racks.empty()) words.Fail("a node or a rack, which begins with /");
    } else if (words.Take("without")) {
      wish.excluded.push_back(NodeName(words));
    } else if (words.Take("only")) {
      wish.strict = true;
    } else if (words.Take("label")) {
      wish.label = words.Next("a label");
    } else if (words.Take("together")) {
      wish.gang = 1;
    } else {
      words.Fail("at, on, without, only, label or together");
    }
  }
  if (wish.strict && wish.hosts.empty() && wish.racks.empty()) words.Fail("on NODE before only");
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  cluster_->Ask(app, wish);
  return {};
}

}  // namespace fairlead::scenario
