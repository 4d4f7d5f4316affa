#include "endpoints/v1/apps.h"
#include "endpoints/v1/ask.h"
#include "endpoints/v1/cluster.h"
#include "endpoints/v1/credentials.h"
#include "endpoints/v1/events.h"
#include "endpoints/v1/nodes.h"
#include "endpoints/v1/openapi.h"
#include "endpoints/v1/queues.h"
#include "endpoints/v1/requests.h"
#include "process/http/routes.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// The table of /fairlead/v1: what there is, as openapi.json tells it, and who answers.

namespace fairlead::process::rm {

namespace v1 = endpoints::v1;
using v1::SchemaOf;

struct Web::OwnRoute : v1::Operation {
  void (*answers)(Web& web, const OwnCall& call);
};

/// By subject.
struct Web::OwnTable {
  using Call = const OwnCall&;
  using Rows = std::vector<OwnRoute>;
  static inline const v1::Parameter kOffset{"offset", "entries to pass over", true};
  static inline const v1::Parameter kLimit{"limit", "entries at most", true};

  static Rows OfTheWhole() {
    return {
        {{"GET", "cluster", "The whole: capacity, use, counts of applications and nodes by state",
          SchemaOf<v1::Cluster>},
         [](Web& web, Call call) { call.Answer(web.OwnCluster()); }},
        {{"GET", "ha",
          "Of one of several managers, the standby as well: who leads, and the length of its session with ZooKeeper",
          SchemaOf<v1::Ha>},
         [](Web&, Call call) { call.Answer(v1::Ha{}); }},  // of one of several: WebPort answers
        {{"GET", "openapi.json", "This document", v1::AnyObject},
         [](Web&, Call call) { call.reply(http::JsonResponse(200, OwnTable::OpenApi())); }},
    };
  }

  static Rows OfApps() {
    const v1::Parameter app{"id", "application_TIMESTAMP_NUMBER"};
    return {
        {{"GET",
          "apps",
          "Applications; one that waits says why",
          SchemaOf<v1::Applications>,
          {{"group", "running, waiting or ended"},
           {"queue", "of this queue and those below it"},
           {"user", "of this user"},
           {"text", "in id, name, user or queue"},
           {"sort", "a column; - before it: descending"},
           kOffset,
           kLimit}},
         [](Web& web, Call call) { web.OwnApps(call.request, call.reply); }},
        {{.method = "GET",
          .path = "apps/{id}",
          .summary = "An application with its attempts, containers and what it waits for",
          .answer = SchemaOf<v1::ApplicationDetail>,
          .parameters = {app},
          .refusals = {404}},
         [](Web& web, Call call) {
           if (const App* named = web.OwnNamedApp(call)) call.Answer(web.OwnApp(*named, call.caller()));
         }},
        {{.method = "GET",
          .path = "apps/{id}/when",
          .summary = "When what the application waits for will start",
          .answer = SchemaOf<v1::When>,
          .parameters = {app},
          .refusals = {403, 404, 503}},
         [](Web& web, Call call) {
           if (const App* named = web.OwnNamedApp(call)) web.AppWhen(call.request, *named, call.reply);
         }},
        {{.method = "POST",
          .path = "what-if",
          .summary = "What would change if: the changed future beside the unchanged one; nothing changes",
          .answer = SchemaOf<v1::WhatIf>,
          .body = SchemaOf<v1::WhatIfAsked>,
          .refusals = {400, 503}},
         [](Web& web, Call call) { web.WhatIf(call.request, call.reply); }},
    };
  }

