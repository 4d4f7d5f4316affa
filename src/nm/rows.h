#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/stored.h"
#include "model/nm.h"

namespace fairlead::nm {

/// Tables of the node agent's store that the core writes (model::nm::Persist) and gets back with model::nm::Started.
inline constexpr char kAppsTable[] = "nm_apps";
inline constexpr char kContainersTable[] = "nm_containers";
inline constexpr char kResourcesTable[] = "nm_resources";
inline constexpr char kSpentTokensTable[] = "nm_spent_tokens";

using EffectSink = std::vector<model::nm::Effect>;

/// Rows of the node agent's store that are written together, in this order.
class Rows {
 public:
  Rows() = default;
  explicit Rows(const model::nm::ContainerRecord& one) { Put(one); }
  void Put(const model::nm::AppRecord& app) { Put(kAppsTable, ToString(app.id), app); }
  void Put(const model::nm::ContainerRecord& one) { Put(kContainersTable, ToString(one.spec.id), one); }
  void Put(const model::nm::ResourceRecord& one) { Put(kResourcesTable, std::to_string(one.number), one); }
  void Put(const model::nm::SpentToken& token) { Put(kSpentTokensTable, ToString(token.container), token); }
  void Remove(const char* table, std::string key) { rows_.push_back({table, std::move(key), {}, true}); }

  /// As one transaction; where `txn` is not 0, Persisted with it must follow.
  void Commit(uint64_t txn, EffectSink& out) {
    if (txn != 0 || !rows_.empty()) out.push_back(model::nm::Persist{txn, std::exchange(rows_, {})});
  }

 private:
  template <class Record>
  void Put(const char* table, std::string key, const Record& record) {
    rows_.push_back({table, std::move(key), base::EncodeStored(record), false});
  }

  std::vector<model::StoreRow> rows_;
};

}  // namespace fairlead::nm
