#include "endpoints/spark/submission_messages.h"

#include "endpoints/spark/master_messages.h"
#include "endpoints/spark/message_values.h"
#include "endpoints/spark/object_fields.h"

namespace fairlead::endpoints::spark {

namespace js = wire::java_stream;

base::Result<std::optional<SubmissionMessage>> DecodeSubmissionMessage(const js::Graph& graph) {
  const std::string_view name = MessageName(graph);
  const js::Ref root = graph.Root();
  Fields in(graph);
  std::optional<SubmissionMessage> message;
  if (name == "RequestSubmitDriver") {
    const js::Ref description = in.Object(root, "driverDescription");
    message = RequestSubmitDriver{ReadDriver(in, description), description};
  } else if (name == "RequestKillDriver") {
    message = RequestKillDriver{in.Text(root, "driverId")};
  } else if (name == "RequestKillAllDrivers$") {
    message = RequestKillAllDrivers();
  } else if (name == "RequestDriverStatus") {
    message = RequestDriverStatus{in.Text(root, "driverId")};
  }
  if (!in.error().empty()) return base::Error{std::string(name) + ": " + in.error()};
  return message;
}

std::string Encode(const SparkBuild& build, const SubmitDriverResponse& response) {
  MessageWriter out(build, "SubmitDriverResponse");
  out.Set("master", out.Reference(response.master, kMasterEndpoint)).SetNumber("success", response.success);
  return out.Set("driverId", out.Option(response.driver)).Set("message", response.message).Written();
}

std::string Encode(const SparkBuild& build, const KillDriverResponse& response) {
  MessageWriter out(build, "KillDriverResponse");
  out.Set("master", out.Reference(response.master, kMasterEndpoint)).Set("driverId", response.driver);
  return out.SetNumber("success", response.success).Set("message", response.message).Written();
}

std::string Encode(const SparkBuild& build, const KillAllDriversResponse& response) {
  MessageWriter out(build, "KillAllDriversResponse");
  out.Set("master", out.Reference(response.master, kMasterEndpoint));
  return out.SetNumber("success", response.success).Set("message", response.message).Written();
}

std::string Encode(const SparkBuild& build, const DriverStatusResponse& response) {
  MessageWriter out(build, "DriverStatusResponse");
  const auto state = [&] { return out.Some(out.State(DriverStates(), static_cast<int32_t>(*response.state))); };
  out.SetNumber("found", response.found).Set("state", response.state ? state() : out.None());
  out.Set("workerId", out.Option(response.worker)).Set("workerHostPort", out.Option(response.worker_address));
  return out.Set("exception", out.None()).Written();
}

}  // namespace fairlead::endpoints::spark
