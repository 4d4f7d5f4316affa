#include "process/nm/tracker_client.h"

namespace fairlead::process::nm {

rpc::RpcTarget TrackerClient::Target() const {
  rpc::RpcTarget target;
  target.address = managers_.current();
  target.protocol = std::string(wire::yarn::kResourceTracker);
  target.user.user = settings_.user;
  target.user.server_principal = settings_.manager_principal;
  if (settings_.credential) target.user.token = settings_.credential();
  return target;
}

void TrackerClient::Failed(const char* method, const rpc::RpcError& error) {
  const std::string text =
      error.kind == rpc::RpcErrorKind::kRemote ? error.remote.class_name + ": " + error.remote.message : error.message;
  if (text != last_error_) {
    log_.Warn("the resource manager does not answer",
              {{"call", method}, {"address", managers_.current().ToString()}, {"why", text}});
    last_error_ = text;
  }
  managers_.Failed(error);
  on_failed_(text);
}

}  // namespace fairlead::process::nm
