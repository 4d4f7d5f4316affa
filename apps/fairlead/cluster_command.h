#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/described_json.h"
#include "cluster_options.h"
#include "commands.h"
#include "model/ids.h"
#include "wire/yarn/client.h"

namespace fairlead::apps {

/// A command that asks a cluster: what it was told and how it ends.
struct Command {
  std::string name;
  ClusterOptions options;
  int* exit_code = nullptr;

  int Fail(const base::Error& error) const { return Complain(name, error.message, CodeOf(error)); }
};

/// Runs `body` with an open cluster and keeps its exit code.
void RunWithCluster(const Command& command, const std::function<int(Cluster&)>& body);

/// Adds a subcommand whose callback opens the cluster and runs `body`.
template <class Options>
CLI::App* AddClusterCommand(CLI::App& app, int& exit_code, const std::string& name, const std::string& help,
                            std::shared_ptr<Options> options, int (*body)(const Command&, Cluster&, Options&)) {
  CLI::App* sub = app.add_subcommand(name, help);
  auto command = std::make_shared<Command>();
  command->name = app.get_parent() == nullptr ? name : app.get_name() + " " + name;
  command->exit_code = &exit_code;
  AddClusterOptions(*sub, command->options);
  sub->callback([command, options, body] {
    RunWithCluster(*command, [&](Cluster& cluster) { return body(*command, cluster, *options); });
  });
  return sub;
}

wire::yarn::ApplicationIdProto ToProto(const model::ApplicationId& id);
base::Result<wire::yarn::ApplicationReportProto> Report(Cluster& cluster, const model::ApplicationId& id);
/// An answer of /fairlead/v1/TARGET as JSON. Error: nothing answers, it is refused, or it is another resource manager.
base::Result<nlohmann::ordered_json> AskFairlead(Cluster& cluster, const std::string& target,
                                                 const std::string& method = "GET", const std::string& body = "");
/// The same; null of another resource manager.
base::Result<nlohmann::ordered_json> AskIfFairleads(Cluster& cluster, const std::string& target);
/// Of /fairlead/v1/queues: a share that is a number beyond all clusters is null.
void TakeNoBoundsOut(nlohmann::ordered_json& answer);
/// The queue of that full name, or below root. Error: there is none, with those that there are, or AskFairlead's.
base::Result<nlohmann::ordered_json> FindQueue(Cluster& cluster, const std::string& name);
/// Gives a queue its full name; another resource manager's stays as it is. Error: FindQueue's.
base::Status NameInFull(Cluster& cluster, std::string& queue);
/// The ids of the nodes that NODE means: HOST:PORT, or HOST for what runs there. A host that was taken out before the
/// manager's start has no node yet, and is meant by its name. Error: there is none, with those that there are.
base::Result<std::vector<std::string>> FindNodes(Cluster& cluster, const std::string& name);
/// Prints JSON with strangers' control characters seen.
void PrintJson(const nlohmann::ordered_json& json);
void PrintJson(const std::string& text);
/// A described struct, or a list of them.
template <class T>
void PrintDocument(const T& document) {
  std::string text;
  base::WriteJson(text, document);
  PrintJson(text);
}
/// The page of the resource manager that shows the same: "http://rm:8088/cluster/nodes".
std::string PageUrl(const Cluster& cluster, const std::string& path,
                    const std::vector<std::pair<std::string, std::string>>& filters = {});
/// Says it, on standard error, to whoever sits at a terminal.
void SayPage(const Command& command, const std::string& url);

}  // namespace fairlead::apps
