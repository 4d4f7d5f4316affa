#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/store.h"
#include "env/timer.h"

namespace fairlead::process::nm {

/// The way of a node agent's rows to its store. Rows that say what has already happened are not given up when the store
/// refuses them (a full disk): they are written again with the next ones, at the latest after a second, unless newer
/// ones of the same keys took their place.
class StateWriter {
 public:
  using Lost = std::function<void(const std::string& why)>;
  /// `on_lost` is called once when the store takes nothing any more (fenced or gone): whoever waits for a row waits for
  /// ever then.
  StateWriter(env::Loop& loop, env::Store& store, env::Log& log, Lost on_lost)
      : loop_(loop), store_(store), log_(log), on_lost_(std::move(on_lost)) {}
  ~StateWriter();
  StateWriter(const StateWriter&) = delete;
  StateWriter& operator=(const StateWriter&) = delete;

  /// `stored` (may be empty) runs when nothing written by Keep up to now is missing in the store any more.
  void Keep(std::vector<env::Row> rows, std::function<void()> stored = {});
  /// Rows that the caller gives up when the store refuses them: `done` says which.
  void Try(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done);

 private:
  using Key = std::pair<std::string, std::string>;  // table, key
  /// Notes a write of `rows` and gives its number.
  uint64_t Begin(const std::vector<env::Row>& rows);
  void Kept(uint64_t number, const std::vector<env::Row>& rows, const env::CommitStatus& status);
  void TellLost(const std::string& why);

  env::Loop& loop_;
  env::Store& store_;
  env::Log& log_;
  Lost on_lost_;  // empty once it was called
  uint64_t writes_ = 0;
  std::map<Key, uint64_t> latest_;                     // of keys under way: the number of their latest write
  std::map<Key, std::optional<std::string>> refused_;  // to be written again
  std::vector<std::pair<uint64_t, std::function<void()>>> waiting_;  // by the number of their write
  env::Timer retry_{loop_};
  env::Alive alive_;
};

}  // namespace fairlead::process::nm
