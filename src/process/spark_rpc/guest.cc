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

const char* NameOf(Refusal kind) {
  constexpr const char* kNames[kRefusals] = {"words", "overdue", "crowd", "place", "many", "login"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<std::pair<std::string, int64_t>> ByName(const Refusals& refusals) {
  std::vector<std::pair<std::string, int64_t>> out;
  for (size_t i = 0; i < kRefusals; ++i) {
    const auto kind = static_cast<Refusal>(i);
    out.emplace_back(NameOf(kind), static_cast<int64_t>(refusals.of(kind)));
  }
  return out;
}

void Guest::BecomeKnown() {
  if (std::exchange(known_, true)) return seat->Move();
  seat->Become(peers::Standing::kIdle);
}

void Guest::BecomeMember() {
  known_ = true;
  seat->Become(peers::Standing::kMember);
}

bool Guest::Keep(peers::PeerTable& table, size_t bytes) {
  BecomeMember();
  kept_ = bytes;
  seat->Count();
  if (table.HoldsTooMuch(*seat)) return false;
  table.Relieve(seat.get());
  return true;
}

void Guest::Refuse(Refusal kind, const std::string& why) {
  refusal_ = kind;
  connection->Close(why);
}

void Guest::CountRefusal(Refusals& refusals) const {
  if (connection->login_refused()) return refusals.Count(Refusal::kLogin);
  if (connection->refused()) refusals.Count(refusal_);
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
