#include "process/executor/shuffle_pusher.h"

#include <algorithm>

#include "base/bytes.h"
#include "tasks/map_outputs.h"
#include "tasks/merge_rule.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::process::executor {

namespace we = wire::engine;
namespace layout = wire::spark_shuffle;

namespace {

/// BlockPushNonFatalFailure.ReturnCode: after every other failure the client gives up.
constexpr uint8_t kMerged = 0;
constexpr uint8_t kCollision = 2;

constexpr uint64_t kIndexBytesMax = uint64_t{8} * (tasks::MapOutputTable::kMaxReduces + 1);

/// Empty: it is damaged.
std::vector<int64_t> ReadOffsets(std::string_view index) {
  if (!layout::ValidateIndex(index, std::nullopt).ok()) return {};
  std::vector<int64_t> offsets;
  for (; index.size() >= 8; index.remove_prefix(8)) offsets.push_back(base::BigEndian<int64_t>(index));
  return offsets;
}

}  // namespace

ShufflePusher::ShufflePusher(env::Loop& loop, env::Disk& disk, ShuffleClient& client,
                             std::vector<std::string> local_directories, Limits limits, Hooks hooks)
    : loop_(loop),
      client_(client),
      limits_(limits),
      source_(std::make_shared<const Source>(Source{disk, std::move(local_directories), limits})),
      hooks_(std::move(hooks)) {}

void ShufflePusher::Wrote(int32_t shuffle, int32_t map, int64_t task) {
  Shuffle& known = shuffles_[shuffle];
  if (!known.ordered) {
    known.unpushed.emplace_back(map, task);
    return;
  }
  Enqueue(known, map, task);
  Pump();
}

void ShufflePusher::Begin(we::PushShuffle order) {
  Shuffle& shuffle = shuffles_[order.shuffle];
  if (shuffle.ordered || order.mergers.empty()) return;
  shuffle.ordered = true;
  shuffle.order = std::move(order);
  for (const auto& [map, task] : std::exchange(shuffle.unpushed, {})) Enqueue(shuffle, map, task);
  Pump();
}

void ShufflePusher::Forget(int32_t shuffle) {
  shuffles_.erase(shuffle);
  std::erase_if(queue_,
                [&](const OutputRef& output) { return output->shuffle == shuffle && output != queue_.front(); });
}

void ShufflePusher::Enqueue(Shuffle& shuffle, int32_t map, int64_t task) {
  auto output = std::make_shared<Output>();
  output->shuffle = shuffle.order.shuffle;
  output->map = map;
  output->task = task;
  queue_.push_back(std::move(output));
}

void ShufflePusher::Pump() {
  if (reading_ || queue_.empty() || in_flight_ + limits_.read_bytes > limits_.in_flight_max) return;
  reading_ = true;
  const OutputRef output = queue_.front();
  auto piece = std::make_shared<Piece>();
  loop_.Offload([source = source_, output, piece] { ReadPiece(*source, output, *piece); },
                alive_([this, output, piece] { OnPiece(output, *piece); }));
}

/// Off the loop; nobody changes `output` meanwhile.
void ShufflePusher::ReadPiece(const Source& source, const OutputRef& output, Piece& piece) {
  const std::vector<std::string>& directories = source.local_directories;
  const Limits& limits = source.limits;
  env::Disk& disk = source.disk;
  piece.failed = true;
  piece.walked = output->walked;
  if (output->offsets.empty()) {
    const auto index = disk.ReadFile(
        layout::BlockPath(directories, layout::ShuffleIndexName(output->shuffle, output->task)), kIndexBytesMax);
    if (index.ok()) piece.offsets = ReadOffsets(*index);
  }
  const std::vector<int64_t>& offsets = output->offsets.empty() ? piece.offsets : output->offsets;
  if (offsets.size() < 2) return;
  const auto reduces = static_cast<int32_t>(offsets.size()) - 1;
  // Maps that end together begin with different partitions, so that their blocks seldom collide.
  const auto at = [&](int32_t walked) {
    return static_cast<int32_t>((int64_t{output->map} * 7919 % reduces + walked) % reduces);
  };
  const auto length = [&](int32_t reduce) {
    return offsets[static_cast<size_t>(reduce) + 1] - offsets[static_cast<size_t>(reduce)];
  };
  auto bytes = std::make_shared<std::string>();
  int64_t begin = 0;
  int64_t taken = 0;
  for (; piece.walked < reduces && taken < limits.read_bytes; ++piece.walked) {
    const int32_t reduce = at(piece.walked);
    const int64_t size = length(reduce);
    const bool pushed = size > 0 && size <= limits.block_bytes_max;
    const bool apart = taken > 0 && (reduce == 0 || size > limits.block_bytes_max);  // what follows lies elsewhere
    if (apart) break;
    if (!pushed) continue;
    if (taken == 0) begin = offsets[static_cast<size_t>(reduce)];
    piece.blocks.push_back({output, reduce, bytes, static_cast<size_t>(taken), static_cast<size_t>(size), 0});
    taken += size;
  }
  bytes->resize(static_cast<size_t>(taken));
  piece.failed = false;
  if (taken == 0) return;
  const auto file =
      disk.OpenForReading(layout::BlockPath(directories, layout::ShuffleDataName(output->shuffle, output->task)));
  const auto read = file.ok() ? (*file)->ReadAt(static_cast<uint64_t>(begin), {bytes->data(), bytes->size()})
                              : base::Result<size_t>(file.error());
  piece.failed = !read.ok() || *read != bytes->size();
}

