#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>

namespace fairlead::process::peers {

struct GoneLimits {
  size_t count_max = 0;
  size_t bytes_max = 0;
};

/// What a daemon still shows of those that have gone: so many, and so many bytes, at most. Over a limit the longest
/// gone of the address goes of which most is remembered, so that strangers push out strangers. Numbers are the owner's.
/// Single-threaded; cost O(log size), and O(addresses) for what is too much.
class GoneList {
 public:
  explicit GoneList(GoneLimits limits) : limits_(limits) {}

  /// `address`: where it came from, "" for what nobody knows of.
  void Add(uint32_t number, const std::string& address, size_t bytes);
  /// One that is not there is ignored.
  void Remove(uint32_t number);
  /// Removes what is to be forgotten next; nothing while no limit is exceeded.
  std::optional<uint32_t> TakeExcess();

  size_t size() const { return places_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  struct One {
    uint32_t number = 0;
    size_t bytes = 0;
  };
  struct Address {
    std::list<One> gone;  // the longest gone first
    size_t bytes = 0;
  };
  struct Place {
    std::map<std::string, Address>::iterator address;
    std::list<One>::iterator at;
  };

  const GoneLimits limits_;
  std::map<std::string, Address> addresses_;
  std::map<uint32_t, Place> places_;
  size_t bytes_ = 0;
};

}  // namespace fairlead::process::peers
