#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/rest/configuration.h"
#include "endpoints/rest/document.h"
#include "env/alive.h"
#include "process/http/server.h"
#include "process/http/static_file.h"
#include "process/login/web_login.h"
#include "process/nm/node_manager.h"

namespace fairlead::process::nm {

/// A file of web/, or null.
const http::StaticFile* FindWebFile(std::string_view name);
/// What stands around the pages that are written here.
const http::StaticFile* FindFrame(std::string_view name);

/// The node agent's web port: /ws/v1/node as Hadoop's NMWebServices answers it (JSON and XML), pages with containers'
/// logs, /metrics for Prometheus, /healthz.
class Web {
 public:
  struct Options {
    env::Endpoint endpoint;
    http::KnownHosts hosts;
    /// Whether `caller` may see an application of `owner` with this list of viewers; empty: everybody may.
    std::function<bool(const std::string& caller, const std::string& owner, const std::string& view_acl)> may_view;
    std::string cluster_page;  // the resource manager's pages; empty: not known
    std::vector<AuxService*> services;
    bool check_virtual = true;
    bool check_physical = true;
    double virtual_ratio = 2.1;
    std::shared_ptr<const endpoints::rest::Configuration> configuration;  // for /conf
    login::WebSecurity security = {};
  };
  static base::Result<std::unique_ptr<Web>> Start(env::Loop& loop, env::Net& net, ContainerLogs& logs,
                                                  NodeManager& manager, Options options);
  env::Endpoint local() const { return server_->local(); }

 private:
  using Document = endpoints::rest::Document;
  using Segments = std::vector<std::string>;
  /// What was read for one request; `named` is of the log that it names, `shown` what a page has of it.
  struct Logs {
    std::map<model::ContainerId, std::vector<LogFile>> files;
    LogAnswer named;
    std::string shown;
  };
  Web(env::Loop& loop, ContainerLogs& logs, NodeManager& manager, Options options)
      : loop_(loop), logs_(logs), manager_(manager), options_(std::move(options)), login_(loop, LoginOptions()) {}
  login::WebLoginOptions LoginOptions() const;

  /// Reads the logs that the request is about, then answers.
  void Serve(const http::Request& request, const http::Server::Reply& reply);
  std::vector<LogQuery> LogsFor(const http::Request& request, const Segments& path) const;
  http::Response Answer(const http::Request& request, const Segments& path, const Logs& logs) const;

  http::Response Rest(const http::Request& request, const Segments& path, const Logs& logs) const;
  http::Response Apps(const http::Request& request, const Segments& path) const;
  http::Response ContainersOrLogs(const http::Request& request, const Segments& path, const Logs& logs) const;
  /// /fairlead/v1/logs/APPLICATION: its containers that still have logs here, ended ones too, with their files' names.
  /// .../CONTAINER/FILE?start=&end=: a log's bytes from start to before end; negative numbers count from its end.
  http::Response AppLogs(const http::Request& request, const Segments& path, const Logs& logs) const;
  http::Response LogList(const http::Request& request, const model::ContainerId& id, const Logs& logs) const;
  http::Response LogText(const http::Request& request, const model::ContainerId& id, const std::string& name,
                         const Logs& logs) const;
  http::Response Page(const http::Request& request, const Segments& path, const Logs& logs) const;
  http::Response FrontPage(const http::Request& request) const;
  http::Response LogPage(const http::Request& request, const Segments& path, const Logs& logs) const;
  http::Response Metrics() const;
  http::Response Jmx(const http::Request& request) const;
  /// /services/NAME/: the page of an auxiliary service that has one; with access lists for administrators alone, as it
  /// names every application.
  void TellService(const http::Request& request, const Segments& path, const http::Server::Reply& reply);
  /// Metrics with those of the auxiliary services behind them.
  void TellMetrics(const http::Server::Reply& reply);
  Document NodeInfo() const;
  Document ContainerInfo(const fairlead::nm::ContainerView& container, const Logs& logs) const;

  /// The answer for a caller who may not see the application (ContainerLogsUtils, NMWebServices); nullopt: he may. One
  /// that is not known here any more is for administrators.
  std::optional<http::Response> Forbidden(const http::Request& request, const model::ApplicationId& id) const;
  bool MayView(const http::Request& request, const fairlead::nm::View& view, const model::ApplicationId& id) const;

  static http::Response Error(const http::Request& request, int status, const std::string& exception,
                              const std::string& message);
  /// `app`: the application that the page is of, if it is of one.
  http::Response Html(const std::string& title, const std::string& body, const std::string& app = "") const;

  env::Loop& loop_;
  ContainerLogs& logs_;
  NodeManager& manager_;
  const Options options_;
  login::WebLogin login_;
  std::unique_ptr<http::Server> server_;
  env::Alive alive_;
};

}  // namespace fairlead::process::nm
