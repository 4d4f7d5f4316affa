#pragma once

#include <memory>

#include "process/peers/peer_table.h"
#include "process/spark_rpc/connection.h"

namespace fairlead::process::spark_rpc {

/// A connection at a port of Spark's RPC, with its place among all of that port.
struct Guest : peers::Peer {
  /// Takes a seat, as a stranger.
  void Sit(peers::PeerTable& table, std::unique_ptr<Connection> its, base::Instant now);
  /// It has shown that it belongs here.
  void BecomeMember();
  /// After bytes came: others may have to go for what this one holds.
  void Count(peers::PeerTable& table);
  /// To be asked every kSweepInterval: it has not shown what it is, or is not done with a message, in time.
  bool Overdue(base::Instant now);

  void Evict() override { connection->Close("there are too many connections, or they hold too much"); }
  size_t HeldBytes() const override { return connection->held_bytes(); }

  std::unique_ptr<Connection> connection;
  std::unique_ptr<peers::PeerTable::Seat> seat;

 private:
  bool known_ = false;
  base::Instant since_;
  base::Instant message_since_;  // of the one that is not whole
  uint64_t messages_ = 0;        // at the last look
};

inline constexpr const char* kOverdue = "it has not shown what it is, or was not done with a message, in time";
inline constexpr base::Duration kSweepInterval = base::Duration::Seconds(1);

}  // namespace fairlead::process::spark_rpc
