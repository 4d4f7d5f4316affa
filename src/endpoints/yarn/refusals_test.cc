#include "endpoints/yarn/refusals.h"

#include <gtest/gtest.h>

#include <set>

namespace fairlead::endpoints::yarn {
namespace {

using model::Refusal;
using model::Resources;

TEST(Refusals, EachReasonHasItsOwnNameAndSentence) {
  std::set<std::string_view> names;
  std::set<std::string> sentences;
  for (int value = 0; value <= static_cast<int>(Refusal::kWorkflowPriorityAccess); ++value) {
    const auto why = static_cast<Refusal>(value);
    model::Refused refused{why, {"one", "two", "three", "four"}, {}, {1, 2}};
    const bool says_more = why == Refusal::kUnknownQueue || why == Refusal::kQueueFull || why == Refusal::kNotALeaf;
    if (says_more) refused.names = {"one"};  // its second name is a sentence of the scheduler
    const RemoteException exception = ExceptionOf(refused);
    EXPECT_NE(EnumName(why), "?") << value;
    EXPECT_TRUE(names.insert(EnumName(why)).second) << EnumName(why);
    EXPECT_TRUE(sentences.insert(exception.message).second) << exception.message;
    EXPECT_EQ(exception.class_name, JavaClass(SimpleName(exception.class_name))) << "no class of Hadoop's";
    ExceptionOf({why, {}, {}, {}});  // what a core leaves out is no harm
  }
}

TEST(Refusals, ReadAsHadoopsDo) {
  const auto text = [](const model::Refused& refused) {
    const RemoteException exception = ExceptionOf(refused);
    return exception.class_name + ": " + exception.message;
  };
  EXPECT_EQ(
      text({Refusal::kAccessLists, {"ann", "application_1000_0001", "root.alpha", "root"}, {}, {}}),
      "org.apache.hadoop.yarn.exceptions.YarnException: org.apache.hadoop.security.AccessControlException: User ann "
      "does not have permission to submit application_1000_0001 to queue root.alpha denied by ACL for queue root");
  EXPECT_EQ(text({Refusal::kUnknownApplication, {"application_1_0002"}, {}, {}}),
            "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException: Application with id 'application_1_0002' "
            "doesn't exist in RM. Please check that the job submission was successful.");
  EXPECT_EQ(text({Refusal::kResponseId, {"appattempt_1_0001_000001"}, {}, {5, 3}}),
            "org.apache.hadoop.yarn.exceptions.InvalidApplicationMasterRequestException: Invalid responseId in "
            "AllocateRequest from application attempt: appattempt_1_0001_000001 expect responseId to be 5 but get 3");
  EXPECT_EQ(
      text({Refusal::kNegativeAmount, {"memory-mb"}, {Resources::Of(-1, 1)}, {}}),
      "org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException: Invalid resource request! Cannot allocate "
      "containers as requested resource is less than 0! Requested resource type=[memory-mb], Requested "
      "resource=<memory:-1, vCores:1>");
}

TEST(Refusals, AMasterBeyondALimitGetsInvalidResourceRequestException) {
  for (const Refusal why :
       {Refusal::kTooManyEntries, Refusal::kTooManyKeys, Refusal::kTooManySizes, Refusal::kTooManyPlaces,
        Refusal::kTooManyLabels, Refusal::kTooMuch, Refusal::kAboveMaximum, Refusal::kBadCount}) {
    EXPECT_EQ(ExceptionOf({why, {}, {}, {256}}).class_name, exceptions::kInvalidResourceRequest) << EnumName(why);
  }
}

}  // namespace
}  // namespace fairlead::endpoints::yarn
