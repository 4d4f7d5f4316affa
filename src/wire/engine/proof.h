#pragma once

#include <string>
#include <string_view>

#include "wire/engine/messages.h"

namespace fairlead::wire::engine {

/// HMAC-SHA256 with the application's secret of `what` and `of`; `what` says what the text is for, so that none passes
/// for another. 32 bytes.
std::string Authenticated(std::string_view secret, std::string_view what, std::string_view of);

/// How an executor shows that it belongs to the application without sending the secret: over the driver's nonce and all
/// of its hello but the proof, its own nonce among it.
std::string ProofOf(std::string_view secret, std::string_view driver_nonce, Hello hello);
/// How the driver shows the same: over its nonce and the executor's proof.
std::string AnswerTo(std::string_view secret, std::string_view driver_nonce, const Hello& hello);
/// Compares in constant time.
bool SameProof(std::string_view a, std::string_view b);

}  // namespace fairlead::wire::engine
