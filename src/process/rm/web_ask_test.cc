// A question that takes too long, or comes when too many do, is answered 503 with the time after which it may be asked
// again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include "env_sim/world.h"
#include "process/http/client.h"
#include "process/rm/questions.h"
#include "process/rm/resource_manager.h"
#include "process/rm/test_workers.h"
#include "process/rm/web.h"
#include "scheduler/fairlead/fairlead.h"

namespace fairlead::process::rm {
namespace {

using testing::HasSubstr;

class WebAsk : public testing::Test {
 protected:
  WebAsk() {
    ResourceManagerOptions options;
    options.ports = {{"rm", 8032}, {"rm", 8030}, {"rm", 8031}, {"rm", 8033}};
    options.groups_of = [](const std::string&) { return std::vector<std::string>{}; };
    options.rack_of = [](const std::string&) { return "/default-rack"; };
    options.make_scheduler = [](int64_t) { return scheduler::MakeFairlead({}); };
    options.journal =
        KeptJournal{[] { return std::optional<JournalFacts>(JournalFacts{}); },
                    {},
                    [this](base::WallTime, const std::string&, const auto&) {
                      return base::Result<std::string>(base::Error{"what was then takes longer", past_code_});
                    }};
    auto started = ResourceManager::Start(machine_.loop(), machine_.net(), &machine_.store(), std::move(options));
    EXPECT_TRUE(started.ok());
    manager_ = std::move(*started);
    http::KnownHosts hosts;
    hosts.any = true;
    auto web = Web::Start(workers_, {machine_.net()}, {"rm", 8088}, hosts, *manager_);
    EXPECT_TRUE(web.ok());
    web_ = std::move(*web);
  }

  struct Answer {
    int status = 0;
    std::string body, retry_after;
  };
  /// `number`: of its user, so that no user has too many.
  void Ask(const std::string& method, const std::string& path, const std::string& body, int number) {
    http::ClientRequest request;
    request.endpoint = {"rm", 8088};
    request.method = method;
    request.body = body;
    request.target =
        "/fairlead/v1/" + path + (path.find('?') == path.npos ? "?" : "&") + "user.name=user" + std::to_string(number);
    request.headers = {{"Content-Type", "application/json"}};
    request.timeout = base::Duration::Seconds(600);
    http::Fetch(machine_.loop(), machine_.net(), request, [this](const base::Result<http::Response>& got) {
      ASSERT_TRUE(got.ok()) << got.error().message;
      answers_.push_back({got->status, got->body, std::string(http::FindHeader(got->headers, "Retry-After"))});
    });
  }
  void WhatIf(int number) { Ask("POST", "what-if", R"({"changes": ["submit 1x1GiB,1x10m@root.a"]})", number); }
  void Wait(int64_t seconds) {
    world_.RunUntil(world_.now() + base::Duration::Seconds(seconds), [] { return false; });
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("rm");
  Workers workers_{machine_.loop()};
  std::vector<Answer> answers_;
  int past_code_ = 0;
  std::unique_ptr<ResourceManager> manager_;
  std::unique_ptr<Web> web_;
};

TEST_F(WebAsk, OneThatRanOutOfTimeMayBeAskedAgainAfterHalfAMinute) {
  WhatIf(1);
  Wait(29);
  workers_.WorkAll();
  Wait(1);
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].status, 200) << answers_[0].body;
  WhatIf(1);
  Wait(31);
  workers_.WorkAll();
  Wait(1);
  ASSERT_EQ(answers_.size(), 2U);
  EXPECT_EQ(answers_[1].status, 503);
  EXPECT_EQ(answers_[1].retry_after, "30");
  EXPECT_THAT(answers_[1].body, HasSubstr("the answer takes longer than a question may"));
}

TEST_F(WebAsk, SoMayALookIntoThePast) {
  for (const auto& [code, status] : {std::pair(ETIMEDOUT, 503), std::pair(ENOENT, 404), std::pair(0, 500)}) {
    past_code_ = code;
    Ask("GET", "past/cluster?at=1700000000000", "", 1);
    Wait(1);
    workers_.WorkAll();
    Wait(1);
    ASSERT_FALSE(answers_.empty());
    EXPECT_EQ(answers_.back().status, status);
    EXPECT_EQ(answers_.back().retry_after, status == 503 ? "30" : "");
  }
}

TEST_F(WebAsk, BeyondThoseThatMayWaitOneIsToldToComeBack) {
  for (int i = 0; i < 18; ++i) WhatIf(i);  // two are worked on, and sixteen wait
  Wait(1);
  EXPECT_TRUE(answers_.empty());
  WhatIf(18);
  Ask("GET", "past/cluster?at=1700000000000", "", 19);
  Wait(1);
  ASSERT_EQ(answers_.size(), 2U);
  for (const Answer& one : answers_) {
    EXPECT_EQ(one.status, 503);
    EXPECT_EQ(one.retry_after, "5");
    EXPECT_THAT(one.body, HasSubstr("too many questions"));
  }
  workers_.WorkAll();  // nothing of them is left
  Wait(1);
  EXPECT_EQ(answers_.size(), 20U);
}

}  // namespace
}  // namespace fairlead::process::rm
