#pragma once

#include <exception>
#include <string>

#include "engine/records/errors.h"

namespace fairlead::engine {

/// Runs `call`. What Arrow throws, and what is said of a column, becomes a TaskError that begins with `what` ("cannot
/// read FILE"); the engine's other exceptions pass.
template <class Call>
auto Guarded(const std::string& what, Call&& call) {
  try {
    return call();
  } catch (const TaskKilled&) {
    throw;
  } catch (const CommitDenied&) {
    throw;
  } catch (const std::exception& failed) {
    throw TaskError(what + ": " + failed.what());
  }
}

}  // namespace fairlead::engine