  static Rows OfQueues() {
    return {
        {{"GET", "queues", "Each queue's shares as they are now", SchemaOf<v1::Queues>},
         [](Web& web, Call call) { web.OwnQueues(call.reply); }},
        {{.method = "POST",
          .path = "queues/refresh",
          .summary = "Reads the queues' file again: administrators",
          .answer = SchemaOf<v1::QueuesRefreshed>,
          .refusals = {400, 403}},
         [](Web& web, Call call) { web.RefreshQueues(call.request, call.reply); }},
        {{.method = "PUT",
          .path = "queues/{name}/settings",
          .summary =
              "What would differ in the queues' file; with its version in the body it is written: administrators",
          .answer = SchemaOf<v1::QueueFileChange>,
          .parameters = {{"name", "root.a.b"}},
          .body = SchemaOf<v1::QueueSettings>,
          .refusals = {400, 403, 404, 409, 500}},
         [](Web& web, Call call) { web.SetQueue(call.request, call.words[0], call.reply); }},
    };
  }

  static Rows OfNodes() {
    const v1::Parameter node{"id", "HOST:PORT"};
    return {
        {{"GET",
          "nodes",
          "Nodes by rack and name, and what operators ordered of hosts",
          SchemaOf<v1::Nodes>,
          {{"text", "in address, rack or state"}, kOffset, kLimit}},
         [](Web& web, Call call) { web.OwnNodes(call.request, call.reply); }},
        {{.method = "GET",
          .path = "nodes/{id}",
          .summary = "A node with what it measured last and its containers",
          .answer = SchemaOf<v1::NodeDetail>,
          .parameters = {node},
          .refusals = {404}},
         [](Web& web, Call call) {
           if (const Node* named = web.FindNamed(call.words[0])) return call.Answer(web.OwnNode(*named, call.caller()));
           OwnError(call.reply, 404, "there is no node " + call.words[0]);
         }},
        {{.method = "PUT",
          .path = "nodes/{id}/state",
          .summary = "Drains a node, takes it out or back: administrators",
          .answer = SchemaOf<v1::NodeState>,
          .parameters = {node},
          .body = SchemaOf<v1::NodeStateWanted>,
          .refusals = {400, 403, 404, 409, 500}},
         [](Web& web, Call call) { web.SetNodeState(call.request, call.words[0], call.reply); }},
        {{.method = "PUT",
          .path = "nodes/{id}/maintenance",
          .summary = "Announces maintenance of a node's host, or cancels it: administrators",
          .answer = SchemaOf<v1::Maintenance>,
          .parameters = {node},
          .body = SchemaOf<v1::MaintenanceWanted>,
          .refusals = {400, 403, 404}},
         [](Web& web, Call call) { web.SetMaintenance(call.request, call.words[0], call.reply); }},
    };
  }

  static Rows OfThePast() {
    return {
        {{.method = "GET",
          .path = "events",
          .summary = "What happened lately, the newest first",
          .answer = SchemaOf<v1::Events>,
          .parameters = {{"app", "of this application"},
                         {"queue", "of this queue"},
                         {"node", "on this node"},
                         {"kind", "granted, ended, ..."},
                         {"after", "numbers above this one", true},
                         {"limit", "at most 1,000", true}},
          .refusals = {400}},
         [](Web& web, Call call) { web.OwnEvents(call.request, call.reply); }},
        {{"GET",
          "history",
          "How it went: samples over time",
          SchemaOf<v1::History>,
          {{"queue", "of this queue; root: the cluster"}, {"span_s", "seconds back", true}}},
         [](Web& web, Call call) { web.OwnHistory(call.request, call.reply); }},
        {{.method = "GET",
          .path = "past",
          .summary = "From when to when something is kept of the past",
          .answer = SchemaOf<v1::Past>,
          .refusals = {403, 404, 500, 503}},
         [](Web& web, Call call) { web.Past(call.request, call.words, call.reply); }},
        {{.method = "GET",
          .path = "past/{document}",
          .summary = "What cluster, apps, nodes or queues would have said at a moment that is kept, with their own "
                     "queries; with access lists for administrators alone",
          .answer = v1::SchemaOfAny<v1::ClusterThen, v1::Applications, v1::Nodes, v1::Queues>,
          .parameters = {{"document", "cluster, apps, nodes or queues"}, {"at", "milliseconds since 1970", true, true}},
          .refusals = {400, 403, 404, 500, 503}},
         [](Web& web, Call call) { web.Past(call.request, call.words, call.reply); }},
    };
  }

