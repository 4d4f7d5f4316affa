#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// What decoding one message may cost. A message can be small and what it stands for large: empty elements of two bytes,
// a thousand references to one long text, a chain of references that a recursion follows. So whoever decodes bytes from
// outside charges a Budget for all that it makes, each time that it makes it. The readers on which decoders stand
// (base::ByteReader, wire::proto::Reader, wire::json) cannot be made without one.

namespace fairlead::base {

/// An amount in proportion to the bytes of a message: `floor` and `per_byte` for each byte, but never more than `most`.
struct Allowance {
  size_t floor = 0;
  size_t per_byte = 0;
  size_t most = 0;

  constexpr size_t For(size_t bytes) const {
    size_t scaled = 0;  // by multiplication: it is made for every message
    if (floor >= most || __builtin_mul_overflow(per_byte, bytes, &scaled) || scaled > most - floor) return most;
    return floor + scaled;
  }
};

/// The most that one message of a kind may cost. docs/ports.md has the table of kinds.
struct BudgetKind {
  std::string_view name;  ///< for the refusal: "a message of Spark's RPC"
  size_t bytes = 0;       ///< of the message; a longer one is refused before it is looked at
  size_t depth = 0;       ///< values within values, also by way of references
  Allowance memory;       ///< bytes of what is made of it: a text that stands there by a reference counts each time
  Allowance nodes;        ///< elements, members, objects
  Allowance work;         ///< steps of searches and comparisons, where they are not one a node
};

/// What is left for one message. The first charge that is more than what is left fails, and all after it.
/// Cost: a subtraction a charge.
class Budget {
 public:
  Budget(const BudgetKind& kind, size_t message_bytes)
      : kind_(kind),
        bytes_(message_bytes),
        memory_(kind.memory.For(message_bytes)),
        nodes_(kind.nodes.For(message_bytes)),
        work_(kind.work.For(message_bytes)),
        depth_(kind.depth),
        spent_(message_bytes > kind.bytes ? Spent::kBytes : Spent::kNothing) {}
  Budget(const Budget&) = delete;  // a copy would be a second allowance for the same message
  Budget& operator=(const Budget&) = delete;

  [[nodiscard]] bool Memory(size_t bytes) { return Take(memory_, bytes, Spent::kMemory); }
  [[nodiscard]] bool Node() { return Take(nodes_, 1, Spent::kNodes); }
  [[nodiscard]] bool Work(size_t steps) { return Take(work_, steps, Spent::kWork); }

  /// One level deeper, for as long as it lives.
  class Level {
   public:
    explicit Level(Budget& budget) : budget_(budget), within_(budget.Take(budget.depth_, 1, Spent::kDepth)) {}
    ~Level() {
      if (within_) ++budget_.depth_;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    /// Whether the message may be as deep as this.
    bool ok() const { return within_; }

   private:
    Budget& budget_;
    const bool within_;
  };

  bool ok() const { return spent_ == Spent::kNothing; }
  /// Why the message is refused, once a charge has failed: its kind, its size and what it has too much of.
  Error error() const;

 private:
  enum class Spent : uint8_t { kNothing, kBytes, kMemory, kNodes, kWork, kDepth };

  bool Take(size_t& left, size_t amount, Spent what) {
    if (spent_ == Spent::kNothing && amount <= left) [[likely]] {
      left -= amount;
      return true;
    }
    if (spent_ == Spent::kNothing) spent_ = what;
    return false;
  }

  const BudgetKind& kind_;
  const size_t bytes_;
  size_t memory_;
  size_t nodes_;
  size_t work_;
  size_t depth_;
  Spent spent_;
};

}  // namespace fairlead::base
