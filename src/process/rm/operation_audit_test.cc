// What users, administrators and masters ask for has its line in the audit, by RPC and by REST, done or refused.

#include "process/rm/operation_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/allocation_file.h"
#include "env_sim/world.h"
#include "process/http/client.h"
#include "process/rm/resource_manager.h"
#include "process/rm/web.h"
#include "process/rpc/rpc_client.h"
#include "scheduler/fairlead/fairlead.h"
#include "wire/hadoop_rpc/ha_service.h"
#include "wire/yarn/admin.h"
#include "wire/yarn/client.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::rm {
namespace {

namespace w = wire::yarn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kQueues[] =
    "<allocations><queue name=\"root\"><aclAdministerApps> </aclAdministerApps><queue name=\"a\"/><queue "
    "name=\"closed\"/></queue></allocations>";

class OperationAudit : public testing::Test {
 protected:
  OperationAudit() : rpc_(machine_.loop(), machine_.net()) {
    ResourceManagerOptions options;
    options.ports = {{"rm", 8032}, {"rm", 8030}, {"rm", 8031}, {"rm", 8033}};
    options.groups_of = [](const std::string&) { return std::vector<std::string>{}; };
    options.rack_of = [](const std::string&) { return "/default-rack"; };
    options.core.acls = true;
    options.core.queues = config::ParseAllocationFile(kQueues)->tree;
    options.admin_acl = config::ParseAccessList("boss");
    options.read_queues = [this](auto&) { return read_; };
    options.make_scheduler = [queues = options.core.queues](int64_t epoch) {
      scheduler::FairleadConfig config;
      config.epoch = epoch;
      config.queues = queues;
      return scheduler::MakeFairlead(config);
    };
    options.security.audit = env::Audit([this](env::AuditResult result, std::string_view words, const auto& fields) {
      if (fields.empty()) return;
      std::string line(words);
      for (const auto& [key, value] : fields) line += (line.empty() ? "" : "|") + std::string(key) + "=" + value;
      EXPECT_EQ(result == env::AuditResult::kFailure, line.find("|RESULT=FAILURE|") != line.npos) << line;
      lines_.push_back(line);
    });
    options.on_action = [this](const std::string& words) { words_.push_back(words); };
    auto started = ResourceManager::Start(machine_.loop(), machine_.net(), &machine_.store(), std::move(options));
    EXPECT_TRUE(started.ok());
    manager_ = std::move(*started);
    http::KnownHosts hosts;
    hosts.any = true;
    auto web = Web::Start(machine_.loop(), {machine_.net()}, {"rm", 8088}, hosts, *manager_);
    EXPECT_TRUE(web.ok());
    web_ = std::move(*web);
  }

