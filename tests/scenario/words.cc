#include "scenario/words.h"

#include <charconv>
#include <optional>
#include <sstream>

namespace fairlead::scenario {
namespace {

template <class T>
std::optional<T> Parse(std::string_view text) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The type that a unit counts, and how many of it.
struct Unit {
  const char* word;
  const char* type;
  int64_t factor;
};
constexpr Unit kUnits[] = {
    {"MiB", "memory-mb", 1}, {"GiB", "memory-mb", 1024}, {"core", "vcores", 1}, {"cores", "vcores", 1}};

const Unit* FindUnit(std::string_view word) {
  for (const Unit& unit : kUnits) {
    if (word == unit.word) return &unit;
  }
  return nullptr;
}

}  // namespace

Words::Words(std::string_view line) {
  std::istringstream in{std::string(line.substr(0, line.find('#')))};
  std::string word;
  while (in >> word) words_.push_back(word);
}

bool Words::Take(std::string_view word) {
  if (!error_.empty() || done() || words_[at_] != word) return false;
  ++at_;
  return true;
}

void Words::Need(std::string_view word) {
  if (!Take(word)) Fail("\"" + std::string(word) + "\"");
}

std::string Words::Next(const std::string& what) {
  if (error_.empty() && !done()) return words_[at_++];
  Fail(what);
  return "";
}

int64_t Words::Count(const std::string& what) {
  const auto value = Parse<int64_t>(Peek());
  if (!value) Fail(what);
  return std::stoll("0" + (value ? Next(what) : ""));
}

double Words::Number(const std::string& what) {
  const auto value = Parse<double>(Peek());
  if (!value) Fail(what);
  if (value) ++at_;
  return value.value_or(0);
}

base::Duration Words::Time() {
  const int64_t count = Count("a number of s or ms");
  if (Take("ms")) return base::Duration::Millis(count);
  Need("s");
  return base::Duration::Seconds(count);
}

std::map<std::string, int64_t> Words::Amounts() {
  std::map<std::string, int64_t> out;
  while (at_ + 1 < words_.size()) {
    const auto count = Parse<int64_t>(words_[at_]);
    const Unit* unit = FindUnit(words_[at_ + 1]);
    if (!count || unit == nullptr) break;
    out[unit->type] = *count * unit->factor;
    at_ += 2;
  }
  if (out.empty()) Fail("an amount such as 4 GiB 2 cores");
  return out;
}

model::Resources Words::Amount() {
  const auto amounts = Amounts();
  const auto of = [&](const char* type) {
    const auto it = amounts.find(type);
    return it == amounts.end() ? 0 : it->second;
  };
  return model::Resources::Of(of("memory-mb"), of("vcores"));
}

void Words::End() {
  if (!done()) Fail("the end of the line");
}

void Words::Fail(const std::string& what) {
  if (!error_.empty()) return;
  error_ =
      done() ? "wanted " + what + ", found the end of the line" : "wanted " + what + ", found \"" + words_[at_] + "\"";
}

std::string TextOf(const model::Resources& amount) {
  const int64_t memory = amount.memory_mib();
  std::string out = memory % 1024 == 0 ? std::to_string(memory / 1024) + " GiB" : std::to_string(memory) + " MiB";
  return out + " " + std::to_string(amount.vcores()) + (amount.vcores() == 1 ? " core" : " cores");
}

}  // namespace fairlead::scenario
