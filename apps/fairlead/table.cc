#include "table.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/text.h"

namespace fairlead::apps {

namespace {

constexpr size_t kWidestCell = 64;

/// Characters of UTF-8.
size_t Characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

}  // namespace

std::string Shortened(std::string_view text, size_t columns) {
  if (Characters(text) <= columns) return std::string(text);
  size_t end = 0;
  for (; columns > 1; --columns) end += std::max<size_t>(1, base::Utf8Length(text.substr(end)));
  return std::string(text.substr(0, end)) + "…";
}

void Table::Add(std::vector<std::string> row) {
  for (std::string& cell : row)
    cell = Shortened(base::VisibleText(cell), &cell == &row.back() ? std::string::npos : kWidestCell);
  rows_.push_back(std::move(row));
}

std::vector<std::string> Table::Lines() {
  for (const auto& row : rows_) {
    widths_.resize(std::max(widths_.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], Characters(row[i]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths_[i] - Characters(row[i]) + 2, ' ');
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void Table::Print() {
  for (const std::string& line : Lines()) std::puts(line.c_str());
  rows_.clear();
}

std::string MemoryText(int64_t mib) {
  char buffer[32];
  if (mib >= 1024 && mib % 1024 != 0) {
    std::snprintf(buffer, sizeof buffer, "%.1f GiB", static_cast<double>(mib) / 1024);
  } else if (mib >= 1024) {
    std::snprintf(buffer, sizeof buffer, "%lld GiB", static_cast<long long>(mib / 1024));
  } else {
    std::snprintf(buffer, sizeof buffer, "%lld MiB", static_cast<long long>(mib));
  }
  return buffer;
}

std::string Fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string SizeText(int64_t mib, int64_t vcores) { return MemoryText(mib) + ", " + std::to_string(vcores) + " vc"; }

std::string DurationText(int64_t ms) {
  const auto seconds = static_cast<long long>(std::max<int64_t>(ms, 0) / 1000);
  char buffer[48];
  if (seconds >= 3600) {
    std::snprintf(buffer, sizeof buffer, "%lldh %lldm", seconds / 3600, seconds / 60 % 60);
  } else if (seconds >= 60) {
    std::snprintf(buffer, sizeof buffer, "%lldm %llds", seconds / 60, seconds % 60);
  } else {
    std::snprintf(buffer, sizeof buffer, "%llds", seconds);
  }
  return buffer;
}

std::string TimeText(int64_t ms_since_epoch) {
  if (ms_since_epoch <= 0) return "-";
  const std::time_t seconds = ms_since_epoch / 1000;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S", &parts);
  return buffer;
}

}  // namespace fairlead::apps
