#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/stored.h"
#include "endpoints/yarn/tokens.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/timer.h"
#include "process/nm/state_writer.h"
#include "wire/yarn/tracker.h"

namespace fairlead::process::nm {

/// The keys by which a node knows the tokens of masters and containers (Hadoop: NMTokenSecretManagerInNM,
/// NMContainerTokenSecretManager), stored with every change, and the NM keys that lay open to others: what was signed
/// with these is good for nothing once their time is over, whichever way it comes. On the loop's thread.
class NodeKeys {
 public:
  static constexpr char kTable[] = "nm_tokens";  // of one row

  NodeKeys(env::Loop& loop, env::Log& log, StateWriter& state) : log_(log), state_(state), timer_(loop) {}

  void Load(endpoints::yarn::NodeTokens::State state) { tokens_.Recover(std::move(state)); }
  void SetNode(const std::string& host, int32_t port, endpoints::yarn::TokenHmac hmac);
  /// Keys that the resource manager gives; either may be missing.
  void Take(const std::optional<wire::yarn::MasterKeyProto>& container,
            const std::optional<wire::yarn::MasterKeyProto>& nm);
  /// Told with each registration, so that a restart forgets nothing.
  void NoteLaidOpen(const std::optional<wire::yarn::FairleadLaidOpenProto>& keys);
  /// NM tokens of this key are good for nothing any more.
  bool IsOver(int32_t key) const { return is_over_ && LayOpen(key); }
  void AttemptStarted(const wire::yarn::NMTokenIdentifierProto& token);
  void AppFinished(const model::ApplicationId& app);

  const endpoints::yarn::NodeTokens& tokens() const { return tokens_; }

 private:
  /// Ids are a counter that may wrap.
  bool LayOpen(int32_t key) const {
    return laid_open_ && static_cast<int32_t>(static_cast<uint32_t>(key) - static_cast<uint32_t>(*laid_open_)) <= 0;
  }
  void ForgetLaidOpen();
  void Save() { state_.Keep({{kTable, "", base::EncodeStored(tokens_.state())}}); }

  env::Log& log_;
  StateWriter& state_;
  endpoints::yarn::NodeTokens tokens_;
  std::optional<int32_t> laid_open_;  // the last NM key that lay open
  bool is_over_ = false;              // the time of it and those before it
  env::Timer timer_;
};

}  // namespace fairlead::process::nm
