#include "process/http/failover.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "wire/json/json.h"

namespace fairlead::process::http {

namespace {
constexpr int kFailoversMost = 15;         // dfs.client.failover.max.attempts
constexpr int64_t kWaitMs = 500;           // dfs.client.failover.sleep.base.millis
constexpr int64_t kLongestWaitMs = 15000;  // dfs.client.failover.sleep.max.millis
}  // namespace

std::optional<base::Duration> Failover::Next() {
  if (servers_ < 2 || failovers_ == kFailoversMost) return {};
  at_ = (at_ + 1) % servers_;
  const int before = failovers_++;
  if (before == 0) return base::Duration();
  return base::Duration::Millis(std::min(kLongestWaitMs, kWaitMs << std::min(before, 5)));
}

std::optional<RemoteException> ReadRemoteException(std::string_view body) {
  const auto answer = wire::json::Parse(body, wire::json::kAnswer);
  if (!answer.ok() || !answer->is_object()) return {};
  const auto found = answer->find("RemoteException");
  if (found == answer->end() || !found->is_object()) return {};
  const auto text = [&](const char* name) {
    const nlohmann::json value = found->value(name, nlohmann::json());
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  return RemoteException{text("exception"), text("message")};
}

}  // namespace fairlead::process::http