  static Rows OfCredentials() {
    const v1::Parameter name{"name", "the credential's"};
    return {
        {{.method = "GET",
          .path = "credentials",
          .summary = "Credentials of other machines (fairlead.auth=credentials), without their secrets",
          .answer = SchemaOf<v1::Credentials>,
          .refusals = {403, 404}},
         [](Web& web, Call call) { web.Credentials(call.request, call.words, call.reply); }},
        {{.method = "PUT",
          .path = "credentials/{name}",
          .summary = "Makes a credential, or renews it",
          .answer = SchemaOf<v1::MadeCredential>,
          .parameters = {name},
          .body = SchemaOf<v1::CredentialWanted>,
          .refusals = {400, 403, 404}},
         [](Web& web, Call call) { web.Credentials(call.request, call.words, call.reply); }},
        {{.method = "DELETE",
          .path = "credentials/{name}",
          .summary = "Ends a credential, at once",
          .answer = SchemaOf<v1::RevokedCredential>,
          .parameters = {name},
          .refusals = {403, 404}},
         [](Web& web, Call call) { web.Credentials(call.request, call.words, call.reply); }},
        {{.method = "GET",
          .path = "pass",
          .summary =
              "A pass for a node's pages (fairlead.auth=credentials). With `to` a browser is sent to that path of "
              "the node",
          .answer = SchemaOf<v1::NodePass>,
          .parameters = {{"node", "HOST:PORT of the node's pages", false, true}, {"to", "/PATH"}},
          .refusals = {400, 404}},
         [](Web& web, Call call) { web.NodePass(call.request, call.reply); }},
    };
  }

  /// What node agents serve.
  static std::vector<v1::Operation> OfAgents() {
    const v1::Parameter app{"app", "application_TIMESTAMP_NUMBER"};
    const std::string_view agent = "a node agent", at = "http://localhost:8042";
    return {{.method = "GET",
             .path = "logs/{app}",
             .summary = "Of a node agent: the containers of an application that have logs here, with the files' names",
             .answer = SchemaOf<v1::Logs>,
             .parameters = {app},
             .refusals = {400, 403},
             .of = agent,
             .at = at},
            {.method = "GET",
             .path = "logs/{app}/{container}/{file}",
             .summary = "Of a node agent: the bytes of a log",
             .parameters = {app,
                            {"container", "container_..."},
                            {"file", "the file's name"},
                            {"start", "the first byte", true},
                            {"end", "the byte behind the last", true}},
             .refusals = {400, 403, 404, 500},
             .of = agent,
             .at = at}};
  }

  static const Rows& All() {
    static const Rows kAll = [] {
      Rows all;
      for (const auto& part : {OfTheWhole(), OfApps(), OfQueues(), OfNodes(), OfThePast(), OfCredentials()}) {
        all.insert(all.end(), part.begin(), part.end());
      }
      return all;
    }();
    return kAll;
  }
  static std::string OpenApi() {
    std::vector<v1::Operation> all(All().begin(), All().end());
    const std::vector<v1::Operation> agents = OfAgents();
    all.insert(all.end(), agents.begin(), agents.end());
    return v1::OpenApi(all);
  }
};

void Web::Own(const http::Request& request, const Segments& path, const Reply& reply) {
  const auto route = http::FindRoute(std::span(OwnTable::All()), request.method, path);
  if (route.row != nullptr) return route.row->answers(*this, {request, route.words, reply});
  if (!route.methods.empty()) return OwnError(reply, 405, "this takes " + route.methods + " alone");
  std::string known;  // the first words
  for (const OwnRoute& row : OwnTable::All()) {
    const std::string_view word = row.path.substr(0, row.path.find('/'));
    if (!known.ends_with(word)) known += (known.empty() ? "" : ", ") + std::string(word);
  }
  OwnError(reply, 404, "unknown; there are " + known);
}

}  // namespace fairlead::process::rm
