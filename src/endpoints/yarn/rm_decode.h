#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/rm.h"
#include "wire/yarn/admin.h"
#include "wire/yarn/client.h"
#include "wire/yarn/master.h"
#include "wire/yarn/tracker.h"

// Requests to the resource manager -> events of its core. What a message must carry and does not, or carries out of
// bounds, is an Error whose text tells the caller what is wrong.

namespace fairlead::endpoints::yarn {

/// Most entries of one list (asks, releases, container statuses, tags) that a request may carry.
inline constexpr size_t kListMax = 100'000;

/// What a node may say that it has, or that a container on it uses: amounts are kept from 0 to 2^46, so that sums over
/// any cluster fit into 64 bits (of memory in MiB that is 64 EiB).
inline constexpr int64_t kLargestAmount = int64_t{1} << 46;
model::Resources Bounded(model::Resources resources);

/// Whose call it is.
struct Submitter {
  std::string user;
  std::vector<std::string> groups;  // primary first
  std::string address;              // numeric, for diagnostics
};

/// ApplicationSubmissionContextProto, with Hadoop's defaults for queue, name and type
/// (ClientRMService.submitApplication). `encoded`: the bytes that it came in, so that those of a large one are not
/// copied as they grow; 0: not known.
base::Result<model::rm::Submission> ToSubmission(const wire::yarn::ApplicationSubmissionContextProto& context,
                                                 const Submitter& caller, size_t encoded = 0);
base::Result<model::rm::RegisterMaster> ToEvent(const wire::yarn::RegisterApplicationMasterRequestProto& request,
                                                const model::ApplicationAttemptId& attempt);
/// A list of the call that is longer than kListMax.
std::optional<model::Refused> TooLong(const wire::yarn::AllocateRequestProto& request);
base::Result<model::rm::AllocateCall> ToEvent(const wire::yarn::AllocateRequestProto& request,
                                              const model::ApplicationAttemptId& attempt);
base::Result<model::rm::FinishMaster> ToEvent(const wire::yarn::FinishApplicationMasterRequestProto& request,
                                              const model::ApplicationAttemptId& attempt);
base::Result<model::rm::RegisterNode> ToEvent(const wire::yarn::RegisterNodeManagerRequestProto& request);
base::Result<model::rm::Heartbeat> ToEvent(const wire::yarn::NodeHeartbeatRequestProto& request);

}  // namespace fairlead::endpoints::yarn
