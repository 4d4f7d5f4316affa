#include "process/nm/node_keys.h"

#include <algorithm>
#include <utility>

#include "endpoints/yarn/rm_convert.h"

namespace fairlead::process::nm {

namespace ep = endpoints::yarn;
namespace w = wire::yarn;

void NodeKeys::SetNode(const std::string& host, int32_t port, ep::TokenHmac hmac) {
  tokens_.SetNode(host, port);
  tokens_.SetHmac(hmac);
}

void NodeKeys::Take(const std::optional<w::MasterKeyProto>& container, const std::optional<w::MasterKeyProto>& nm) {
  if (container) tokens_.SetContainerTokenKey(ep::FromWire(*container));
  if (nm) tokens_.SetNmTokenKey(ep::FromWire(*nm));
  if (container || nm) Save();
}

void NodeKeys::AttemptStarted(const w::NMTokenIdentifierProto& token) {
  if (const base::Status known = tokens_.AttemptStarted(token); known) Save();
}

void NodeKeys::AppFinished(const model::ApplicationId& app) {
  tokens_.AppFinished(app);
  Save();
}

void NodeKeys::NoteLaidOpen(const std::optional<w::FairleadLaidOpenProto>& keys) {
  constexpr int64_t kLongest = 600'000;
  timer_.Stop();
  is_over_ = false;
  laid_open_.reset();
  if (!keys) return;
  laid_open_ = keys->LastNmKey();
  const base::Duration rest = base::Duration::Millis(std::clamp<int64_t>(keys->ForMs(), 0, kLongest));
  timer_.After(rest, [this] { ForgetLaidOpen(); });
}

void NodeKeys::ForgetLaidOpen() {
  is_over_ = true;
  ep::NodeTokens::State state = tokens_.state();
  const size_t attempts =
      std::erase_if(state.attempts, [&](const auto& attempt) { return LayOpen(attempt.second.id); });
  const bool previous = state.nm_previous && LayOpen(state.nm_previous->id);
  if (previous) state.nm_previous.reset();
  if (attempts == 0 && !previous) return;
  tokens_.Recover(std::move(state));
  Save();
  log_.Info("tokens of a key that lay open to others are good for nothing any more",
            {{"attempts", std::to_string(attempts)}});
}

}  // namespace fairlead::process::nm
