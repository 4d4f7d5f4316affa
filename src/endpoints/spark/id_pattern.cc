#include "endpoints/spark/id_pattern.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <optional>

namespace fairlead::endpoints::spark {

namespace {

constexpr size_t kWidthMax = 32;
constexpr std::string_view kDigits = "0123456789";

/// The number that a text begins with, which is cut off; nothing without one, or where it is too large.
std::optional<size_t> TakeNumber(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + digits, number);
  if (digits == 0 || read.ec != std::errc()) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

std::string Converted(const IdPattern::Argument& argument, char conversion) {
  const auto* number = std::get_if<int64_t>(&argument);
  if (number == nullptr) return std::get<std::string>(argument);
  if (conversion == 's' || conversion == 'd') return std::to_string(*number);
  const char format[] = {'%', 'l', 'l', conversion, 0};
  char text[32] = {};
  std::snprintf(text, sizeof text, format, static_cast<unsigned long long>(*number));
  return text;
}

bool NamesDirectory(const std::string& id) {
  const bool visible = std::ranges::all_of(id, [](char c) { return c > ' ' && c < 0x7f && c != '/' && c != '\\'; });
  return visible && id.find_first_not_of('.') != std::string::npos;
}

}  // namespace

base::Result<IdPattern> IdPattern::Parse(std::string_view pattern, const std::vector<Argument>& example) {
  const std::string whole(pattern);
  const auto refuse = [&](const char* why) { return base::Error{"\"" + whole + "\" " + why}; };
  IdPattern made;
  size_t next = 0;
  while (!pattern.empty()) {
    const size_t percent = std::min(pattern.find('%'), pattern.size());
    if (percent > 0) made.parts_.push_back({std::string(pattern.substr(0, percent))});
    pattern.remove_prefix(percent);
    if (pattern.empty()) break;
    pattern.remove_prefix(1);
    Part part;
    std::string_view indexed = pattern;
    const auto index = TakeNumber(indexed);
    const bool has_index = index && *index > 0 && indexed.starts_with('$');
    if (has_index) pattern = indexed.substr(1);
    for (; !pattern.empty() && (pattern[0] == '0' || pattern[0] == '-'); pattern.remove_prefix(1)) {
      (pattern[0] == '0' ? part.zeros : part.left) = true;
    }
    part.width = TakeNumber(pattern).value_or(0);
    if (part.width > kWidthMax) return refuse("has a width of more than 32");
    if ((part.zeros || part.left) && part.width == 0) return refuse("has a flag without a width");
    if (part.zeros && part.left) return refuse("fills up with zeros on the right");
    part.conversion = pattern.empty() ? '\0' : pattern[0];
    if (!pattern.empty()) pattern.remove_prefix(1);
    if (part.conversion == '%' && !has_index && part.width == 0) {
      made.parts_.push_back({"%"});
      continue;
    }
    if (part.conversion == 0 || std::string_view("sdxXo").find(part.conversion) == std::string_view::npos) {
      return refuse("has a conversion other than %s, %d, %x, %X, %o and %%");
    }
    part.argument = has_index ? *index - 1 : next++;
    if (part.argument >= example.size()) return refuse("has more conversions than there are values");
    const bool number = std::holds_alternative<int64_t>(example[part.argument]);
    if (!number && part.conversion != 's') return refuse("has a conversion to a number of what is none");
    if (part.conversion == 's' && part.zeros) return refuse("fills up a text with zeros");
    made.parts_.push_back(std::move(part));
  }
  if (!NamesDirectory(made.Format(example))) return refuse("gives ids with blanks or slashes, or of dots alone");
  return made;
}

std::string IdPattern::Format(const std::vector<Argument>& arguments) const {
  std::string id;
  for (const Part& part : parts_) {
    if (part.conversion == 0) {
      id += part.text;
      continue;
    }
    const std::string value = Converted(arguments[part.argument], part.conversion);
    const std::string fill(part.width > value.size() ? part.width - value.size() : 0, part.zeros ? '0' : ' ');
    id += part.left ? value + fill : fill + value;
  }
  return id;
}

base::Result<IdPattern> NumberedIds(std::string_view pattern) {
  auto made = IdPattern::Parse(pattern, {"20260131235959", int64_t{0}});
  if (!made) return made;
  // Numbers that are in use are passed over: each must give another id.
  if (made->Format({"", int64_t{0}}) == made->Format({"", int64_t{1}})) {
    return base::Error{"\"" + std::string(pattern) + "\" has no number, such as %04d, that tells one id from another"};
  }
  return made;
}

base::Result<IdPattern> WorkerIds(std::string_view pattern) {
  return IdPattern::Parse(pattern, {"20260131235959", "127.0.0.1", int64_t{35000}});
}

std::string IdDate(base::WallTime time) {
  const std::time_t seconds = time.ms / 1000;
  std::tm local = {};
  ::localtime_r(&seconds, &local);
  char date[16] = {};
  std::strftime(date, sizeof date, "%Y%m%d%H%M%S", &local);
  return date;
}

}  // namespace fairlead::endpoints::spark
