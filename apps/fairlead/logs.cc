#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

#include "application_logs.h"
#include "base/text.h"
#include "cluster_command.h"
#include "interrupt.h"
#include "process/http/http.h"
#include "shell/nm/gathered_files.h"
#include "shell/nm/gathered_logs.h"
#include "wire/json/json.h"

// `fairlead logs`: of running and of ended applications, from the nodes that wrote them, or from where they were
// gathered; with Hadoop's nodes, too.

namespace fairlead::apps {
namespace {

using nlohmann::ordered_json;
namespace yarn = wire::yarn;

constexpr int64_t kFollowDelayMs = 500;
constexpr int64_t kPieceBytes = int64_t{4} << 20;
constexpr int64_t kLineGuess = 1024;  // bytes that a line has at most, most of the time

struct ContainerLogs {
  std::string container;
  std::string node_http;
};

/// As a URL of the cluster's scheme; empty where nothing is known.
std::string NodeUrl(const Cluster& cluster, const std::string& address) {
  if (address.empty() || address.find("://") != std::string::npos) return address;
  const std::string page = cluster.client->Page();
  return page.substr(0, page.find("://") + 3) + address;
}

/// `node`: a URL.
void AddOnce(std::vector<ContainerLogs>& out, const std::string& container, const std::string& node) {
  const bool listed =
      std::any_of(out.begin(), out.end(), [&](const auto& logs) { return logs.container == container; });
  if (!container.empty() && !node.empty() && !listed) out.push_back({container, node});
}

/// Containers that the resource manager still lists.
base::Status AddListed(Cluster& cluster, const model::ApplicationId& id, std::vector<ContainerLogs>& out) {
  yarn::GetApplicationAttemptsRequestProto attempts_request;
  attempts_request.application_id = ToProto(id);
  const auto attempts =
      cluster.client->Call<yarn::GetApplicationAttemptsResponseProto>("getApplicationAttempts", attempts_request);
  if (!attempts) return attempts.error();
  for (const auto& attempt : attempts->application_attempts) {
    yarn::GetContainersRequestProto request;
    request.application_attempt_id = attempt.ApplicationAttemptId();
    const auto containers = cluster.client->Call<yarn::GetContainersResponseProto>("getContainers", request);
    if (!containers) return containers.error();
    for (const auto& container : containers->containers) {
      const auto& proto = container.ContainerId();
      const model::ContainerId container_id{{{proto.AppAttemptId().ApplicationId().cluster_timestamp.value_or(0),
                                              proto.AppAttemptId().ApplicationId().id.value_or(0)},
                                             proto.AppAttemptId().AttemptId()},
                                            proto.id.value_or(0)};
      AddOnce(out, model::ToString(container_id), NodeUrl(cluster, container.node_http_address.value_or("")));
    }
  }
  return {};
}

/// Masters of ended attempts, as Fairlead's resource manager remembers them.
void AddMasters(Cluster& cluster, const std::string& application, std::vector<ContainerLogs>& out) {
  const auto detail = AskFairlead(cluster, "apps/" + application);
  if (!detail.ok()) return;
  for (const auto& attempt : detail->value("attempts", ordered_json::array())) {
    AddOnce(out, attempt.value("master", ""), NodeUrl(cluster, attempt.value("http_address", "")));
  }
}

/// Ended containers, as the nodes' log directories have them; Fairlead's nodes tell. Cost: one request a node.
void AddFromNodes(Cluster& cluster, const model::ApplicationId& id, std::vector<ContainerLogs>& out) {
  yarn::GetClusterNodesRequestProto request;
  request.node_states = {yarn::NodeStateProto::kRunning};
  const auto nodes = cluster.client->Call<yarn::GetClusterNodesResponseProto>("getClusterNodes", request);
  if (!nodes) return;
  for (const auto& node : nodes->node_reports) {
    const std::string url = NodeUrl(cluster, node.http_address.value_or(""));
    const auto answer = cluster.client->GetUrl(url + "/fairlead/v1/logs/" + model::ToString(id));
    if (!answer.ok() || answer->status != 200) continue;
    const auto json = wire::json::ParseOrdered(answer->body, wire::json::kAnswer);
    if (!json || !json->is_object()) continue;
    for (const auto& one : json->value("containers", ordered_json::array())) AddOnce(out, one.value("id", ""), url);
  }
}

/// Every container that may still have logs somewhere, in order.
base::Result<std::vector<ContainerLogs>> ContainersWithLogs(Cluster& cluster, const model::ApplicationId& id,
                                                            const std::string& only) {
  std::vector<ContainerLogs> containers;
  if (const base::Status listed = AddListed(cluster, id, containers); !listed.ok()) return listed.error();
  AddMasters(cluster, model::ToString(id), containers);
  const auto unwanted = [&](const ContainerLogs& logs) { return !only.empty() && logs.container != only; };
  std::erase_if(containers, unwanted);
  if (only.empty() || containers.empty()) AddFromNodes(cluster, id, containers);
  std::erase_if(containers, unwanted);
  std::sort(containers.begin(), containers.end(),
            [](const auto& a, const auto& b) { return a.container < b.container; });
  return containers;
}

/// A container's files with their sizes.
std::map<std::string, int64_t> FilesOf(Cluster& cluster, const ContainerLogs& logs) {
  std::map<std::string, int64_t> out;
  const auto answer = cluster.client->GetUrl(logs.node_http + "/ws/v1/node/containers/" + logs.container + "/logs");
  if (!answer.ok() || answer->status != 200) return out;
  const auto json = wire::json::ParseOrdered(answer->body, wire::json::kAnswer);
  if (!json || !json->is_object()) return out;
  const auto info = json->value("containerLogsInfo", ordered_json::object());
  for (const auto& file : info.value("containerLogInfo", ordered_json::array())) {
    const std::string size = file.value("fileSize", "0");
    std::from_chars(size.data(), size.data() + size.size(), out[file.value("fileName", "")]);
  }
  return out;
}

/// A log without what a node puts around it (ContainerLogsUtils, "LogContents:").
std::string LogContents(const std::string& answer) {
  constexpr std::string_view kBegin = "\nLogContents:\n", kEnd = "End of LogType:";
  const size_t head = answer.find(kBegin);
  if (head == std::string::npos) return answer;
  const size_t begin = head + kBegin.size();
  const size_t end = answer.rfind(kEnd);
  return answer.substr(begin, end == std::string::npos || end < begin ? std::string::npos : end - begin);
}

/// A log from byte `from` on, at most kPieceBytes of it where its node is Fairlead's; an Error: it is not to be had.
base::Result<std::string> ReadFrom(Cluster& cluster, const ContainerLogs& logs, const std::string& application,
                                   const std::string& file, int64_t from) {
  const std::string name = process::http::PercentEncode(file);
  const auto raw =
      cluster.client->GetUrl(logs.node_http + "/fairlead/v1/logs/" + application + "/" + logs.container + "/" + name +
                             "?start=" + std::to_string(from) + "&end=" + std::to_string(from + kPieceBytes));
  if (raw.ok() && raw->status == 200) return raw->body;
  const auto whole =
      cluster.client->GetUrl(logs.node_http + "/ws/v1/node/containerlogs/" + logs.container + "/" + name);
  if (!whole.ok()) return whole.error();
  if (whole->status != 200) return base::Error{"status " + std::to_string(whole->status)};
  const std::string text = LogContents(whole->body);
  return text.substr(std::min(text.size(), static_cast<size_t>(from)));
}

std::string_view LastLines(std::string_view text, int64_t lines) {
  size_t begin = text.size();
  for (; lines > 0 && begin > 0; --lines) {
    const size_t newline = begin < 2 ? std::string_view::npos : text.rfind('\n', begin - 2);
    begin = newline == std::string_view::npos ? 0 : newline + 1;
  }
  return text.substr(begin);
}

struct LogsOptions {
  std::string application;
  std::string container;
  std::string file;
  std::string grep;
  int64_t tail = -1;
  bool follow = false;
};

/// Adds what one application's files have of it to `reader`; "" or why not all could be read.
std::string ReadGathered(const shell::GatheredFiles& files, shell::LogReader& reader) {
  const auto names = files.Names();
  if (!names) return names.error().message;
  std::string why;
  for (const std::string& name : *names) {
    const auto file = files.Open(name);
    const base::Status read = file ? shell::ReadGatheredLogs(file->get(), reader) : file.error();
    if (!read) why = name + ": " + read.error().message;
  }
  return why;
}

/// Prints what is new in the logs of an application, piece by piece.
class Printer {
 public:
  Printer(Cluster& cluster, const LogsOptions& options, model::ApplicationId id)
      : cluster_(cluster), options_(options), id_(id) {
    files_ = options.file.empty() ? std::vector<std::string>{"stdout", "stderr"} : std::vector{options.file};
  }

