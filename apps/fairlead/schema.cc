#include <CLI/CLI.hpp>
#include <cstdio>

#include "commands.h"
#include "documents.h"
#include "endpoints/v1/ask.h"
#include "endpoints/v1/credentials.h"
#include "endpoints/v1/openapi.h"
#include "engine/history/history.h"

// `fairlead schema`: what commands print with --json, made from the structs that they print.

namespace fairlead::apps {
namespace {

namespace v1 = endpoints::v1;
using v1::SchemaOf;

struct CommandSchema {
  const char* command;
  v1::Described prints;
};
constexpr CommandSchema kCommands[] = {
    {"app", SchemaOf<AppAndDetail>},
    {"apps", SchemaOf<std::vector<AppReport>>},
    {"config check", SchemaOf<Checked>},
    {"config keys", SchemaOf<std::vector<DaemonsKeys>>},
    {"config names", SchemaOf<std::vector<ShortName>>},
    {"config profiles", SchemaOf<std::vector<ProfileKeys>>},
    {"credentials list", SchemaOf<v1::Credentials>},
    {"credentials make", SchemaOf<CredentialFileMade>},
    {"credentials revoke", SchemaOf<v1::RevokedCredential>},
    {"events", SchemaOf<v1::Events>},
    {"ha transfer", SchemaOf<LeaderMoved>},
    {"history", engine::history::JsonSchema},
    {"kill", SchemaOf<std::vector<Killed>>},
    {"node decommission", SchemaOf<std::vector<NodeOrder>>},
    {"node drain", SchemaOf<std::vector<NodeOrder>>},
    {"node drain --at", SchemaOf<std::vector<v1::MaintenanceWindow>>},
    {"node undrain", SchemaOf<std::vector<NodeGivenBack>>},
    {"nodes", SchemaOf<std::vector<NodeReport>>},
    {"nodes --reasons", SchemaOf<std::vector<NodeReason>>},
    {"queue set", SchemaOf<QueueSet>},
    {"queue show", SchemaOf<v1::Queue>},
    {"queues", SchemaOf<v1::Queues>},
    {"sim faults", SchemaOf<FaultRuns>},
    {"state backup", SchemaOf<StateCopied>},
    {"state restore", SchemaOf<StateCopied>},
    {"status", SchemaOf<Status>},
    {"submit", SchemaOf<JobEnded>},
    {"submit --detach", SchemaOf<Submitted>},
    {"top --once", SchemaOf<Picture>},
    {"version", SchemaOf<VersionTold>},
    {"what-if", SchemaOf<v1::WhatIf>},
    {"when", SchemaOf<v1::When>},
    {"why", SchemaOf<AppWaits>},
};

std::string Schema() {
  base::JsonSchemas schemas("#/definitions/", true);
  std::string commands;
  for (const CommandSchema& one : kCommands) {
    commands += (commands.empty() ? "\"" : ",\"") + std::string(one.command) + "\":" + one.prints(schemas);
  }
  return R"({"$schema":"http://json-schema.org/draft-07/schema#","title":"What Fairlead's commands print with --json",)"
         R"("commands":{)" +
         commands + R"(},"definitions":)" + schemas.Definitions() + "}";
}

}  // namespace

void AddSchema(CLI::App& app) {
  CLI::App* schema = app.add_subcommand("schema", "Print what commands print with --json, as a JSON schema");
  schema->footer("Examples:\n  fairlead schema\n  fairlead schema | jq '.commands.nodes, .definitions.NodeReport'");
  schema->callback([] { std::puts(Schema().c_str()); });
}

}  // namespace fairlead::apps
