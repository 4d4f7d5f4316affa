#include <cstddef>
#include <cstdint>
#include <string_view>

#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/rm_decode.h"

// Every request of the resource manager from bytes to event: nothing a peer sends may do more than give an error.

namespace {

namespace y = fairlead::endpoints::yarn;
namespace w = fairlead::wire::yarn;

template <class Request, class Use>
void Try(std::string_view bytes, Use use) {
  Request request;
  if (request.ParseFrom(bytes, fairlead::wire::hadoop_rpc::kMasterCall).ok()) use(request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const fairlead::model::ApplicationAttemptId attempt{{1, 1}, 1};
  switch (data[0] % 6) {
    case 0:
      Try<w::ApplicationSubmissionContextProto>(bytes, [&](const auto& r) {
        (void)y::ToSubmission(r, {"user", {"group"}, "127.0.0.1"}).ok();
      });
      break;
    case 1:
      Try<w::RegisterApplicationMasterRequestProto>(bytes, [&](const auto& r) { (void)y::ToEvent(r, attempt).ok(); });
      break;
    case 2:
      Try<w::AllocateRequestProto>(bytes, [&](const auto& r) { (void)y::ToEvent(r, attempt).ok(); });
      break;
    case 3:
      Try<w::FinishApplicationMasterRequestProto>(bytes, [&](const auto& r) { (void)y::ToEvent(r, attempt).ok(); });
      break;
    case 4:
      Try<w::RegisterNodeManagerRequestProto>(bytes, [&](const auto& r) { (void)y::ToEvent(r).ok(); });
      break;
    default:
      Try<w::NodeHeartbeatRequestProto>(bytes, [&](const auto& r) { (void)y::ToEvent(r).ok(); });
  }
  return 0;
}
