#include "process/peers/peer_table.h"

#include <algorithm>
#include <utility>

namespace fairlead::process::peers {
namespace {

/// Of the peers, when open files run out.
constexpr size_t kThinnedPart = 16;
/// Of the places, which those who have not spoken yet may have before they go first: where all places are of peers that
/// have spoken, whoever comes would else go as soon as the next one comes.
constexpr size_t kStrangersPart = 8;

template <class List>
void ToBack(List& list, typename List::iterator at) {
  list.splice(list.end(), list, at);
}

}  // namespace

PeerTable::Seat* PeerTable::Dispensable(const Order& order, size_t strangers_kept) {
  const auto of = [&order](Standing standing) -> const Seats& { return order[static_cast<size_t>(standing)]; };
  if (of(Standing::kStranger).size() > strangers_kept) return of(Standing::kStranger).front();
  for (const Standing standing : {Standing::kIdle, Standing::kBusy, Standing::kStranger}) {
    if (!of(standing).empty()) return of(standing).front();
  }
  return nullptr;
}

PeerTable::Seat* PeerTable::Dispensable(size_t strangers_kept) const {
  const bool crowd =
      order_[static_cast<size_t>(Standing::kStranger)].size() > strangers_kept && strangers_.rbegin()->first > 1;
  if (!crowd) return Dispensable(order_, strangers_kept);
  return Dispensable(addresses_.find(std::string(strangers_.rbegin()->second))->second.order, 0);
}

void PeerTable::NoteStrangers(Addresses::iterator address, size_t before) {
  const size_t now = address->second.order[static_cast<size_t>(Standing::kStranger)].size();
  if (now == before) return;
  if (before > 0) strangers_.erase({before, address->first});
  if (now > 0) strangers_.emplace(now, address->first);
}

void PeerTable::EvictSeat(Seat& seat) {
  Peer& peer = seat.peer_;
  seat.Leave();
  peer.Evict();
}

bool PeerTable::MakeRoom(const std::string& address) {
  const auto found = addresses_.find(address);
  const bool crowded = found != addresses_.end() && found->second.seats >= limits_.per_address_max;
  if (!crowded && size_ < limits_.connections_max) return true;
  Seat* const seat = crowded ? Dispensable(found->second.order, limits_.per_address_max / kStrangersPart)
                             : Dispensable(limits_.connections_max / kStrangersPart);
  if (seat == nullptr) return false;
  EvictSeat(*seat);
  return true;
}

bool PeerTable::HoldsTooMuch() const { return held_ - (large_ == nullptr ? 0 : large_->held_) > limits_.bytes_max; }

void PeerTable::Relieve(const Seat* spared) {
  const std::array<const Seat*, 2> stay = {spared, large_ == spared ? nullptr : large_};
  const auto held_of = [&](const auto& entry) {
    size_t held = entry.second.held;
    for (const Seat* seat : stay) {
      if (seat != nullptr && !seat->left_ && &seat->address_->second == &entry.second) held -= seat->held_;
    }
    return held;
  };
  while (HoldsTooMuch()) {
    const auto most = std::max_element(addresses_.begin(), addresses_.end(),
                                       [&](const auto& a, const auto& b) { return held_of(a) < held_of(b); });
    Seats& holders = most->second.holders;
    const size_t little = held_of(*most) / std::max<size_t>(holders.size(), 1) / 2;
    const auto first = std::find_if(holders.begin(), holders.end(), [&](const Seat* seat) {
      return seat != stay[0] && seat != stay[1] && seat->held_ >= little;
    });
    if (first == holders.end()) return;
    Seat& seat = **first;
    const size_t before = seat.held_;
    seat.Count();
    if (seat.held_ == before) EvictSeat(seat);
  }
}

bool PeerTable::HoldsTooMuch(const Seat& seat) const {
  if (!HoldsTooMuch() || seat.left_) return false;
  const size_t own = seat.address_->second.held;
  return std::ranges::none_of(addresses_, [own](const auto& other) { return other.second.held > own; });
}

void PeerTable::Thin() {
  for (size_t i = size_ / kThinnedPart + 1; i > 0; --i) {
    Seat* const seat = Dispensable(0);
    if (seat == nullptr || seat->standing_ == Standing::kBusy) return;
    EvictSeat(*seat);
  }
}

PeerTable::Seat::Seat(PeerTable& table, Peer& peer, const std::string& address)
    : table_(table), peer_(peer), address_(table.addresses_.try_emplace(address).first) {
  ++table_.size_;
  Address& own = address_->second;
  ++own.seats;
  Seats& all = table_.order_[static_cast<size_t>(standing_)];
  in_table_ = all.insert(all.end(), this);
  Seats& near = own.order[static_cast<size_t>(standing_)];
  const size_t strangers = near.size();
  in_address_ = near.insert(near.end(), this);
  table_.NoteStrangers(address_, strangers);
  in_holders_ = own.others.insert(own.others.end(), this);
}

void PeerTable::Seat::Heard() {
  if (standing_ != Standing::kBusy) Move();
}

void PeerTable::Seat::Move() {
  if (left_ || standing_ == Standing::kStranger) return;  // dripping bytes does not make a stranger younger
  const auto index = static_cast<size_t>(standing_);
  ToBack(table_.order_[index], in_table_);
  ToBack(address_->second.order[index], in_address_);
  if (held_ > 0) ToBack(address_->second.holders, in_holders_);
}

void PeerTable::Seat::Become(Standing standing) {
  if (left_ || standing == standing_) return;
  const auto from = static_cast<size_t>(std::exchange(standing_, standing));
  const auto to = static_cast<size_t>(standing);
  const auto move = [&](Order& order, Seats::iterator at) { order[to].splice(order[to].end(), order[from], at); };
  const size_t strangers = address_->second.order[static_cast<size_t>(Standing::kStranger)].size();
  move(table_.order_, in_table_);
  move(address_->second.order, in_address_);
  table_.NoteStrangers(address_, strangers);
}

void PeerTable::Seat::Count() {
  if (left_) return;
  const size_t before = std::exchange(held_, peer_.HeldBytes());
  if (held_ == before) return;
  Address& own = address_->second;
  if (held_ > table_.limits_.bytes_max / 2) {
    if (before <= table_.limits_.bytes_max / 2 && table_.one_large_aside_) table_.large_ = this;
  } else if (table_.large_ == this) {
    table_.large_ = nullptr;
  }
  table_.held_ = table_.held_ - before + held_;
  own.held = own.held - before + held_;
  if (before == 0) {
    own.holders.splice(own.holders.end(), own.others, in_holders_);
  } else if (held_ == 0) {
    own.others.splice(own.others.end(), own.holders, in_holders_);
  } else if (held_ < before) {
    ToBack(own.holders, in_holders_);
  }
}

void PeerTable::Seat::Leave() {
  if (std::exchange(left_, true)) return;
  if (table_.large_ == this) table_.large_ = nullptr;
  Address& own = address_->second;
  (held_ > 0 ? own.holders : own.others).erase(in_holders_);
  const size_t strangers = own.order[static_cast<size_t>(Standing::kStranger)].size();
  own.order[static_cast<size_t>(standing_)].erase(in_address_);
  table_.NoteStrangers(address_, strangers);
  table_.order_[static_cast<size_t>(standing_)].erase(in_table_);
  table_.held_ -= held_;
  own.held -= held_;
  --table_.size_;
  if (--own.seats == 0) table_.addresses_.erase(address_);
}

}  // namespace fairlead::process::peers
