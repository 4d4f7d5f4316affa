#include "base/state.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/slot_table.h"

namespace fairlead::base {
namespace {

constexpr BudgetKind kKind = DecodedKind("a value of tests", 1 << 20, 1024);

struct Inner {
  int32_t number = 0;
  std::string text;
  FL_STATE(number, text)
};

class Part {
 public:
  void Fill() {
    numbers_ = {3, 1, 2};
    bits_ = {true, false, true};
    inner_[7] = {5, "five"};
    by_name_ = {{"b", 2}, {"a", 1}};
    names_ = {"x", "y"};
    maybe_ = Inner{1, "one"};
    owned_ = std::make_unique<Inner>(Inner{2, "two"});
    either_ = std::string("text");
    pairs_.emplace_back(4, 0.1);
    wide_ = static_cast<unsigned __int128>(9) << 70;
    table_.Add(77, 3);
    places_[1] = Index<Inner>{8};
    last_ = &inner_[7];
  }
  std::string last() const { return last_ == nullptr ? "" : last_->text; }
  bool Knows(uint32_t slot) const {
    return table_.Find(77, [&](uint32_t other) { return other == slot; }) == slot;
  }
  void AfterRead() { last_ = inner_.empty() ? nullptr : &inner_.rbegin()->second; }
  FL_STATE_PART(numbers_, bits_, inner_, by_name_, names_, maybe_, owned_, either_, pairs_, wide_, table_, places_)

 private:
  std::vector<int64_t> numbers_;
  std::vector<bool> bits_;
  std::map<int32_t, Inner> inner_;
  std::unordered_map<std::string, int32_t> by_name_;
  std::set<std::string> names_;
  std::optional<Inner> maybe_;
  std::unique_ptr<Inner> owned_;
  std::variant<int64_t, std::string> either_;
  std::deque<std::pair<int32_t, double>> pairs_;
  unsigned __int128 wide_ = 0;
  SlotTable table_;
  Index<Inner> places_[2];
  Inner* last_ = nullptr;  // of inner_
};

TEST(State, WhatIsReadIsWhatWasWritten) {
  Part part;
  part.Fill();
  std::string bytes;
  WriteState(bytes, part);
  Part read;
  Budget budget(kKind, bytes.size());
  ByteReader in(bytes, budget);
  ReadState(in, read);
  ASSERT_TRUE(in.done());
  std::string again;
  WriteState(again, read);
  EXPECT_EQ(again, bytes);
  EXPECT_EQ(read.last(), "five");
  EXPECT_TRUE(read.Knows(3));
  EXPECT_FALSE(read.Knows(4));
}

TEST(State, WhatIsCutOrAlteredHarmsNobody) {
  Part part;
  part.Fill();
  std::string bytes;
  WriteState(bytes, part);
  for (size_t size = 0; size < bytes.size(); ++size) {
    Part read;
    Budget budget(kKind, bytes.size());
    ByteReader in(std::string_view(bytes).substr(0, size), budget);
    ReadState(in, read);
    EXPECT_FALSE(in.done()) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string altered = bytes;
    altered[at] = static_cast<char>(altered[at] ^ 0xff);
    Part read;
    Budget budget(kKind, bytes.size());
    ByteReader in(altered, budget);
    ReadState(in, read);
  }
}

struct LeavesOneOut {
  int64_t first = 0;
  std::string forgotten;
  int64_t last = 0;
  FL_STATE(first, last)
};

TEST(StateDeathTest, AMemberThatIsLeftOutIsFound) {
  std::string bytes;
  EXPECT_DEATH(WriteState(bytes, LeavesOneOut{}), "leaves out the member before last");
}

}  // namespace
}  // namespace fairlead::base
