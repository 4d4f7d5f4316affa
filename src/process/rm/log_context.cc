#include "process/rm/log_context.h"

#include "wire/hadoop_rpc/message_kinds.h"
#include "wire/hadoop_rpc/proto_runtime.h"

namespace fairlead::process::rm {

std::optional<wire::yarn::LogAggregationContextProto> LogContextOf(std::string_view submission) {
  constexpr uint32_t kTag = 14 << 3 | 2;  // ApplicationSubmissionContextProto.log_aggregation_context
  base::Budget budget(wire::hadoop_rpc::kKept, submission.size());
  wire::proto::ParseContext context{budget, ""};
  wire::proto::Reader reader(submission, context);
  std::optional<wire::yarn::LogAggregationContextProto> found;
  while (const uint32_t tag = reader.NextTag()) {
    if (tag == kTag ? !reader.Message(found) : !reader.Skip(tag)) return std::nullopt;
  }
  return found;
}

}  // namespace fairlead::process::rm