void ShufflePusher::OnPiece(const OutputRef& output, Piece& piece) {
  reading_ = false;
  if (!piece.offsets.empty()) output->offsets = std::move(piece.offsets);
  output->walked = piece.walked;
  output->read = piece.failed || std::cmp_greater_equal(piece.walked + 1, output->offsets.size());
  const bool forgotten = !shuffles_.contains(output->shuffle);
  if (output->read || forgotten) queue_.pop_front();
  if (!piece.failed && !forgotten) {
    for (const Block& block : piece.blocks) in_flight_ += static_cast<int64_t>(block.length);
    output->open += piece.blocks.size();
    Push(std::move(piece.blocks));
  }
  EndIfDone(output);
  Pump();
}

/// In runs for one service each.
void ShufflePusher::Push(std::vector<Block> blocks) {
  if (blocks.empty()) return;
  const auto known = shuffles_.find(blocks.front().output->shuffle);
  std::map<size_t, std::vector<Block>> by_merger;
  for (Block& block : blocks) {
    if (known == shuffles_.end()) {
      End(block);
      continue;
    }
    const Shuffle& shuffle = known->second;
    const auto reduces = static_cast<int32_t>(block.output->offsets.size()) - 1;
    const size_t merger = tasks::MergerOf(block.reduce, reduces, shuffle.order.mergers.size());
    if (shuffle.given_up.contains(merger)) {
      End(block);
    } else {
      by_merger[merger].push_back(std::move(block));
    }
  }
  for (auto& [merger, own] : by_merger) {
    const we::PushShuffle& order = known->second.order;
    const env::Endpoint service{order.mergers[merger].host, static_cast<uint16_t>(order.mergers[merger].port)};
    std::vector<ShuffleClient::PushedBlock> pushed;
    for (const Block& block : own) pushed.push_back({block.output->map, block.reduce, block.view()});
    auto kept = std::make_shared<std::vector<Block>>(std::move(own));
    client_.Push(service, order.app_attempt, order.shuffle, pushed,
                 alive_([this, kept, merger = merger](size_t i, const base::Result<uint8_t>& code) {
                   OnAnswer((*kept)[i], merger, code);
                   (*kept)[i].bytes.reset();
                   Pump();
                 }));
  }
}

void ShufflePusher::OnAnswer(const Block& block, size_t merger, const base::Result<uint8_t>& code) {
  const auto known = shuffles_.find(block.output->shuffle);
  if (known == shuffles_.end()) return End(block);
  const we::Merger& service = known->second.order.mergers[merger];
  if (code.ok() && hooks_.answered) {
    hooks_.answered({service.host, static_cast<uint16_t>(service.port)}, block.output->shuffle,
                    {block.output->map, block.reduce, block.view()}, *code);
  }
  if (code.ok() && *code == kMerged) return End(block);
  const bool worth_it =
      code.ok() ? *code == kCollision : code.error().code == static_cast<int>(FetchError::kConnection);
  if (worth_it && block.tries + 1 < limits_.tries) {
    Block again = block;
    ++again.tries;
    loop_.After(limits_.retry_wait * (int64_t{1} << block.tries),
                alive_([this, again = std::move(again)] { Push({again}); }));
    return;
  }
  // One block collides too often; else nobody takes more of the shuffle there.
  if (!code.ok() || *code != kCollision) known->second.given_up.insert(merger);
  End(block);
}

void ShufflePusher::End(const Block& block) {
  in_flight_ -= static_cast<int64_t>(block.length);
  --block.output->open;
  EndIfDone(block.output);
}

void ShufflePusher::EndIfDone(const OutputRef& output) {
  if (!output->read || output->open > 0 || !shuffles_.contains(output->shuffle)) return;
  output->read = false;  // told once
  hooks_.done({output->shuffle, output->map});
}

}  // namespace fairlead::process::executor
