#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/text.h"
#include "cluster_command.h"
#include "documents.h"
#include "interrupt.h"
#include "table.h"

// top: the cluster, its queues, applications and nodes, live in the terminal.

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;

constexpr size_t kWideEnough = 140;  // for the columns of applications

struct TopOptions {
  bool once = false;
  int64_t seconds = 2;
};

int64_t Memory(const ordered_json& of, const char* field) {
  return of.value(field, ordered_json::object()).value("memory_mib", int64_t{0});
}
int64_t Cores(const ordered_json& of, const char* field) {
  return of.value(field, ordered_json::object()).value("vcores", int64_t{0});
}

std::string Bar(int64_t part, int64_t whole, size_t width) {
  const size_t full = whole <= 0 ? 0 : static_cast<size_t>(std::clamp<int64_t>(part, 0, whole)) * width / whole;
  return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

std::vector<std::string> ClusterLines(const ordered_json& cluster) {
  const auto count = [&](const char* group, std::initializer_list<const char*> states) {
    int64_t sum = 0;
    for (const char* state : states) sum += cluster.value(group, ordered_json::object()).value(state, int64_t{0});
    return std::to_string(sum);
  };
  const auto meter = [&](const char* name, int64_t used, int64_t whole, const std::string& text) {
    return std::string(name) + Bar(used, whole, 30) + " " + text;
  };
  const int64_t memory = Memory(cluster, "used");
  const int64_t memory_all = Memory(cluster, "capacity");
  const int64_t cores = Cores(cluster, "used");
  const int64_t cores_all = Cores(cluster, "capacity");
  return {meter("memory ", memory, memory_all, MemoryText(memory) + " of " + MemoryText(memory_all)),
          meter("cores  ", cores, cores_all, std::to_string(cores) + " of " + std::to_string(cores_all)),
          "applications " + count("apps", {"RUNNING"}) + " running, " + count("apps", {"ACCEPTED", "SUBMITTED"}) +
              " pending; containers " + std::to_string(cluster.value("containers", int64_t{0})) + "; nodes " +
              count("nodes", {"RUNNING"}) + " running, " + count("nodes", {"DECOMMISSIONING", "UNHEALTHY", "LOST"}) +
              " draining, unhealthy or lost"};
}

std::vector<std::string> QueueLines(const ordered_json& queues, int64_t whole) {
  Table table({"QUEUE", "USED", "FAIR SHARE", "WANTED", "", "RUNNABLE", "WAITING"});
  for (const auto& queue : queues) {
    table.Add({queue.value("name", ""), MemoryText(Memory(queue, "used")), MemoryText(Memory(queue, "fair_share")),
               MemoryText(Memory(queue, "demand")), Bar(Memory(queue, "used"), whole, 20),
               std::to_string(queue.value("runnable_apps", 0)), std::to_string(queue.value("waiting_apps", 0))});
  }
  return table.Lines();
}

/// Where a terminal is too narrow for all columns, the state and the reason come first.
std::vector<std::string> AppLines(const ordered_json& apps, size_t columns) {
  const auto ordered = [narrow = columns < kWideEnough](std::vector<std::string> cells) {
    if (!narrow) return cells;
    std::rotate(cells.begin() + 1, cells.begin() + 4, cells.begin() + 5);
    std::rotate(cells.begin() + 2, cells.end() - 1, cells.end());
    return cells;
  };
  Table table(ordered({"APPLICATION", "NAME", "USER", "QUEUE", "STATE", "CONTAINERS", "MEMORY", "AGE", "WAITS FOR"}));
  for (const auto& app : apps) {
    const ordered_json pending = app.value("pending", ordered_json::object());
    table.Add(ordered({app.value("id", ""), Shortened(app.value("name", ""), 30), app.value("user", ""),
                       app.value("queue", ""), app.value("state", ""), std::to_string(app.value("containers", 0)),
                       MemoryText(Memory(app, "used")), DurationText(app.value("elapsed_ms", int64_t{0})),
                       pending.value("detail", "")}));
  }
  return table.Lines();
}

std::vector<std::string> NodeLines(std::vector<ordered_json> nodes) {
  Table table({"NODE", "STATE", "MEMORY", "", "CORES", "CONTAINERS"});
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const ordered_json& a, const ordered_json& b) { return Memory(a, "used") > Memory(b, "used"); });
  for (const auto& node : nodes) {
    const int64_t used = Memory(node, "used");
    const int64_t all = Memory(node, "capacity");
    table.Add({node.value("id", ""), node.value("state", ""), MemoryText(used) + " of " + MemoryText(all),
               Bar(used, all, 20),
               std::to_string(Cores(node, "used")) + " of " + std::to_string(Cores(node, "capacity")),
               std::to_string(node.value("containers", 0))});
  }
  return table.Lines();
}