  template <class Response, class Request>
  base::Result<Response, rpc::RpcError> Call(const std::string& user, const char* method, const Request& request,
                                             std::string_view protocol = w::kApplicationClientProtocol) {
    std::optional<base::Result<Response, rpc::RpcError>> answer;
    const uint16_t port = protocol == w::kApplicationClientProtocol ? 8032 : 8033;
    rpc_.Call<Response>({{"rm", port}, std::string(protocol), {user, "", std::nullopt}}, method, request,
                        base::Duration::Seconds(20), [&](auto got) { answer = std::move(got); });
    world_.RunUntil(world_.now() + base::Duration::Seconds(30), [&] { return answer.has_value(); });
    return *answer;
  }
  int Rest(const std::string& user, const std::string& method, const std::string& path, const std::string& body) {
    std::optional<int> status;
    http::ClientRequest request;
    request.endpoint = {"rm", 8088};
    request.method = method;
    request.body = body;
    request.target = "/ws/v1/cluster/apps" + path + "?user.name=" + user;
    request.headers = {{"Content-Type", "application/json"}};
    http::Fetch(machine_.loop(), machine_.net(), request,
                [&](const base::Result<http::Response>& response) { status = response.ok() ? response->status : 0; });
    world_.RunUntil(world_.now() + base::Duration::Seconds(30), [&] { return status.has_value(); });
    return *status;
  }
  static w::SubmitApplicationRequestProto Submission(const w::ApplicationIdProto& id) {
    w::SubmitApplicationRequestProto request;
    auto& context = request.application_submission_context.emplace();
    context.application_id = id;
    context.queue = "root.a";
    context.resource.emplace().memory = 256;
    context.resource->virtual_cores = 1;
    context.am_container_spec.emplace().command.push_back("true");
    return request;
  }
  w::ApplicationIdProto Submit(const std::string& user) {
    const w::ApplicationIdProto id =
        Call<w::GetNewApplicationResponseProto>(user, "getNewApplication", w::GetNewApplicationRequestProto{})
            ->ApplicationId();
    EXPECT_TRUE(Call<w::SubmitApplicationResponseProto>(user, "submitApplication", Submission(id)).ok());
    return id;
  }
  bool Kill(const std::string& user, const w::ApplicationIdProto& id) {
    w::KillApplicationRequestProto request;
    request.application_id = id;
    return Call<w::KillApplicationResponseProto>(user, "forceKillApplication", request).ok();
  }
  std::vector<std::string> Lines() { return std::exchange(lines_, {}); }
  static std::string Name(const w::ApplicationIdProto& id) {
    return ToString(model::ApplicationId{id.ClusterTimestamp(), id.Id()});
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("rm");
  rpc::RpcClient rpc_;
  base::Result<model::QueueTree> read_ = base::Error{"it is no XML"};
  std::vector<std::string> lines_, words_;
  std::unique_ptr<ResourceManager> manager_;
  std::unique_ptr<Web> web_;
};

TEST_F(OperationAudit, OfClientsByRpc) {
  const w::ApplicationIdProto id = Submit("alice");
  const std::string app = "APPID=" + Name(id);
  const std::string by_alice = "USER=alice|IP=rm|OPERATION=";
  EXPECT_THAT(Lines(), ElementsAre(by_alice + "Submit Application Request|TARGET=ClientRMService|RESULT=SUCCESS|" +
                                   app + "|QUEUENAME=root.a"));
  EXPECT_TRUE(Call<w::SubmitApplicationResponseProto>("alice", "submitApplication", Submission(id)).ok());
  EXPECT_THAT(Lines(), IsEmpty()) << "a client that asks again";
  EXPECT_FALSE(Kill("mallory", id));
  EXPECT_THAT(Lines(),
              ElementsAre("USER=mallory|IP=rm|OPERATION=Kill Application Request|TARGET=ClientRMService|RESULT=FAILURE|"
                          "DESCRIPTION=Unauthorized user|PERMISSIONS=java.security.AccessControlException: User "
                          "mallory cannot perform operation MODIFY_APP on " +
                          Name(id) + "|" + app));
  w::MoveApplicationAcrossQueuesRequestProto move;
  move.application_id = id;
  move.target_queue = "root.nowhere";
  EXPECT_FALSE(Call<w::MoveApplicationAcrossQueuesResponseProto>("alice", "moveApplicationAcrossQueues", move).ok());
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("Move Application Request|TARGET=ClientRMService|RESULT=FAILURE|")));
  w::UpdateApplicationPriorityRequestProto priority;
  priority.application_id = id;
  priority.application_priority.priority = 3;
  EXPECT_TRUE(Call<w::UpdateApplicationPriorityResponseProto>("alice", "updateApplicationPriority", priority).ok());
  EXPECT_THAT(Lines(),
              ElementsAre(by_alice + "Update Application Priority|TARGET=ClientRMService|RESULT=SUCCESS|" + app));
  EXPECT_TRUE(Kill("alice", id));
  EXPECT_TRUE(Kill("alice", id));
  EXPECT_THAT(Lines(),
              testing::UnorderedElementsAre(
                  by_alice + "Kill Application Request|TARGET=ClientRMService|RESULT=SUCCESS|" + app,
                  "USER=alice|OPERATION=Application Finished - Killed|TARGET=RMAppManager|RESULT=SUCCESS|" + app));
  w::ApplicationIdProto absent = id;
  absent.id = 77;
  EXPECT_FALSE(Kill("alice", absent));
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("RESULT=FAILURE|DESCRIPTION=Trying to kill an absent application")));
  EXPECT_THAT(words_, IsEmpty()) << "nothing is told twice";
}

TEST_F(OperationAudit, OfASubmissionThatIsRefusedWhyStandsInPermissions) {
  w::ApplicationIdProto id = Submit("alice");
  Lines();
  id.id = 2;
  w::SubmitApplicationRequestProto request = Submission(id);
  request.application_submission_context->queue = "root.x\ty\nRESULT=SUCCESS";
  request.application_submission_context->application_tags.push_back("\u00e4");  // Hadoop takes ASCII alone
  EXPECT_FALSE(Call<w::SubmitApplicationResponseProto>("mal\tlory", "submitApplication", request).ok());
  EXPECT_THAT(Lines(), ElementsAre(testing::AllOf(
                           HasSubstr("RESULT=FAILURE|DESCRIPTION=Exception in submitting application|PERMISSIONS="),
                           HasSubstr("|QUEUENAME=root.x\ty\nRESULT=SUCCESS"))))
      << "whoever writes the line makes it a visible one";
}

