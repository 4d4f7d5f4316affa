#include "scheduler/yarn_capacity/asynchronous.h"

#include <algorithm>
#include <variant>

#include "base/rng.h"
#include "scheduler/yarn_capacity/assign.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;

namespace {

constexpr int64_t kShortestPauseMs = 5;   // schedule-asynchronously.scheduling-interval-ms
constexpr int64_t kLongestPauseMs = 100;  // what Hadoop's thread sleeps while it has nothing to do

/// Heartbeats without news, measures and passes change nothing that a pass would see.
bool BringsNews(const ms::Event& event) {
  if (const auto* beat = std::get_if<ms::NodeUpdated>(&event)) return !beat->completed.empty();
  if (const auto* call = std::get_if<ms::Allocate>(&event)) return !call->asks.empty() || !call->releases.empty();
  return !std::holds_alternative<ms::Pass>(event) && !std::holds_alternative<ms::NodeMeasured>(event) &&
         !std::holds_alternative<ms::UseRecalled>(event) && !std::holds_alternative<ms::ProposalPass>(event) &&
         !std::holds_alternative<ms::Acquired>(event) && !std::holds_alternative<ms::NodeWindows>(event) &&
         !std::holds_alternative<ms::RunTimesRecalled>(event);
}

bool SomethingIsAskedFor(const Books& books) {
  const Usage& all = books.queues[books.queues.root()].usage;
  for (PartitionId id{0}; id.value < all.partitions(); ++id.value) {
    if (!all.pending(id).IsZero() || !all.reserved(id).IsZero()) return true;
  }
  return false;
}

}  // namespace

void NoteForPasses(Books& books, const ms::Event& event) {
  if (!books.file_asynchronous || !books.config.timed_passes || !BringsNews(event)) return;
  books.passes.pause_ms = kShortestPauseMs;
  books.passes.due_ms = std::min(books.passes.due_ms, books.now_ms + kShortestPauseMs);
}

void RunProposalPass(Books& books) {
  std::vector<NodeIndex> nodes = books.nodes.InHashOrder();
  base::Rng draw(static_cast<uint64_t>(books.config.seed) + books.passes.count++);
  if (!nodes.empty()) {
    std::rotate(nodes.begin(), nodes.begin() + static_cast<int64_t>(draw.Below(nodes.size())), nodes.end());
  }
  const size_t effects = books.out->size();
  Apply(books, ms::ProposalPass{std::move(nodes)});
  ProposalPasses& passes = books.passes;
  passes.pause_ms = books.out->size() > effects
                        ? kShortestPauseMs
                        : std::min(std::max(passes.pause_ms, kShortestPauseMs) * 2, kLongestPauseMs);
  passes.due_ms = SomethingIsAskedFor(books) ? books.now_ms + passes.pause_ms : INT64_MAX;
}

}  // namespace fairlead::scheduler::yarn_capacity
