#include "config/machine_list.h"

#include <arpa/inet.h>

#include <algorithm>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <charconv>

namespace fairlead::config {

namespace {
constexpr int kBits = 128;
constexpr int kBitsBeforeIpv4 = 96;
}  // namespace

MachineList MachineList::Everywhere() {
  MachineList list;
  list.everywhere_ = true;
  return list;
}

/// `bits`: how many the kind of address has.
bool MachineList::ReadAddress(const std::string& text, Address& out, int& bits) {
  out.fill(0);
  if (::inet_pton(AF_INET, text.c_str(), out.data() + kBitsBeforeIpv4 / 8) == 1) {
    out[10] = out[11] = 0xff;
    bits = kBits - kBitsBeforeIpv4;
    return true;
  }
  bits = kBits;
  return ::inet_pton(AF_INET6, text.c_str(), out.data()) == 1;
}

base::Result<MachineList> MachineList::Parse(std::string_view text, const ResolveHost& resolve) {
  std::vector<std::string> entries;
  boost::algorithm::split(entries, text, [](char c) { return c == ','; });
  for (std::string& entry : entries) boost::algorithm::trim(entry);
  std::erase(entries, "");
  if (entries.size() == 1 && entries[0] == "*") return Everywhere();
  MachineList list;
  for (const std::string& entry : entries) {
    Range range;
    int bits = 0;
    if (const size_t slash = entry.find('/'); slash != std::string::npos) {
      const char* const end = entry.data() + entry.size();
      int prefix = -1;
      const auto read = std::from_chars(entry.data() + slash + 1, end, prefix);
      if (!ReadAddress(entry.substr(0, slash), range.first, bits) || read.ec != std::errc() || read.ptr != end ||
          prefix < 0 || prefix > bits) {
        return base::Error{"'" + entry + "' is no range of addresses; write ADDRESS/BITS, such as 10.0.0.0/8"};
      }
      range.bits = kBits - bits + prefix;
      list.ranges_.push_back(range);
      continue;
    }
    std::vector<std::string> addresses{entry};
    if (!ReadAddress(entry, range.first, bits)) addresses = resolve(entry);
    range.bits = kBits;
    for (const std::string& address : addresses) {
      if (ReadAddress(address, range.first, bits)) list.ranges_.push_back(range);
    }
  }
  return list;
}

bool MachineList::Includes(const std::string& address) const {
  if (everywhere_) return true;
  Address at;
  int bits = 0;
  if (!ReadAddress(address, at, bits)) return false;
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    const auto whole = static_cast<size_t>(range.bits / 8);
    if (!std::equal(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(whole), range.first.begin())) return false;
    const int rest = range.bits % 8;
    return rest == 0 || ((at[whole] ^ range.first[whole]) >> (8 - rest)) == 0;
  });
}

}  // namespace fairlead::config