  /// All that is there now beyond what was printed before. `last`: nothing comes after it.
  base::Status Print(bool last) {
    const auto containers = ContainersWithLogs(cluster_, id_, options_.container);
    if (!containers.ok()) return containers.error();
    for (const ContainerLogs& logs : *containers) {
      const std::map<std::string, int64_t> sizes = FilesOf(cluster_, logs);
      if (!sizes.empty()) seen_files_[logs.container] = sizes;
      for (const std::string& file : files_) {
        const auto size = sizes.find(file);
        if (size != sizes.end()) PrintFile(logs, file, size->second, last);
      }
    }
    return {};
  }

  /// What was gathered of an application that is over, file by file. "" or why a file cannot be read.
  std::string PrintGathered(const shell::GatheredFiles& files) {
    Gathered reader(*this);
    return ReadGathered(files, reader);
  }

  /// There was a log, or where lines are looked for, one of them.
  bool found() const { return options_.grep.empty() ? found_ : matched_; }
  ExitCode missing_code() const { return found_ ? kFailed : kNotFound; }
  /// Why nothing was found.
  std::string Missing() const {
    if (found_) return "no line of " + options_.application + " holds '" + options_.grep + "'";
    for (const auto& [container, sizes] : seen_files_) {
      std::string names;
      for (const auto& [name, size] : sizes) names += (names.empty() ? "" : ", ") + name;
      return container + " has no " + files_.front() + "; it has " + names;
    }
    if (!options_.container.empty()) {
      return "no log of " + options_.container + " can be had; without --container all containers are shown";
    }
    return "no log of " + options_.application +
           " can be had from its nodes (they may be gone, or the logs were removed)";
  }

