#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::config {

/// The addresses of a machine by its name, as texts; none where nobody knows it. May block.
using ResolveHost = std::function<std::vector<std::string>(const std::string& name)>;

/// Machines: "*" alone, or addresses, ranges ("10.0.0.0/8") and names between commas
/// (org.apache.hadoop.util.MachineList).
class MachineList {
 public:
  static MachineList Everywhere();
  /// Names are resolved here, once, as Hadoop does it; one that nobody knows stands for no machine. An error names a
  /// range that cannot be read.
  static base::Result<MachineList> Parse(std::string_view text, const ResolveHost& resolve);
  /// `address`: "10.1.2.3". O(machines).
  bool Includes(const std::string& address) const;

 private:
  using Address = std::array<uint8_t, 16>;  // of IPv6; one of IPv4 as ::ffff:a.b.c.d
  struct Range {
    Address first{};
    int bits = 0;  // that count
  };
  static bool ReadAddress(const std::string& text, Address& out, int& bits);

  bool everywhere_ = false;
  std::vector<Range> ranges_;
};

}  // namespace fairlead::config
