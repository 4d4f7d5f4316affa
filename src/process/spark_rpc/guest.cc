#include "process/spark_rpc/guest.h"

#include <utility>

namespace fairlead::process::spark_rpc {

namespace {

constexpr base::Duration kKnownWithin = base::Duration::Seconds(10);
constexpr base::Duration kMessageWithin = base::Duration::Seconds(30);  // from a message's first byte to its last

}  // namespace

void Guest::Sit(peers::PeerTable& table, std::unique_ptr<Connection> its, base::Instant now) {
  connection = std::move(its);
  seat = std::make_unique<peers::PeerTable::Seat>(table, *this, connection->address());
  since_ = message_since_ = now;
}

void Guest::BecomeMember() {
  known_ = true;
  seat->Become(peers::Standing::kMember);
}

void Guest::Count(peers::PeerTable& table) {
  seat->Count();
  table.Relieve(seat.get());
}

bool Guest::Overdue(base::Instant now) {
  seat->Count();
  if (std::exchange(messages_, connection->messages()) != connection->messages() || connection->held_bytes() == 0)
    message_since_ = now;
  return (!known_ && now - since_ >= kKnownWithin) || now - message_since_ >= kMessageWithin;
}

}  // namespace fairlead::process::spark_rpc
