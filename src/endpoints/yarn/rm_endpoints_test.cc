#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/rm_decode.h"
#include "endpoints/yarn/rm_encode.h"
#include "endpoints/yarn/text_bounds.h"

namespace fairlead::endpoints::yarn {
namespace {

namespace m = model::rm;
namespace w = wire::yarn;

const Submitter kAnn{"ann", {"staff"}, "127.0.0.1"};

class FixedTokens : public TokenSource {
 public:
  TokenProto ContainerToken(const m::ContainerInfo& container, model::AppIndex) override {
    return {"container " + ToString(container.id), "p", "ContainerToken", ""};
  }
  TokenProto NmToken(const model::ApplicationAttemptId&, model::NodeIndex, model::AppIndex) override {
    return {"nm", "p", "NMToken", ""};
  }
  w::NodeReportProto NodeReport(model::NodeIndex) override { return {}; }
  m::NodeAddress AddressOf(model::NodeIndex) override { return {"node", 1}; }
};

TEST(RmDecodeTest, AbsurdAmountsOfANodeSaturate) {
  w::RegisterNodeManagerRequestProto request;
  request.node_id = ToWire(m::NodeAddress{"n", 1});
  request.resource.emplace();
  request.resource->memory = int64_t{1} << 62;
  request.resource->virtual_cores = -5;
  w::NMContainerStatusProto& container = request.container_statuses.emplace_back();
  container.container_id = ToWire(model::ContainerId{{{1, 1}, 1}, 1});
  container.resource.emplace();
  container.resource->memory = INT64_MAX;
  const auto event = ToEvent(request);
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->capacity, model::Resources::Of(kLargestAmount, 0));
  EXPECT_EQ(event->containers.at(0).resources, model::Resources::Of(kLargestAmount, 0));
  model::Resources all;
  for (int i = 0; i < 100'000; ++i) all += event->capacity;
  EXPECT_EQ(all.memory_mib(), 100'000 * kLargestAmount) << "no sum of a large cluster wraps";
}

TEST(RmDecodeTest, SubmissionTakesHadoopsDefaults) {
  w::ApplicationSubmissionContextProto context;
  EXPECT_FALSE(ToSubmission(context, kAnn).ok());
  context.application_id = ToWire(model::ApplicationId{5, 6});
  context.resource = ToWire(model::Resources::Of(700, 2));
  context.application_type = "A type of more than twenty letters";
  const auto submission = ToSubmission(context, kAnn);
  ASSERT_TRUE(submission.ok());
  EXPECT_EQ(submission->queue, "default");
  EXPECT_EQ(submission->name, "N/A");
  EXPECT_EQ(submission->type, "A type of more than ");
  EXPECT_EQ(submission->user, "ann");
  EXPECT_EQ(submission->failures_validity_ms, -1);
  EXPECT_EQ(submission->lifetime_s, -1);
  ASSERT_EQ(submission->master_asks.size(), 1u);
  EXPECT_EQ(submission->master_asks[0].name, "*");
  EXPECT_EQ(submission->master_asks[0].capability, model::Resources::Of(700, 2));
  context.application_tags = {std::string(101, 'x')};
  EXPECT_FALSE(ToSubmission(context, kAnn).ok());
  context.application_tags.assign(11, "x");
  EXPECT_FALSE(ToSubmission(context, kAnn).ok());
}

TEST(RmDecodeTest, MapReducesMasterAskWinsOverTheResource) {
  w::ApplicationSubmissionContextProto context;
  context.application_id = ToWire(model::ApplicationId{5, 6});
  context.resource = ToWire(model::Resources::Of(700, 2));
  w::ResourceRequestProto request;
  request.resource_name = "*";
  request.capability = ToWire(model::Resources::Of(900, 1));
  context.am_container_resource_request = {request};
  const auto submission = ToSubmission(context, kAnn);
  ASSERT_TRUE(submission.ok());
  EXPECT_EQ(submission->master_asks[0].capability.memory_mib(), 900);
}

TEST(RmDecodeTest, AskTakesHadoopsDefaults) {
  w::ResourceRequestProto request;
  request.resource_name = "host";
  const model::Ask ask = FromWire(request);
  EXPECT_TRUE(ask.relax_locality);
  EXPECT_EQ(ask.allocation_request_id, -1);
}

TEST(RmDecodeTest, TrackingUrlsCarryNothingThatAHeadOrATerminalObeys) {
  const std::string hostile("http://h:1/a\r\nSet-Cookie: x\x1b[2J\x7f\xff\0b", 35);
  const std::string plain = "http://h:1/a%0D%0ASet-Cookie:%20x%1B[2J%7F%FF%00b";
  w::RegisterApplicationMasterRequestProto register_request;
  register_request.tracking_url = hostile;
  EXPECT_EQ(ToEvent(register_request, {})->tracking_url, plain);
  w::AllocateRequestProto allocate;
  allocate.tracking_url = hostile;
  EXPECT_EQ(ToEvent(allocate, {})->tracking_url, plain);
  w::FinishApplicationMasterRequestProto finish;
  finish.tracking_url = hostile;
  EXPECT_EQ(ToEvent(finish, {})->tracking_url, plain);
  finish.tracking_url = "http://h:1/history/app?x=%41&y#z";
  EXPECT_EQ(ToEvent(finish, {})->tracking_url, finish.tracking_url);
}

TEST(RmDecodeTest, TagsAndTheTypeHaveHadoopsBounds) {
  w::ApplicationSubmissionContextProto context;
  context.application_id.emplace();
  context.application_type = std::string(21, 't');
  context.application_tags.assign(10, std::string(100, 'a'));
  const auto taken = ToSubmission(context, {});
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(taken->type, std::string(20, 't'));
  context.application_tags[9] += 'a';
  EXPECT_THAT(ToSubmission(context, {}).error().message,
              testing::HasSubstr("is too long, maximum allowed length of a tag is 100"));
  context.application_tags.assign(11, "a");
  EXPECT_EQ(ToSubmission(context, {}).error().message, "Too many applicationTags, a maximum of only 10 are allowed!");
}

// Each field of a submission at its bound, and a byte beyond it.
TEST(RmDecodeTest, TextsOfASubmissionHaveABoundEach) {
  using Context = w::ApplicationSubmissionContextProto;
  struct Case {
    const char* field;
    size_t most;
    void (*set)(Context&, std::string);
  };
  const Case cases[] = {
      {"application_name", kNameMax, [](Context& c, std::string text) { c.application_name = std::move(text); }},
      {"queue", kNameMax, [](Context& c, std::string text) { c.queue = std::move(text); }},
      {"application_type", kNameMax, [](Context& c, std::string text) { c.application_type = std::move(text); }},
      {"node_label_expression", kNameMax,
       [](Context& c, std::string text) { c.node_label_expression = std::move(text); }},
      {"resource_name of an ask", kNameMax,
       [](Context& c, std::string text) {
         c.am_container_resource_request.emplace_back().resource_name = std::move(text);
       }},
      {"log_aggregation_context", 4 * kNameMax,
       [](Context& c, std::string text) {
         text.resize(text.size() - 3);  // its tag and length
         c.log_aggregation_context.emplace().include_pattern = std::move(text);
       }},
      {"command of the launch context", kCommandsMax,
       [](Context& c, std::string text) { c.am_container_spec->command.push_back(std::move(text)); }},
      {"environment of the launch context", kEnvironmentMax,
       [](Context& c, std::string text) { c.am_container_spec->environment.emplace_back().value = std::move(text); }},
      {"tokens of the launch context", kTokensMax,
       [](Context& c, std::string text) { c.am_container_spec->tokens = std::move(text); }},
      {"tokens_conf of the launch context", kTokensMax,
       [](Context& c, std::string text) { c.am_container_spec->tokens_conf = std::move(text); }},
      {"service_data of the launch context", kServiceDataMax,
       [](Context& c, std::string text) { c.am_container_spec->service_data.emplace_back().value = std::move(text); }},
      {"acl of application_acls", kAclMax,
       [](Context& c, std::string text) {
         c.am_container_spec->application_acls.emplace_back().acl = std::move(text);
       }},
  };
  for (const Case& one : cases) {
    Context context;
    context.application_id.emplace();
    context.am_container_spec.emplace();
    Context longer = context;
    one.set(context, std::string(one.most, 'x'));
    EXPECT_TRUE(ToSubmission(context, {}).ok()) << one.field;
    one.set(longer, std::string(one.most + 1, 'x'));
    const auto refused = ToSubmission(longer, {});
    ASSERT_FALSE(refused.ok()) << one.field;
    EXPECT_EQ(refused.error().message, std::string(one.field) + ": " + std::to_string(one.most + 1) +
                                           " bytes, at most " + std::to_string(one.most) + " are allowed");
  }
  Context many;
  many.application_id.emplace();
  for (int i = 0; i < 5; ++i) {
    many.am_container_spec.emplace(many.am_container_spec.value_or(w::ContainerLaunchContextProto()))
        .local_resources.emplace_back()
        .key = std::string(1 << 20, 'x');
  }
  EXPECT_THAT(ToSubmission(many, {}).error().message, testing::HasSubstr("at most 4194304 are allowed"));
}

TEST(RmDecodeTest, TextsOfMastersAndNodesHaveABoundEach) {
  const std::string name(kNameMax + 1, 'x'), url(kUrlMax + 1, 'x');
  w::RegisterApplicationMasterRequestProto master;
  master.host = name;
  EXPECT_FALSE(ToEvent(master, {}).ok());
  master = {};
  master.tracking_url = url;
  EXPECT_FALSE(ToEvent(master, {}).ok());
  w::AllocateRequestProto allocate;
  allocate.ask.emplace_back().resource_name = name;
  EXPECT_FALSE(ToEvent(allocate, {}).ok());
  allocate = {};
  allocate.blacklist_request.emplace().blacklist_additions.push_back(name);
  EXPECT_FALSE(ToEvent(allocate, {}).ok());
  w::RegisterNodeManagerRequestProto node;
  node.node_id.emplace().host = name;
  node.resource.emplace();
  EXPECT_FALSE(ToEvent(node).ok());
  // Their reports of what happened are not refused: work would stand still. The end of them is kept.
  w::FinishApplicationMasterRequestProto finish;
  finish.diagnostics = std::string(20 << 20, 'x') + "the cause";
  EXPECT_EQ(ToEvent(finish, {})->diagnostics.size(), kDiagnosticsMax);
  EXPECT_TRUE(ToEvent(finish, {})->diagnostics.ends_with("the cause"));
  w::NodeHeartbeatRequestProto beat;
  beat.node_status.emplace().node_id.emplace().host = "n";
  w::ContainerStatusProto& ended = beat.node_status->containers_statuses.emplace_back();
  ended.state = w::ContainerStateProto::kComplete;
  ended.diagnostics = finish.diagnostics;
  beat.node_status->node_health_status.emplace().health_report = finish.diagnostics;
  EXPECT_EQ(ToEvent(beat)->containers.at(0).diagnostics.size(), kDiagnosticsMax);
  EXPECT_EQ(ToEvent(beat)->health_report.size(), kHealthMax);
}

TEST(RmDecodeTest, LossesArePartsOfALife) {
  w::AllocateRequestProto allocate;
  const auto tell = [&](int64_t ms) {
    w::FairleadLossProto& loss = allocate.fairlead_losses.emplace_back();
    loss.container_id = ToWire(model::ContainerId{{{5, 6}, 1}, 2});
    loss.lost_ms = ms;
  };
  tell(7000);
  tell(-1);
  tell(INT64_MAX);
  allocate.fairlead_losses.emplace_back();  // of no container
  const auto event = ToEvent(allocate, {});
  ASSERT_EQ(event->losses.size(), 3u);
  EXPECT_EQ(event->losses[0].container.value, 2);
  EXPECT_EQ(event->losses[0].lost, base::Duration::Seconds(7));
  EXPECT_EQ(event->losses[1].lost, base::Duration());
  EXPECT_GT(event->losses[2].lost, base::Duration::Seconds(1'000'000));
  allocate.fairlead_losses.resize(kListMax + 1);
  EXPECT_TRUE(TooLong(allocate));
}

TEST(RmDecodeTest, NodesWithoutAnIdAreRefused) {
  EXPECT_FALSE(ToEvent(w::RegisterNodeManagerRequestProto{}).ok());
  EXPECT_FALSE(ToEvent(w::NodeHeartbeatRequestProto{}).ok());
}

TEST(RmConvertTest, MemoryHasItsUnitOnTheWire) {
  const w::ResourceProto proto = ToWire(model::Resources::Of(512, 3));
  ASSERT_GE(proto.resource_value_map.size(), 2u);
  EXPECT_EQ(proto.resource_value_map[0].key, "memory-mb");
  EXPECT_EQ(proto.resource_value_map[0].Units(), "Mi");
  EXPECT_EQ(FromWire(proto), model::Resources::Of(512, 3));
}

TEST(RmEncodeTest, AllocateAnswerCarriesWhatJavaReadsUnchecked) {
  FixedTokens tokens;
  m::AllocateAnswer answer;
  answer.response_id = 4;
  answer.cluster_nodes = 2;
  m::ContainerInfo container;
  container.id = {{{5, 6}, 1}, 2};
  container.address = {"node", 1};
  container.priority = 7;
  container.allocation_request_id = 3;
  answer.granted = {container};
  answer.new_nodes = {model::NodeIndex{0}};
  answer.preempt_strict = {container.id};
  const w::AllocateResponseProto proto = ToWire(answer, tokens);
  EXPECT_EQ(proto.ResponseId(), 4);
  EXPECT_TRUE(proto.limit.has_value());
  EXPECT_EQ(proto.NumClusterNodes(), 2);
  ASSERT_EQ(proto.allocated_containers.size(), 1u);
  EXPECT_EQ(proto.allocated_containers[0].Priority().Priority(), 7);
  EXPECT_EQ(proto.allocated_containers[0].AllocationRequestId(), 3);
  EXPECT_EQ(proto.allocated_containers[0].ContainerToken().kind, "ContainerToken");
  ASSERT_EQ(proto.nm_tokens.size(), 1u);
  EXPECT_EQ(proto.nm_tokens[0].NodeId().Host(), "node");
  EXPECT_EQ(proto.Preempt().StrictContract().container.size(), 1u);
}

TEST(RmEncodeTest, ResyncCarriesNothingElse) {
  FixedTokens tokens;
  m::HeartbeatAnswer answer;
  answer.action = m::NodeAction::kResync;
  answer.cleanup = {{{{5, 6}, 1}, 2}};
  const w::NodeHeartbeatResponseProto proto = ToWire(answer, 1000, tokens);
  EXPECT_EQ(proto.NodeAction(), w::NodeActionProto::kResync);
  EXPECT_TRUE(proto.containers_to_cleanup.empty());
}

}  // namespace
}  // namespace fairlead::endpoints::yarn
