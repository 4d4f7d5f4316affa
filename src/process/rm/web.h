#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "endpoints/rest/document.h"
#include "endpoints/v1/apps.h"
#include "endpoints/v1/cluster.h"
#include "endpoints/v1/nodes.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/http/metrics.h"
#include "process/http/page_proxy.h"
#include "process/http/server.h"
#include "process/http/static_file.h"
#include "process/login/web_login.h"
#include "process/rm/access.h"
#include "process/rm/large_answers.h"
#include "process/rm/reports.h"
#include "process/rm/resource_manager.h"
#include "process/rm/waiting.h"

namespace fairlead::process::rm {

class Questions;

/// A file of web/rm, or null.
const http::StaticFile* FindWebFile(std::string_view name);

/// The resource manager's web port: YARN's REST (/ws/v1/cluster), Fairlead's own (/fairlead/v1), /metrics, /healthz,
/// the proxy to masters' pages (/proxy/APPLICATION/...) and pages for people (/cluster). With a port of its own the
/// proxy is another site for a browser: masters' pages cannot act with the manager's origin.
class Web {
 public:
  /// `nets`: it listens on the first, and fetches masters' pages by both.
  static base::Result<std::unique_ptr<Web>> Start(env::Loop& loop, const http::PageNets& nets,
                                                  const env::Endpoint& endpoint, http::KnownHosts hosts,
                                                  ResourceManager& manager);
  /// Serves /proxy on this port; the web port leads there from now on.
  base::Status StartProxy(const env::Endpoint& endpoint, http::KnownHosts hosts);
  env::Endpoint local() const { return server_->local(); }

  /// The same behind a port of somebody else's (web_port.h), who calls Serve.
  Web(env::Loop& loop, const http::PageNets& nets, ResourceManager& manager, const http::Server& port)
      : Web(loop, nets, manager) {
    port_ = &port;
  }
  void Serve(http::Request request, http::Server::Reply reply);

 private:
  Web(env::Loop& loop, const http::PageNets& nets, ResourceManager& manager);
  void Route(const http::Request& request, const http::Server::Reply& reply);
  using Reply = http::Server::Reply;
  using Document = endpoints::rest::Document;
  using Segments = std::vector<std::string>;

  using Part = void (Web::*)(const http::Request& request, const Segments& path, const Reply& reply);
  /// Lets `part` answer once the caller is known.
  void Learned(Part part, const http::Request& request, const Segments& path, const Reply& reply);

  // web_cluster.cc: /ws/v1/cluster
  void Cluster(const http::Request& request, const Segments& path, const Reply& reply);
  void ClusterApp(const http::Request& request, const Segments& path, const Reply& reply);
  void Attempts(const http::Request& request, const App& app, const Segments& path, const Reply& reply);
  void Apps(const http::Request& request, const Reply& reply);
  void Nodes(const http::Request& request, const Segments& path, const Reply& reply);
  Document ClusterInfo() const;
  void ClusterMetrics(const http::Request& request, const Reply& reply);
  static Document NodeDocument(const NodeRow& node);
  Document AttemptDocument(const App& app, const Attempt& attempt) const;
  Document ContainerDocument(const App& app, const Container& container) const;
  // web_labels.cc
  void ClusterLabels(const http::Request& request, const Segments& path, const Reply& reply);
  // web_access.cc: `path` begins with the queue
  void QueueAccess(const http::Request& request, const Segments& path, const Reply& reply);
  // web_scheduler.cc
  void ClusterScheduler(const http::Request& request, const Reply& reply);
  // web_scheduler_conf.cc
  void ClusterConf(const http::Request& request, const Segments& path, const Reply& reply);
  bool MayChangeConf(const std::string& user, const config::CapacityChange& change) const;
  void ChangeConf(const http::Request& request, bool only_try, const Reply& reply);
  void FormatConf(const http::Request& request, const Reply& reply);
  // web_change.cc: what changes something
  void NewApplication(const http::Request& request, const Reply& reply);
  void Submit(const http::Request& request, const Reply& reply);
  void SetState(const http::Request& request, const App& app, const Reply& reply);
  void Move(const http::Request& request, const App& app, const Reply& reply);
  void SetPriority(const http::Request& request, const App& app, const Reply& reply);
  void SetTimeout(const http::Request& request, const App& app, const Reply& reply);
  struct Change;
  Change ChangeOf(const char* name, const http::Request& request, const model::ApplicationId& app,
                  const Reply& reply) const;
  /// False after answering: the application is not the caller's to change.
  bool MayChange(const Change& change, const App& app) const;
  void Own(const http::Request& request, const Segments& path, const Reply& reply);
  /// One request of /fairlead/v1.
  struct OwnCall {
    const http::Request& request;
    const Segments& words;  // of its path, for the names in the route's
    const Reply& reply;