/// What is shown, as the resource manager tells it.
base::Result<Picture> TakePicture(Cluster& cluster) {
  const auto whole = AskFairlead(cluster, "cluster");
  if (!whole.ok()) return whole.error();
  auto queues = AskFairlead(cluster, "queues");
  if (!queues.ok()) return queues.error();
  TakeNoBoundsOut(*queues);
  const auto running = AskFairlead(cluster, "apps?group=running&sort=-memory&limit=100");
  if (!running.ok()) return running.error();
  const auto waiting = AskFairlead(cluster, "apps?group=waiting&sort=submitted&limit=100");
  if (!waiting.ok()) return waiting.error();
  const auto nodes = AskFairlead(cluster, "nodes?limit=1000");
  if (!nodes.ok()) return nodes.error();
  ordered_json apps = running->at("apps");
  for (const auto& app : waiting->at("apps")) apps.push_back(app);
  return Picture{{*whole}, {queues->at("queues")}, {std::move(apps)}, {nodes->at("nodes")}};
}

using Parts = std::vector<std::vector<std::string>>;

/// Each with its heading first, for lines of so many characters.
Parts PartsOf(const Picture& picture, size_t columns) {
  return {ClusterLines(picture.cluster.json), QueueLines(picture.queues.json, Memory(picture.cluster.json, "capacity")),
          AppLines(picture.apps.json, columns), NodeLines(picture.nodes.json)};
}

/// Parts that are longer than their fair part of the screen are cut, and say so.
std::vector<std::string> Fit(const Parts& parts, size_t rows, size_t columns) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t left = rows > lines.size() ? rows - lines.size() : 0;
    const size_t share = std::max<size_t>(left / (parts.size() - i), 3);
    const size_t shown = parts[i].size() < share ? parts[i].size() : share - 2;
    lines.insert(lines.end(), parts[i].begin(), parts[i].begin() + static_cast<std::ptrdiff_t>(shown));
    if (shown < parts[i].size()) lines.push_back("... and " + std::to_string(parts[i].size() - shown) + " more");
    if (i + 1 < parts.size()) lines.emplace_back();
  }
  if (lines.size() > rows) lines.resize(rows);
  for (std::string& line : lines) line = Shortened(line, columns);
  return lines;
}

/// The other screen of the terminal, without a caret, as long as it lives.
class Screen {
 public:
  Screen() { std::fputs("\x1b[?1049h\x1b[?25l", stdout); }
  ~Screen() {
    std::fputs("\x1b[?25h\x1b[?1049l", stdout);
    std::fflush(stdout);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void Show(const Picture& picture) const {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) size = {24, 80, 0, 0};
    std::string text = "\x1b[H";
    for (const std::string& line :
         Fit(PartsOf(picture, size.ws_col), static_cast<size_t>(size.ws_row) - 2, size.ws_col))
      text += line + "\x1b[K\n";
    text += "\x1b[K\n\x1b[K" + TimeText(int64_t{std::time(nullptr)} * 1000) + "   Ctrl-C ends it\x1b[J";
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
};

int Top(const Command& command, Cluster& cluster, const TopOptions& options) {
  auto picture = TakePicture(cluster);
  if (!picture.ok()) return command.Fail(picture.error());
  if (options.once && command.options.json) {
    PrintDocument(*picture);
    return kOk;
  }
  if (options.once) {
    const Parts parts = PartsOf(*picture, kWideEnough);
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) std::puts("");
      for (const std::string& line : parts[i]) std::puts(line.c_str());
    }
    return kOk;
  }
  if (command.options.json) return Complain(command.name, "--json goes with --once", kUsage);
  if (::isatty(STDOUT_FILENO) == 0)
    return Complain(command.name, "this is no terminal; --once prints one picture", kUsage);
  NoteInterrupts();
  const auto live = [&]() -> base::Result<void> {
    const Screen screen;
    do {
      screen.Show(*picture);
      if (!PauseUnlessInterrupted(cluster, options.seconds * 1000)) return {};
      picture = TakePicture(cluster);
    } while (picture.ok());
    return picture.error();
  };
  const base::Result<void> ended = live();
  return ended.ok() ? kOk : command.Fail(ended.error());
}

}  // namespace

void AddTop(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* top = AddClusterCommand<TopOptions>(
      app, exit_code, "top", "Watch queues, applications and nodes in the terminal", options,
      [](const Command& command, Cluster& cluster, TopOptions& wanted) { return Top(command, cluster, wanted); });
  top->add_flag("--once", options->once, "print one picture and end");
  top->add_option("--interval", options->seconds, "seconds between pictures")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  top->footer(
      "Applications that hold most come first, then those that wait, with the reason.\nExamples:\n  fairlead top\n  "
      "fairlead top --once");
}

}  // namespace fairlead::apps
