#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "env/store.h"
#include "env_zookeeper/elector.h"

namespace fairlead::env_zookeeper {

/// Reads all rows below a root as they were at one moment, while members lead and write, or none runs. It takes no part
/// in the election, and changes nothing.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  /// An Error for people: nobody answers within 20 s, the identity is refused, or the rows are damaged. Its code is
  /// ENOENT where no rows were ever written.
  using Done = std::function<void(base::Result<std::vector<env::Row>>)>;
};

/// `done` is called once, on the loop, unless what is given ends before. Of the options servers, timeout, identity and
/// root count. Cost: each row is read once.
std::unique_ptr<Snapshot> ReadSnapshot(env::Loop& loop, const ElectorOptions& options, Snapshot::Done done);

}  // namespace fairlead::env_zookeeper
