#include "process/rm/log_context.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/yarn/client.h"

namespace fairlead::process::rm {
namespace {

TEST(LogContext, IsFoundAmongWhatElseASubmissionSays) {
  wire::yarn::ApplicationSubmissionContextProto submission;
  submission.application_name = std::string(1 << 20, 'x');
  submission.am_container_spec.emplace().command.emplace_back("java");
  EXPECT_EQ(LogContextOf(submission.Encode()), std::nullopt);
  submission.log_aggregation_context.emplace().include_pattern = "std.*";
  submission.log_aggregation_context->exclude_pattern = "stderr";
  submission.keep_containers_across_application_attempts = true;
  EXPECT_EQ(LogContextOf(submission.Encode()), *submission.log_aggregation_context);
}

TEST(LogContext, WhatIsNoSubmissionHasNone) {
  EXPECT_EQ(LogContextOf(""), std::nullopt);
  EXPECT_EQ(LogContextOf("\x72\x05xx"), std::nullopt);
}

}  // namespace
}  // namespace fairlead::process::rm