 private:
  struct Place {
    int64_t position = 0;  // bytes printed
    std::string rest;      // of --grep: a line that may go on
  };

  /// Prints one gathered log after the other.
  class Gathered final : public shell::LogReader {
   public:
    explicit Gathered(Printer& printer) : printer_(printer) {}
    bool Wants(const shell::GatheredLog& log) override {
      const bool named = std::find(printer_.files_.begin(), printer_.files_.end(), log.name) != printer_.files_.end();
      const std::string& only = printer_.options_.container;
      printer_.seen_files_[log.container][log.name] = log.bytes;
      if (!named || (!only.empty() && only != log.container)) return false;
      log_ = log;
      place_ = {};
      last_ = {};
      printer_.found_ = true;
      if (!Searched() && printer_.options_.tail < 0) printer_.Show(log_.container, log_.name, "", true);
      return true;
    }
    void Read(std::string_view bytes) override { Take(bytes, false); }
    void Ended() override {
      if (Searched()) Take("", true);
      if (printer_.options_.tail >= 0) printer_.Show(log_.container, log_.name, last_, !Searched());
    }

   private:
    bool Searched() const { return !printer_.options_.grep.empty(); }
    void Take(std::string_view bytes, bool ends) {
      const std::string lines = Searched() ? printer_.Matching(place_, bytes, ends) : std::string(bytes);
      printer_.matched_ |= Searched() && !lines.empty();
      if (printer_.options_.tail < 0) return printer_.Show(log_.container, log_.name, lines, false);
      last_ += lines;
      last_ = LastLines(last_, printer_.options_.tail);
      if (last_.size() > kPieceBytes) last_.erase(0, last_.size() - kPieceBytes);
    }

    Printer& printer_;
    shell::GatheredLog log_;
    Place place_;
    std::string last_;  // of --tail
  };

