#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "model/scheduler.h"
#include "scheduler/scheduler.h"

namespace fairlead::scenario {

/// What an application asks for in one statement.
struct Wish {
  int32_t count = 0;
  model::Resources size;
  int32_t priority = 1;
  std::vector<std::string> hosts;
  std::vector<std::string> racks;
  bool strict = false;
  std::string label;
  int64_t gang = 0;
  std::vector<std::string> excluded;  // nodes, by this ask alone
};

struct NewApp {
  std::string name;
  std::string queue;
  std::string user = "user";
  int32_t priority = 0;
  model::Resources master;  // zero: the application has no container for a master
  model::scheduler::SessionTraits session;
};

/// A scheduler with what surrounds it in life: nodes that beat once a second and report what started and ended, and
/// applications that pick up grants at once. Names must be known; the script has checked them.
class Cluster {
 public:
  /// `show` gets a line for everything that happens.
  Cluster(std::unique_ptr<scheduler::Scheduler> scheduler, std::function<void(const std::string&)> show);

  struct Container {
    std::string app;
    std::string node;
    model::ContainerId id;
    model::Resources size;
    int32_t priority = 0;
    bool master = false;
    bool launched = false;  // the node has said that it runs
    bool ended = false;     // in the scheduler's books
    bool reported = false;  // by the node, after it ended
    bool taken_back = false;
    bool warned = false;
  };

  void AddNode(const std::string& name, const model::Resources& capacity, const std::string& rack,
               const std::string& label);
  void LoseNode(const std::string& name);
  void SetSchedulable(const std::string& name, bool schedulable);
  /// `each_percent`: of its cores, that each container there uses; negative: not told.
  void Measure(const std::string& name, const model::MeasuredUse& use, int64_t each_percent);
  void ResizeNode(const std::string& name, const model::Resources& capacity);
  void AddApp(const NewApp& app);
  void RemoveApp(const std::string& name);
  void MoveApp(const std::string& name, const std::string& queue);
  void SetPriority(const std::string& name, int32_t priority);
  void Ask(const std::string& app, const Wish& wish);
  void Exclude(const std::string& app, const std::string& node, bool exclude);
  /// The oldest containers of the application end by themselves; false when there are fewer. `node` may be empty.
  bool End(const std::string& app, int64_t count, const std::string& node);
  bool Resize(const std::string& app, size_t number, const model::Resources& size);
  void Reload(const model::QueueTree& queues);
  void Advance(base::Duration time);

  bool HasNode(const std::string& name) const { return nodes_.contains(name); }
  bool HasApp(const std::string& name) const { return apps_.contains(name); }
  const std::vector<Container>& containers() const { return containers_; }
  /// Its last call was refused.
  bool refused(const std::string& app) const { return apps_.at(app).refused; }
  /// It was accepted and has not left.
  bool lives(const std::string& app) const { return apps_.at(app).lives; }
  int64_t waiting(const std::string& app) const;
  std::set<std::string> reasons(const std::string& app) const;
  /// The application that the node is reserved for, or empty.
  std::string reserved(const std::string& node) const;
  const scheduler::Scheduler& scheduler() const { return *scheduler_; }
  scheduler::AppView ViewOf(const std::string& app) const;

 private:
  struct Node {
    model::NodeIndex index;
    std::string rack;
    bool alive = true;
    model::AppIndex reserved_for{UINT32_MAX};
  };
  struct App {
    model::AppIndex index;
    bool lives = true;
    bool refused = false;
    uint64_t last_call = 0;  // its token
    std::map<std::pair<int32_t, std::array<int64_t, model::Resources::kMaxTypes>>, int64_t> wanted;
  };

  uint64_t CallOf(const std::string& app);
  void Step(const std::vector<model::scheduler::Event>& events);
  void Beat(const std::string& name, const std::vector<size_t>& ended);
  void Note(const model::scheduler::Granted& grant, std::vector<model::scheduler::Event>& picked_up);
  void Note(const model::scheduler::Finished& finished);
  void Note(const model::scheduler::Effect& effect);
  void Say(const std::string& text);
  Container* Find(const model::ContainerId& id);
  const std::string& NodeName(model::NodeIndex index) const { return node_names_[index.value]; }
  const std::string& AppName(model::AppIndex index) const { return app_names_[index.value]; }

  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::function<void(const std::string&)> show_;
  base::Instant now_{};
  std::map<std::string, Node> nodes_;
  std::map<std::string, App> apps_;
  std::vector<std::string> node_names_;  // by index
  std::vector<std::string> app_names_;
  std::vector<Container> containers_;  // in order of grants
  uint64_t token_ = 0;
};

}  // namespace fairlead::scenario
