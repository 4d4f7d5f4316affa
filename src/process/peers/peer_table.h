#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead::process::peers {

struct PeerLimits {
  size_t connections_max = 2000;
  /// Of one address.
  size_t per_address_max = 1000;
  /// What all connections hold in memory together: bytes not parsed, calls not answered, answers not taken.
  size_t bytes_max = size_t{32} << 20;
};

/// Decides who is closed first.
enum class Standing : uint8_t {
  /// Has not shown yet that it speaks the protocol: goes first where more than an eighth of the places are strangers',
  /// of the address of which there are most, the one that came first before all; else last. So whoever comes has the
  /// time to say what it wants.
  kStranger,
  kIdle,    ///< has nothing to wait for: goes next, the longest silent first
  kBusy,    ///< waits for this daemon: goes last, the one that has waited longest before all
  kMember,  ///< belongs here for long, as a driver: stays, unless memory is short
};

/// The other end of one connection, as a PeerTable sees it.
class Peer {
 public:
  virtual ~Peer() = default;
  /// Closes the connection at once; the table has forgotten it already.
  virtual void Evict() = 0;
  /// Bytes it holds in memory now.
  virtual size_t HeldBytes() const = 0;
};

/// Bounds what all connections of a daemon's port hold together, so that no peer and no address takes the place of
/// others: over a limit the peers go that are needed least. All calls are O(1), but for O(log addresses) as
/// strangers come and go, and that making room for memory looks at the addresses that hold some. Single-threaded.
class PeerTable {
 public:
  class Seat;
  /// With `one_large_aside` one connection that holds more than half of bytes_max by itself, the last one that came to
  /// it, is beside that bound. For ports where the daemon alone makes so much: an answer that is as large as its
  /// cluster.
  explicit PeerTable(PeerLimits limits, bool one_large_aside = false)
      : limits_(limits), one_large_aside_(one_large_aside) {}
  PeerTable(const PeerTable&) = delete;
  PeerTable& operator=(const PeerTable&) = delete;

  /// Makes room for one more connection from `address` by evicting one; false: nobody may go, refuse it.
  bool MakeRoom(const std::string& address);
  /// Evicts while more than the limit is held: of the address that holds most, who has not moved for longest; not who
  /// holds less than half of the average there, so that no crowd drives out an honest one of its address. Not `spared`,
  /// who is being served.
  void Relieve(const Seat* spared);
  /// Whether too much is held, and most of it by the address of `seat`: then that one is to go, and not another.
  bool HoldsTooMuch(const Seat& seat) const;
  /// Evicts a part of those that are strangers, or idle when there are none: the process wants for open files.
  void Thin();

  const PeerLimits& limits() const { return limits_; }
  size_t size() const { return size_; }
  size_t held_bytes() const { return held_; }

 private:
  using Seats = std::list<Seat*>;
  using Order = std::array<Seats, 4>;  // by Standing, the next to go first
  struct Address {
    size_t seats = 0;
    size_t held = 0;
    Order order;
    Seats holders;  // the longest without a move first
    Seats others;   // those that hold nothing
  };
  using Addresses = std::map<std::string, Address>;
  /// Strangers go first only where there are more than `strangers_kept`.
  static Seat* Dispensable(const Order& order, size_t strangers_kept);
  /// Of all addresses.
  Seat* Dispensable(size_t strangers_kept) const;
  static void EvictSeat(Seat& seat);
  bool HoldsTooMuch() const;
  /// A stranger of this address has come, or is one no more; there were `before`.
  void NoteStrangers(Addresses::iterator address, size_t before);

  const PeerLimits limits_;
  const bool one_large_aside_;
  size_t size_ = 0;
  size_t held_ = 0;
  Seat* large_ = nullptr;  // which is beside the bound
  Order order_;
  Addresses addresses_;
  std::set<std::pair<size_t, std::string_view>> strangers_;  // how many of each address that has some
};

/// One connection's place in the table, from its acceptance to its end.
class PeerTable::Seat {
 public:
  Seat(PeerTable& table, Peer& peer, const std::string& address);
  ~Seat() { Leave(); }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  /// Something has come from the peer. Who waits for this daemon waits no shorter by asking for more.
  void Heard();
  /// The peer has taken something, or has become active otherwise.
  void Move();
  void Become(Standing standing);
  /// Reads HeldBytes(); less than before counts as a move.
  void Count();
  /// As destroying it.
  void Leave();

 private:
  friend class PeerTable;
  PeerTable& table_;
  Peer& peer_;
  Addresses::iterator address_;
  Standing standing_ = Standing::kStranger;
  bool left_ = false;
  size_t held_ = 0;
  Seats::iterator in_table_, in_address_, in_holders_;
};

}  // namespace fairlead::process::peers
