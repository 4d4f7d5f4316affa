// Every message of every protocol: what can be read must come out of the encoder, and be read again, unchanged.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "wire/hadoop_rpc/ha_service.h"
#include "wire/hadoop_rpc/rpc.h"
#include "wire/hadoop_rpc/security.h"
#include "wire/yarn/admin.h"
#include "wire/yarn/client.h"
#include "wire/yarn/container_manager.h"
#include "wire/yarn/master.h"
#include "wire/yarn/records.h"
#include "wire/yarn/tokens.h"
#include "wire/yarn/tracker.h"

namespace {

using fairlead::wire::proto::MessageEntry;

std::vector<MessageEntry> AllMessages() {
  using namespace fairlead::wire;
  std::vector<MessageEntry> all;
  for (const auto messages :
       {hadoop_rpc::RpcMessages(), hadoop_rpc::SecurityMessages(), hadoop_rpc::HaServiceMessages(),
        yarn::RecordsMessages(), yarn::ClientMessages(), yarn::MasterMessages(), yarn::ContainerManagerMessages(),
        yarn::TrackerMessages(), yarn::AdminMessages(), yarn::TokensMessages()}) {
    all.insert(all.end(), messages.begin(), messages.end());
  }
  return all;
}

}  // namespace

/// The first two bytes choose the message.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<MessageEntry> kAll = AllMessages();
  if (size < 2) return 0;
  const MessageEntry& entry = kAll[(data[0] << 8 | data[1]) % kAll.size()];
  const auto once = entry.recode({reinterpret_cast<const char*>(data) + 2, size - 2});
  if (!once.ok()) return 0;
  const auto twice = entry.recode(*once);
  FL_CHECK(twice.ok() && *twice == *once, "encoding is not stable");
  FL_CHECK(entry.to_json(*once).ok(), "cannot be printed");
  return 0;
}
