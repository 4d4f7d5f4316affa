#include "shell/rm/segments.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.h"

namespace fairlead::shell {
namespace {

constexpr std::string_view kName = "rm.journal";
constexpr int64_t kQuietMs = 60'000;
constexpr uint64_t kBytesMax = uint64_t{4} << 30;
constexpr size_t kHead = 16;  // magic, length and checksum of the first record
constexpr uint64_t kFirstBatch = uint64_t{1} << 30;

/// N of "NAME.N"; none of another name.
std::optional<uint64_t> NumberOf(std::string_view file, std::string_view name) {
  if (!file.starts_with(name) || file.size() < name.size() + 2 || file[name.size()] != '.') return {};
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(file.data() + name.size() + 1, file.data() + file.size(), number);
  if (error != std::errc() || end != file.data() + file.size()) return {};
  return number;
}

/// The files that `path` means, in the order in which they were written.
base::Result<std::vector<std::string>> Files(env::Disk& disk, const std::string& path) {
  const auto there = disk.Stat(path);
  const auto missing = [&] {
    const bool gone = there.error().code == ENOENT;
    return base::Error{gone ? "there is no " + path : path + ": " + there.error().message, there.error().code};
  };
  const bool directory = there.ok() && there->kind == env::FileInfo::Kind::kDirectory;
  std::string name(kName), folder = path + "/";
  if (!directory) {
    const size_t slash = path.rfind('/');
    folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
    name = path.substr(folder.size());
    if (const size_t dot = name.rfind('.'); dot != std::string::npos && NumberOf(name, name.substr(0, dot))) {
      if (!there.ok()) return missing();
      return std::vector{path};
    }
  }
  const auto list = disk.List(folder.empty() ? "." : folder);
  if (!list) return there.ok() ? list.error() : missing();
  std::map<uint64_t, std::string> older;
  bool now = false;
  for (const env::FileInfo& file : *list) {
    if (const auto number = NumberOf(file.name, name)) older[*number] = folder + file.name;
    now |= file.name == name;
  }
  std::vector<std::string> found;
  for (auto& [number, file] : older) {
    if (number != older.begin()->first && !older.contains(number - 1)) {
      found.push_back(folder + name + "." + std::to_string(number - 1));  // which is not there
    }
    found.push_back(std::move(file));
  }
  if (now) found.push_back(folder + name);
  if (!found.empty()) return found;
  if (!there.ok()) return missing();
  return base::Error{path + " has no " + std::string(kName), ENOENT};
}

struct First {
  base::WallTime wall;
  std::string record_head;
};

/// Of the first batch alone: a header can hold a large state, which is passed over.
base::Result<std::optional<First>> FirstBatch(env::Disk& disk, const std::string& path) {
  const auto file = disk.OpenForReading(path);
  if (!file) return file.error().code == ENOENT ? base::Error{"it is not there"} : file.error();
  const auto size = (*file)->Size();
  if (!size) return size.error();
  std::string text;
  /// Up to `bytes` from `at` on, behind what was read before.
  const auto read = [&](uint64_t at, uint64_t bytes) -> base::Status {
    const size_t before = text.size();
    text.resize(before + std::min(bytes, *size - std::min(at, *size)));
    const auto got = (*file)->ReadAt(at, std::span(text).subspan(before));
    if (got) text.resize(before + *got);
    return got ? base::Status() : got.error();
  };
  if (const auto head = read(0, kHead); !head) return head.error();
  if (const auto known = JournalReader::CheckMagic(text); !known) return known.error();
  const uint64_t first = kHead + base::BigEndian<uint32_t>(std::string_view(text).substr(kHead - kRecordHead));
  if (text.size() < kHead || first > *size) return base::Error{"the journal ends inside its header"};
  text.clear();
  if (const auto head = read(first, kRecordHead); !head) return head.error();
  const uint64_t length = base::BigEndian<uint32_t>(text);
  if (length > kFirstBatch) return base::Error{"its first batch has an impossible length: it is damaged"};
  if (const auto batch = read(first + kRecordHead, length); !batch) return batch.error();
  JournalBatch batch;
  const auto found = JournalReader::OfRecords(text).Next(batch);
  if (!found) return found.error();
  if (*found) return std::optional(First{batch.wall, text.substr(0, kRecordHead)});
  if (first + kRecordHead + length < *size) return base::Error{"its first batch is damaged"};
  return std::optional<First>();
}

}  // namespace

bool Segments::Keeps(base::WallTime at) const { return at >= begins() && at.ms <= ends.ms + kQuietMs; }

std::span<const Segment> Segments::From(base::WallTime at) const {
  const auto later = std::find_if(files.rbegin(), files.rend(), [&](const Segment& one) { return one.begins <= at; });
  return std::span(files).last(later == files.rend() ? files.size() : static_cast<size_t>(later - files.rbegin()) + 1);
}

base::Result<OpenSegment> OpenSegment::Read(env::Disk& disk, const std::string& path) {
  auto bytes = disk.ReadFile(path, kBytesMax);
  if (!bytes) return bytes.error();
  auto held = std::make_unique<const std::string>(std::move(*bytes));
  auto reader = JournalReader::Begin(*held);
  if (!reader) return base::Error{path + ": " + reader.error().message};
  return OpenSegment{std::move(held), std::move(*reader)};
}

base::Result<Segments> FindSegments(env::Disk& disk, const std::string& path) {
  const auto files = Files(disk, path);
  if (!files) return files.error();
  Segments found;
  const auto leave_out = [&](const std::string& why) {
    found.left_out.push_back(why);
    found.behind = why;
  };
  for (const std::string& file : *files) {
    auto first = FirstBatch(disk, file);
    if (!first) leave_out(file + ": " + first.error().message);
    if (!first || !*first) continue;
    const auto size = disk.Stat(file);
    found.files.push_back({file, (*first)->wall, size.ok() ? size->size : 0, std::exchange(found.behind, {}),
                           std::move((*first)->record_head)});
  }
  for (; !found.files.empty(); found.files.pop_back()) {
    auto last = OpenSegment::Read(disk, found.files.back().path);
    if (last) {
      const auto end = last->reader.Last();
      found.ends = end ? end->wall : found.files.back().begins;
      return found;
    }
    leave_out(last.error().message);
  }
  if (!found.left_out.empty()) return base::Error{found.left_out.back()};
  return base::Error{path + " has nothing in it yet"};
}

}  // namespace fairlead::shell