TEST_F(OperationAudit, OfAdministrators) {
  const auto refresh = [&](const std::string& user, const char* method) {
    return Call<w::RefreshQueuesResponseProto>(user, method, w::RefreshQueuesRequestProto{},
                                               w::kResourceManagerAdministrationProtocol)
        .ok();
  };
  EXPECT_TRUE(refresh("boss", "refreshAdminAcls"));
  EXPECT_FALSE(refresh("boss", "refreshQueues"));
  EXPECT_FALSE(refresh("alice", "refreshNodes"));
  EXPECT_THAT(
      Lines(),
      ElementsAre("USER=boss|IP=rm|OPERATION=refreshAdminAcls|TARGET=AdminService|RESULT=SUCCESS",
                  "USER=boss|IP=rm|OPERATION=refreshQueues|TARGET=AdminService|RESULT=FAILURE|DESCRIPTION=it is no "
                  "XML|PERMISSIONS=UNKNOWN",
                  "USER=alice|IP=rm|OPERATION=refreshNodes|TARGET=AdminService|RESULT=FAILURE|DESCRIPTION=Unauthorized "
                  "user|PERMISSIONS=org.apache.hadoop.security.AccessControlException: User alice doesn't have "
                  "permission to call 'refreshNodes'"));
}

/// As what CapacityScheduler.reinitialize throws arrives: by its kind, whatever its words.
TEST_F(OperationAudit, QueuesThatTheSchedulerRefusesAreAnIoException) {
  model::QueueTree queues = config::ParseAllocationFile(kQueues)->tree;
  queues.queues.back().weight = -1;
  read_ = queues;
  const auto refused = Call<w::RefreshQueuesResponseProto>("boss", "refreshQueues", w::RefreshQueuesRequestProto{},
                                                           w::kResourceManagerAdministrationProtocol);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().remote.class_name, "org.apache.hadoop.yarn.exceptions.YarnException");
  EXPECT_THAT(refused.error().remote.message,
              testing::StartsWith("java.io.IOException: queue root.closed: weight must be"));
}

TEST_F(OperationAudit, OfTransitionsOfAManagerThatRunsAlone) {
  namespace h = wire::hadoop_rpc;
  EXPECT_FALSE(Call<h::TransitionToStandbyResponseProto>("boss", "transitionToStandby",
                                                         h::TransitionToStandbyRequestProto{}, w::kHaServiceProtocol)
                   .ok());
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("USER=boss|IP=rm|OPERATION=transitionToStandby|TARGET=RM|RESULT=FAILURE|"
                                             "DESCRIPTION=This ResourceManager runs alone")));
}

TEST_F(OperationAudit, OfClientsByRest) {
  const std::string id = Name(Submit("alice"));
  Lines();
  EXPECT_EQ(Rest("mallory", "PUT", "/" + id + "/state", R"({"state":"KILLED"})"), 403);
  EXPECT_EQ(Rest("alice", "PUT", "/" + id + "/queue", R"({"queue":"root.closed"})"), 200);
  EXPECT_EQ(Rest("alice", "PUT", "/" + id + "/priority", R"({"priority":"none"})"), 400);
  EXPECT_EQ(Rest("alice", "POST", "", "{"), 400);
  EXPECT_EQ(Rest("alice", "PUT", "/" + id + "/state", R"({"state":"KILLED"})"), 202);
  const std::string target = "|TARGET=RMWebService|RESULT=";
  EXPECT_THAT(
      Lines(),
      testing::IsSupersetOf(std::vector<testing::Matcher<std::string>>{
          HasSubstr("USER=mallory|IP=rm|OPERATION=Kill Application Request" + target +
                    "FAILURE|DESCRIPTION=Unauthorized user|PERMISSIONS=java.lang.Exception: User mallory cannot"),
          "USER=alice|IP=rm|OPERATION=Move Application Request" + target + "SUCCESS|APPID=" + id,
          HasSubstr("Update Application Priority" + target + "FAILURE|DESCRIPTION=java.lang.Exception: No priority"),
          HasSubstr("Submit Application Request" + target + "FAILURE|DESCRIPTION=Exception in submitting"),
          "USER=alice|IP=rm|OPERATION=Kill Application Request" + target + "SUCCESS|APPID=" + id}));
  EXPECT_THAT(words_, IsEmpty());
}

}  // namespace
}  // namespace fairlead::process::rm
