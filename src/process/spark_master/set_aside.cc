#include "process/spark_master/set_aside.h"

namespace fairlead::process::spark_master {

SetAsideRow SetRowAside(env::Store& store, env::Log& log, const BadRow& row) {
  SetAsideRow aside{"bad-" + row.table + "-" + row.key, row.why};
  log.Error("a stored row cannot be read and is set aside; the rest is served",
            {{"store", store.Name()}, {"table", kSetAsideTable}, {"row", aside.name}, {"why", row.why}});
  // Where this fails, the next start does it again.
  store.Commit({{kSetAsideTable, aside.name, row.value}, {row.table, row.key, std::nullopt}}, [](const auto&) {});
  return aside;
}

base::Result<std::vector<SetAsideRow>> LoadSetAside(env::Store& store) {
  const base::Result<std::vector<env::Row>> rows = store.Load(kSetAsideTable);
  if (!rows.ok()) return rows.error();
  std::vector<SetAsideRow> out;
  for (const env::Row& row : *rows) out.push_back({row.key, "set aside at an earlier start"});
  return out;
}

}  // namespace fairlead::process::spark_master
