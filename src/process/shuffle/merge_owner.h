#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/shuffle/session.h"
#include "env/loop.h"
#include "wire/spark_shuffle/messages.h"

namespace fairlead::process::shuffle {

/// The answer to one push of a connection.
struct PushAnswered {
  int64_t request = 0;
  endpoints::shuffle::PushReply reply;
};

/// What a connection has brought of its pushes, in order.
struct PushBatch {
  uintptr_t worker = 0;     // with the connection and the request a push's name
  uint64_t connection = 0;  // of that worker
  std::vector<endpoints::shuffle::PushPart> parts;
  env::Loop* reply_on = nullptr;
  /// Runs there, with answers to this and earlier batches of the connection.
  std::function<void(uint64_t connection, std::vector<PushAnswered> answers)> answer;
};

/// Who merges, as workers see it. Called on any thread; answers come on the loop that is given.
class MergeOwner {
 public:
  virtual ~MergeOwner() = default;
  virtual void Push(PushBatch batch) = 0;
  /// Too much is held: who pushes waits until IoWorker::ResumePushers.
  virtual bool crowded() const = 0;
  /// `done` gets the body of MergeStatuses, or the first line of Spark's exception.
  virtual void Finalize(wire::spark_shuffle::FinalizeShuffleMerge request, env::Loop& reply_on,
                        std::function<void(base::Result<std::string>)> done) = 0;
  virtual void Remove(wire::spark_shuffle::RemoveShuffleMerge request, env::Loop& reply_on,
                      std::function<void(base::Status)> done) = 0;
};

}  // namespace fairlead::process::shuffle
