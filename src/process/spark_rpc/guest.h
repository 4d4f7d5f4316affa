#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "process/peers/peer_table.h"
#include "process/spark_rpc/connection.h"

namespace fairlead::process::spark_rpc {

/// Why a peer was not served.
enum class Refusal : uint8_t {
  kWords,    ///< it said what is not understood, or belongs elsewhere
  kOverdue,  ///< it did not show in time what it is
  kCrowd,    ///< its place was needed, or all hold too much
  kPlace,    ///< it named the place of another
  kMany,     ///< too much waits or is remembered already
  kLogin,    ///< it has not shown that it has the secret
};
inline constexpr size_t kRefusals = 6;

/// How many peers of a daemon were not served, by kind; for /metrics.
class Refusals {
 public:
  void Count(Refusal kind) { ++counts_[static_cast<size_t>(kind)]; }
  uint64_t of(Refusal kind) const { return counts_[static_cast<size_t>(kind)]; }

 private:
  std::array<uint64_t, kRefusals> counts_{};
};
/// "words".
const char* NameOf(Refusal kind);
/// What /metrics says of them, and how many of each.
inline constexpr const char* kRefusalsHelp =
    "Peers that were not served: words (not understood), overdue (silent), crowd (no place, or too much held), "
    "place (another's), many (too much is remembered or waits), login (without the secret).";
std::vector<std::pair<std::string, int64_t>> ByName(const Refusals& refusals);

/// A connection at a port of Spark's RPC, with its place among all of that port.
struct Guest : peers::Peer {
  /// Takes a seat, as a stranger.
  void Sit(peers::PeerTable& table, std::unique_ptr<Connection> its, base::Instant now);
  /// It has said something that strangers may say as well: it stays as long as there is room.
  void BecomeKnown();
  /// It has shown that it belongs here.
  void BecomeMember();
  /// It belongs here, and from now on `bytes` are remembered of it for as long as its connection lasts, and count as
  /// what it holds. False: with that too much is held, and most of it by its address; it is to be closed.
  bool Keep(peers::PeerTable& table, size_t bytes);
  /// After bytes came: others may have to go for what this one holds.
  void Count(peers::PeerTable& table);
  /// To be asked every kSweepInterval: it has not shown what it is, or is not done with a message, in time.
  bool Overdue(base::Instant now);
  /// As Connection::Close, for a reason of this kind.
  void Refuse(Refusal kind, const std::string& why);
  /// Once it is closed: counts why, where it was not served.
  void CountRefusal(Refusals& refusals) const;

  void Evict() override { Refuse(Refusal::kCrowd, "there are too many connections, or they hold too much"); }
  size_t HeldBytes() const override { return connection->held_bytes() + kept_; }

  std::unique_ptr<Connection> connection;
  std::unique_ptr<peers::PeerTable::Seat> seat;

 private:
  bool known_ = false;
  size_t kept_ = 0;
  Refusal refusal_ = Refusal::kWords;
  base::Instant since_;
  base::Instant message_since_;  // of the one that is not whole
  uint64_t messages_ = 0;        // at the last look
};

inline constexpr const char* kOverdue = "it has not shown what it is, or was not done with a message, in time";
inline constexpr const char* kHoldsTooMuch = "too much is remembered of its address already";
inline constexpr base::Duration kSweepInterval = base::Duration::Seconds(1);

}  // namespace fairlead::process::spark_rpc
