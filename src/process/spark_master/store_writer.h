#pragma once

#include <functional>
#include <string>
#include <vector>

#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/store.h"
#include "process/spark_master/set_aside.h"

namespace fairlead::process::spark_master {

/// Stores what has to be there before anybody hears of it, and knows whether something can be stored at all. While the
/// store refuses (a full disk), the same rows are tried again; once it is lost, nothing is stored and nobody is called
/// any more. On the loop's thread.
class StoreWriter {
 public:
  /// `store` may be null: then nothing outlives this process. `on_lost` may be empty.
  StoreWriter(env::Loop& loop, env::Store* store, env::Log& log, std::function<void(const std::string&)> on_lost)
      : loop_(loop), store_(store), log_(log), on_lost_(std::move(on_lost)), tried_(loop.Now()) {}

  /// Null: nothing is stored.
  env::Store* store() const { return store_; }
  /// Calls `stored` once the rows are there.
  void Commit(std::vector<env::Row> rows, std::function<void()> stored);
  /// Writes a row of its own where nothing was written for a while, to find out whether it can.
  void Probe();
  /// Rows that cannot be read keep nobody from serving the rest (set_aside.h): those of earlier starts, and one more.
  base::Status LoadSetAside();
  void SetAside(const BadRow& row) { set_aside_.push_back(SetRowAside(*store_, log_, row)); }
  const std::vector<SetAsideRow>& set_aside() const { return set_aside_; }
  /// Why nothing can be stored at present; empty: it can.
  const std::string& error() const { return error_; }

 private:
  void Lost(const env::CommitError& error);

  env::Loop& loop_;
  env::Store* const store_;
  env::Log& log_;
  const std::function<void(const std::string&)> on_lost_;
  std::string error_;
  std::vector<SetAsideRow> set_aside_;
  base::Instant tried_;
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_master