  /// The lines of `text`, which follows what was given before, that hold what is looked for.
  std::string Matching(Place& place, std::string_view text, bool ends) const {
    place.rest += text;
    const bool whole = ends || place.rest.size() > kPieceBytes;  // no line is waited for without a bound
    if (whole && !place.rest.empty() && place.rest.back() != '\n') place.rest += '\n';
    std::string found;
    size_t begin = 0;
    for (size_t end; (end = place.rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const std::string_view line = std::string_view(place.rest).substr(begin, end + 1 - begin);
      if (line.find(options_.grep) != std::string_view::npos) found += line;
    }
    place.rest.erase(0, begin);
    return found;
  }

  void PrintFile(const ContainerLogs& logs, const std::string& file, int64_t size, bool last) {
    const auto [at, is_new] = places_.try_emplace({logs.container, file});
    int64_t& position = at->second.position;
    const bool searched = !options_.grep.empty();
    const bool kept = is_new && searched && options_.tail >= 0;  // the last lines are known at the end alone
    std::string last_lines;
    bool tail = is_new && !searched && options_.tail >= 0;
    if (tail) position = std::max<int64_t>(0, size - std::min<int64_t>(options_.tail * kLineGuess, kPieceBytes));
    found_ = true;
    bool first = is_new && !options_.follow;  // a file without text is shown to be there
    while (first || position < size) {
      const auto text = ReadFrom(cluster_, logs, options_.application, file, position);
      if (!text.ok() || (text->empty() && !first)) break;
      position += static_cast<int64_t>(text->size());
      const std::string_view part = tail ? LastLines(*text, options_.tail) : std::string_view(*text);
      if (searched) {
        const std::string lines = Matching(at->second, part, last && position >= size);
        matched_ |= !lines.empty();
        if (kept) last_lines = LastLines(last_lines + lines, options_.tail);
        if (!kept) Show(logs.container, file, lines, false);
      } else {
        Show(logs.container, file, part, first);
      }
      first = tail = false;
    }
    Show(logs.container, file, last_lines, false);
  }

  void Show(const std::string& container, const std::string& file, std::string_view text, bool always) {
    if (text.empty() && !always) return;
    const std::string head = container + " " + file;
    if (head != head_) {
      if (!line_ended_) std::fputc('\n', stdout);
      std::printf("==> %s <==\n", base::VisibleText(head).c_str());
      head_ = head;
      line_ended_ = true;
    }
    // Programs get a log as it is; a terminal would obey it.
    const std::string shown = ::isatty(STDOUT_FILENO) ? base::VisibleText(text, base::Lines::kKept) : std::string(text);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    if (!shown.empty()) line_ended_ = shown.back() == '\n';
    std::fflush(stdout);
  }

  Cluster& cluster_;
  const LogsOptions& options_;
  model::ApplicationId id_;
  std::vector<std::string> files_;
  std::map<std::pair<std::string, std::string>, Place> places_;  // of each file
  std::map<std::string, std::map<std::string, int64_t>> seen_files_;
  std::string head_;
  bool line_ended_ = true;
  bool found_ = false;
  bool matched_ = false;
};

/// "" or why not all can be read; where nothing was gathered there is nothing to read.
std::string PrintGathered(const Command& command, Cluster& cluster, const model::ApplicationId& id,
                          const std::string& owner, Printer& printer) {
  const config::HadoopConf& conf = cluster.settings.conf;
  const std::string user = command.options.user.empty() ? shell::CurrentUser() : command.options.user;
  std::string why;
  for (const auto& files : shell::FindGatheredFiles(conf, id, owner, user)) {
    if (const std::string unread = printer.PrintGathered(*files); !unread.empty()) why = unread;
  }
  return why;
}

int Logs(const Command& command, Cluster& cluster, LogsOptions& options) {
  const auto id = model::ParseApplicationId(options.application);
  if (!id) return Complain(command.name, id.error().message, kUsage);
  if (!options.container.empty()) {
    const auto container = model::ParseContainerId(options.container);
    if (!container) return Complain(command.name, "--container: " + container.error().message, kUsage);
    if (container->attempt.app != *id) {
      return Complain(command.name, options.container + " is not of " + options.application, kUsage);
    }
  }
  Printer printer(cluster, options, *id);
  std::string owner;
  while (true) {
    // Asked before the logs are read: what was written before the end is printed.
    const auto report = Report(cluster, *id);
    if (!report) return command.Fail(report.error());
    owner = report->User();
    const bool last = !options.follow || report->YarnApplicationState() >= yarn::YarnApplicationStateProto::kFinished;
    if (const base::Status printed = printer.Print(last); !printed.ok()) return command.Fail(printed.error());
    if (last || !PauseUnlessInterrupted(cluster, kFollowDelayMs)) break;
  }
  if (printer.missing_code() == kNotFound) {
    if (const std::string why = PrintGathered(command, cluster, *id, owner, printer); !why.empty())
      return Complain(command.name, "what was gathered of " + options.application + " cannot be read: " + why, kFailed);
  }
  return printer.found() ? kOk : Complain(command.name, printer.Missing(), printer.missing_code());
}

}  // namespace

base::Result<std::vector<ContainerLog>> FetchLogs(Cluster& cluster, const model::ApplicationId& id,
                                                  const std::string& container, const std::vector<std::string>& files) {
  const auto containers = ContainersWithLogs(cluster, id, container);
  if (!containers) return containers.error();
  std::vector<ContainerLog> found;
  for (const ContainerLogs& logs : *containers) {
    for (const std::string& file : files) {
      auto text = cluster.client->GetUrl(logs.node_http + "/ws/v1/node/containerlogs/" + logs.container + "/" + file);
      if (text && text->status == 200) found.push_back({logs.container, file, LogContents(text->body)});
    }
  }
  return found;
}

namespace {

/// The last bytes of one container's log.
class GatheredEnd final : public shell::LogReader {
 public:
  GatheredEnd(const std::string& container, const std::string& file, int64_t bytes)
      : container_(container), file_(file), bytes_(static_cast<size_t>(bytes)) {}
  bool Wants(const shell::GatheredLog& log) override {
    const bool wanted = log.container == container_ && log.name == file_;
    found_ |= wanted;
    return wanted;
  }
  void Read(std::string_view bytes) override {
    end_ += bytes;
    if (end_.size() > bytes_) end_.erase(0, end_.size() - bytes_);
  }
  void Ended() override {}
  bool found() const { return found_; }
  const std::string& end() const { return end_; }