    std::string caller() const { return http::CallerOf(request); }
    template <class T>
    void Answer(const T& document) const {
      reply(http::JsonResponse(200, endpoints::v1::Text(document)));
    }
  };
  // web_own_routes.cc
  struct OwnRoute;
  struct OwnTable;  // all of /fairlead/v1 that this port serves
  // web_own.cc
  /// The application that the path names; null after answering.
  const App* OwnNamedApp(const OwnCall& call) const;
  endpoints::v1::Cluster OwnCluster();
  void OwnApps(const http::Request& request, const Reply& reply);
  struct AppsAnswer;
  /// Why the applications of a page wait; then answers.
  void FindReasons(const std::shared_ptr<AppsAnswer>& answer, const Reply& reply);
  endpoints::v1::ApplicationDetail OwnApp(const App& app, const std::string& user) const;
  endpoints::v1::GatheredLogs LogsOf(const App& app) const;
  void OwnQueues(const Reply& reply);
  void OwnNodes(const http::Request& request, const Reply& reply);
  endpoints::v1::NodeDetail OwnNode(const Node& node, const std::string& user) const;
  /// The node of HOST:PORT, or null.
  const Node* FindNamed(const std::string& address) const;
  /// No agent answers any more: what it kept cannot be shown. Null: it is forgotten.
  static bool IsGone(const Node* node) { return !node || !fairlead::rm::IsActive(node->state); }
  // web_lately.cc
  /// May they hear of the application? One that is forgotten is the administrators' alone.
  bool MayHearOf(const Viewer& viewer, const model::ApplicationId& id) const;
  void OwnEvents(const http::Request& request, const Reply& reply) const;
  void OwnHistory(const http::Request& request, const Reply& reply) const;
  // web_act.cc
  /// Who is no administrator is told so.
  bool RefuseStranger(const std::string& user, const Reply& reply) const;
  // web_credentials.cc
  void Credentials(const http::Request& request, const Segments& path, const Reply& reply);
  void NodePass(const http::Request& request, const Reply& reply);
  void SetNodeState(const http::Request& request, const std::string& address, const Reply& reply);
  void SetMaintenance(const http::Request& request, const std::string& address, const Reply& reply);
  void RefreshQueues(const http::Request& request, const Reply& reply);
  void TakeQueues(const Reply& reply, const std::string& answer);
  void SetQueue(const http::Request& request, const std::string& queue, const Reply& reply);
  /// Once a second, for as long as this lives.
  void SurveyWaiting();
  // web_delegation.cc: `path` begins with "delegation-token"
  void DelegationToken(const http::Request& request, const Segments& path, const Reply& reply);
  /// ?op=GETDELEGATIONTOKEN and its like; false: it is none of them.
  bool DelegationOperation(const http::Request& request, const Reply& reply);
  // web_ask.cc
  void WhatIf(const http::Request& request, const Reply& reply);
  void Past(const http::Request& request, const Segments& path, const Reply& reply);
  void AppWhen(const http::Request& request, const App& app, const Reply& reply);
  // web_metrics.cc
  void Metrics(const Reply& reply);
  // web_jmx.cc
  void Jmx(const http::Request& request, const Reply& reply);
  // web_proxy.cc
  void Proxy(const http::Request& request, const Segments& path, const Reply& reply);

  /// Answers with what `make` makes off the thread that decides; it holds all that it reads. `what`: for the log.
  void Aside(std::string_view what, const Reply& reply, std::function<http::Response()> make);
  void RenderAside(const http::Request& request, std::string_view root, const Reply& reply,
                   std::function<Document()> make);
  /// The same for long answers, in turn; `begin` reads what the answer is made of.
  void RenderInTurn(const http::Request& request, std::string_view root, const Reply& reply,
                    std::function<std::function<Document()>()> begin);
  static http::Response Error(const http::Request& request, int status, const std::string& exception,
                              const std::string& message);

  env::Loop& loop_;
  const http::PageNets nets_;
  ResourceManager& manager_;
  login::WebLogin login_;
  Waiting waiting_;
  std::shared_ptr<Questions> questions_;
  http::Histogram served_;  // what requests took of this thread
  std::unique_ptr<http::Server> server_;
  env::Alive alive_;
  const http::Server* port_ = nullptr;  // whose requests come: `server_` or another's
  LargeAnswers large_{loop_, [this] { return port_->held_bytes(); }};
  std::unique_ptr<http::Server> proxy_;  // null: the web port is the proxy's, too
};

}  // namespace fairlead::process::rm
