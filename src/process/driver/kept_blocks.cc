#include "process/driver/kept_blocks.h"

#include <algorithm>

namespace fairlead::process::driver {

namespace we = wire::engine;

void KeptBlocks::Ask(uint32_t asker, const we::AskKept& ask, const std::vector<we::Place>& holders) {
  if (holders.empty()) return send_(asker, we::KeptPlace{ask.token, false, {}, 0, 0});
  const auto key = [&](const we::Place& holder) { return Key{ask.dataset, ask.partition, holder.executor}; };
  const auto ready = std::find_if(holders.begin(), holders.end(), [&](const we::Place& holder) {
    const auto found = blocks_.find(key(holder));
    return found != blocks_.end() && found->second.published;
  });
  const we::Place& holder = ready == holders.end() ? holders.front() : *ready;
  const auto [found, fresh] = blocks_.try_emplace(key(holder));
  Block& block = found->second;
  if (block.published) return Answer(block, asker, ask.token);
  block.waiting.emplace_back(asker, ask.token);
  if (!fresh) return;
  block.place = holder;
  send_(holder.executor, we::PublishKept{ask.dataset, ask.partition});
}

void KeptBlocks::OnPublished(uint32_t holder, const we::KeptPublished& published) {
  const auto found = blocks_.find({published.dataset, published.partition, holder});
  if (found == blocks_.end() || found->second.published) return;
  Block& block = found->second;
  if (!published.good || published.bytes < 0) {
    AnswerUnknown(block);
    blocks_.erase(found);
    return;
  }
  block.published = true;
  block.bytes = published.bytes;
  block.checksum = published.checksum;
  for (const auto& [asker, token] : block.waiting) Answer(block, asker, token);
  block.waiting.clear();
}

void KeptBlocks::OnChanged(uint32_t holder, int32_t dataset, int32_t partition) {
  const auto found = blocks_.find({dataset, partition, holder});
  if (found == blocks_.end()) return;
  AnswerUnknown(found->second);
  blocks_.erase(found);
}

void KeptBlocks::OnLost(uint32_t executor) {
  std::erase_if(blocks_, [&](const auto& entry) {
    if (std::get<2>(entry.first) != executor) return false;
    AnswerUnknown(entry.second);
    return true;
  });
}

void KeptBlocks::Forget(int32_t dataset) {
  std::erase_if(blocks_, [&](const auto& entry) {
    if (std::get<0>(entry.first) != dataset) return false;
    AnswerUnknown(entry.second);
    return true;
  });
}

void KeptBlocks::Answer(const Block& block, uint32_t asker, uint64_t token) {
  send_(asker, we::KeptPlace{token, true, block.place, block.bytes, block.checksum});
}

void KeptBlocks::AnswerUnknown(const Block& block) {
  for (const auto& [asker, token] : block.waiting) send_(asker, we::KeptPlace{token, false, {}, 0, 0});
}

}  // namespace fairlead::process::driver
