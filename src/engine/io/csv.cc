#include <algorithm>

#include "engine/io/byte_stream.h"
#include "engine/io/sources.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

bool SplitCsvRow(std::string_view row, char separator, std::vector<std::string_view>& fields, std::string& scratch) {
  fields.clear();
  const char* at = row.data();
  const char* const end = at + row.size();
  if (row.find('"') == std::string_view::npos) {
    for (;;) {
      const void* const hit = std::memchr(at, separator, static_cast<size_t>(end - at));
      const char* const stop = hit == nullptr ? end : static_cast<const char*>(hit);
      fields.emplace_back(at, static_cast<size_t>(stop - at));
      if (hit == nullptr) return true;
      at = stop + 1;
    }
  }
  scratch.clear();
  scratch.reserve(row.size());  // never moves: fields point into it
  for (;;) {
    if (at < end && *at == '"') {
      ++at;
      const size_t begin = scratch.size();
      for (;;) {
        if (at == end) return false;
        if (*at == '"') {
          if (at + 1 == end || at[1] != '"') break;
          ++at;
        }
        scratch.push_back(*at++);
      }
      ++at;
      while (at < end && *at != separator) scratch.push_back(*at++);
      fields.emplace_back(scratch.data() + begin, scratch.size() - begin);
    } else {
      const char* const stop = std::find(at, end, separator);
      fields.emplace_back(at, static_cast<size_t>(stop - at));
      at = stop;
    }
    if (at == end) return true;
    ++at;
  }
}

namespace {

std::string FirstLine(const std::string& path) {
  const std::unique_ptr<ByteStream> stream = OpenStream(path, 0);
  std::string line;
  char piece[4096];
  while (line.size() < (1 << 20)) {
    const size_t got = stream->Read(piece, sizeof piece);
    line.append(piece, got);
    const size_t end = line.find('\n');
    if (end != std::string::npos) {
      line.resize(end);
      break;
    }
    if (got == 0) break;
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // byte order mark
  return line;
}

}  // namespace

CsvLayout PlanCsv(const std::string& given, const std::vector<FileSplit>& splits, const std::vector<std::string>& names,
                  size_t count, const CsvOptions& options) {
  CsvLayout layout;
  layout.separator = options.separator;
  layout.header = options.header;
  layout.count_bad = options.bad_rows == BadRows::kCount;
  layout.names = names;
  if (splits.empty() && !options.header) return layout;
  if (splits.empty()) {
    throw JobError(given +
                   " is empty and so has no header; a file that may be empty is read with CsvOptions{.header = false}");
  }
  const std::string& path = splits.front().path;
  std::string header, scratch;
  try {
    header = FirstLine(path);
  } catch (const TaskError& error) {
    throw JobError(error.what());
  }
  std::vector<std::string_view> fields;
  if (!SplitCsvRow(header, options.separator, fields, scratch)) {
    throw JobError(path + ": a quote in the first line is not closed");
  }
  layout.width = static_cast<int32_t>(fields.size());
  if (!names.empty() && names.size() != count) {
    throw JobError("reading " + path + ": " + std::to_string(names.size()) + " columns are named for a record of " +
                   std::to_string(count) + " fields");
  }
  for (size_t i = 0; i < count; ++i) {
    size_t column = i;
    if (!names.empty()) {
      if (!options.header) throw JobError("reading " + path + ": columns have names, but the options say no header");
      column = static_cast<size_t>(std::find(fields.begin(), fields.end(), names[i]) - fields.begin());
      if (column == fields.size()) throw JobError(path + " has no column " + names[i] + "; its header is: " + header);
    } else if (column >= fields.size()) {
      throw JobError(path + " has " + std::to_string(fields.size()) + " columns, a record needs " +
                     std::to_string(count));
    }
    layout.columns.push_back(static_cast<int32_t>(column));
  }
  return layout;
}

void ReadCsv(TaskContext& task, const FileSplit& split, const CsvLayout& layout,
             const std::function<int(std::span<const std::string_view> fields)>& use) {
  std::vector<std::string_view> fields;
  std::vector<std::string_view> wanted(layout.columns.size());
  std::string scratch;
  int64_t row = 0;
  bool first = layout.header && split.offset == 0;
  const auto bad = [&](std::string_view line, const std::string& why) {
    if (layout.count_bad) {
      ++task.metrics.bad_records;
      return;
    }
    throw TaskError(split.path + ", row " + std::to_string(row) + " of the part at byte " +
                    std::to_string(split.offset) + ": " + why + ": " + std::string(line.substr(0, 200)));
  };
  ReadLines(task, split, [&](std::string_view line) {
    ++row;
    if (first) {
      first = false;
      return;
    }
    if (line.empty()) return;
    if (!SplitCsvRow(line, layout.separator, fields, scratch)) return bad(line, "a quote is not closed");
    if (fields.size() != static_cast<size_t>(layout.width)) {
      return bad(line, std::to_string(fields.size()) + " fields instead of " + std::to_string(layout.width));
    }
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = fields[static_cast<size_t>(layout.columns[i])];
    const int failed = use(wanted);
    if (failed < 0) return;
    const size_t i = static_cast<size_t>(failed);
    bad(line, "\"" + std::string(wanted[i].substr(0, 60)) + "\" is no value for " +
                  (i < layout.names.size() ? "column " + layout.names[i] : "field " + std::to_string(failed)));
  });
}

}  // namespace fairlead::engine