 private:
  const std::string& container_;
  const std::string& file_;
  const size_t bytes_;
  std::string end_;
  bool found_ = false;
};

}  // namespace

base::Result<std::string> FetchLogEnd(Cluster& cluster, const model::ApplicationId& id, const std::string& owner,
                                      const std::string& container, const std::string& file, int64_t bytes) {
  const auto containers = ContainersWithLogs(cluster, id, container);
  if (!containers) return containers.error();
  for (const ContainerLogs& logs : *containers) {
    const std::map<std::string, int64_t> sizes = FilesOf(cluster, logs);
    const auto size = sizes.find(file);
    if (size == sizes.end()) continue;
    return ReadFrom(cluster, logs, model::ToString(id), file, std::max<int64_t>(0, size->second - bytes));
  }
  GatheredEnd gathered(container, file, bytes);
  std::string why;
  for (const auto& files : shell::FindGatheredFiles(cluster.settings.conf, id, owner, owner)) {
    if (std::string unread = ReadGathered(*files, gathered); !unread.empty()) why = "; what was gathered: " + unread;
  }
  if (gathered.found()) return gathered.end();
  return base::Error{container + " has no " + file + why};
}

void AddLogs(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LogsOptions>();
  CLI::App* logs = AddClusterCommand<LogsOptions>(app, exit_code, "logs",
                                                  "Print an application's logs, also after its end", options, Logs);
  logs->remove_option(logs->get_option("--json"));  // a log is what its program wrote
  logs->add_option("id", options->application, "application id")->required();
  logs->add_option("--container", options->container, "only of this container");
  logs->add_option("--file", options->file, "only this file (default: stdout and stderr)");
  logs->add_option("--grep", options->grep, "only lines that hold this text");
  logs->add_option("--tail", options->tail, "of each file the last so many lines alone, of those that --grep finds")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000}));
  logs->add_flag("--follow,-f", options->follow, "go on until the application has ended");
  logs->footer(
      "Examples:\n  fairlead logs application_1700000000000_0001 --file stderr\n"
      "  fairlead logs application_1700000000000_0001 --grep Exception\n"
      "  fairlead logs application_1700000000000_0001 --tail 20 -f");
}

}  // namespace fairlead::apps
