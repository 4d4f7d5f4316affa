#include "shell/base/open_ports.h"

#include <atomic>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "env_posix/peer_user.h"
#include "shell/base/farewell.h"

namespace fairlead::shell {

namespace {

std::atomic<env::Log*> log_of_strangers = nullptr;

std::optional<std::string> Dismiss(const std::string& served, const env_posix::Stranger& stranger,
                                   std::string_view first) {
  const std::string who = stranger.user ? "user " + std::to_string(*stranger.user) : "another machine";
  std::optional<std::string> answer =
      FarewellOf(first, "This port serves processes of user " + served + " and of root alone, and this one is of " +
                            who + ": call as one of these, or let others in by " + kCallersKey +
                            " (--any-user of fairlead up, or of history, lets in all)");
  if (env::Log* log = log_of_strangers; log != nullptr && answer) {
    log->Warn(
        "a stranger is not served",
        {{"user", who}, {"peer", stranger.peer.ToString()}, {"port", stranger.local.ToString()}, {"key", kCallersKey}});
  }
  return answer;
}

}  // namespace

void LogStrangers(env::Log& log) { log_of_strangers = &log; }

std::string OpenPortsWarning(const std::vector<env::Endpoint>& listeners, const std::string& means) {
  std::string open;
  for (const env::Endpoint& endpoint : listeners) {
    if (!env::IsLoopback(endpoint.host)) open += (open.empty() ? "" : ", ") + endpoint.ToString();
  }
  if (open.empty()) return "";
  return "OPEN TO THE NETWORK WITHOUT AUTHENTICATION on " + open + ": " + means +
         "; keep these ports behind a firewall or bind them to 127.0.0.1";
}

std::string LocalPortsWarning(const std::vector<env::Endpoint>& listeners, const std::string& means) {
  std::string local;
  for (const env::Endpoint& endpoint : listeners) {
    if (env::IsLoopback(endpoint.host)) local += (local.empty() ? "" : ", ") + endpoint.ToString();
  }
  if (local.empty()) return "";
  return "every user of this machine reaches " + local + ": " + means + "; or set " + kCallersKey;
}

base::Status KeepStrangersOut(const config::HadoopConf& conf) { return KeepStrangersOut(conf.List(kCallersKey)); }

base::Status KeepStrangersOut(const std::vector<std::string>& uids) {
  std::vector<uid_t> users;
  for (const std::string& word : uids) {
    uid_t user = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), user);
    if (error != std::errc() || end != word.data() + word.size()) {
      return base::Error{std::string(kCallersKey) + ": '" + word + "' is no user's number; write for example 1000"};
    }
    users.push_back(user);
  }
  if (users.empty()) return {};
  const base::Status kept = env_posix::TakeCallsOnlyFrom(
      std::move(users),
      [served = base::Joined(uids, ", ")](const env_posix::Stranger& stranger, std::string_view first) {
        return Dismiss(served, stranger, first);
      });
  return kept.ok()
             ? kept
             : base::Error{std::string(kCallersKey) + ": " + kept.error().message + "; drop the key (--any-user)"};
}

}  // namespace fairlead::shell
