#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/capacity_change.h"
#include "config/hadoop_conf.h"
#include "model/queues.h"

namespace fairlead::config {

/// Reads the keys of capacity-scheduler.xml over those of yarn-site.xml, by full name, as Hadoop's
/// CapacitySchedulerConfiguration does. Never fails: what cannot be read is a problem of the queue (or of the whole)
/// that the scheduler refuses when it comes to it, as Hadoop does. The resource types must have been registered before.
/// O(keys log keys).
/// `unknown` gets the keys below yarn.scheduler.capacity. and the preemption monitor's that nothing here reads.
model::CapacityQueues ReadCapacityQueues(const std::map<std::string, std::string>& keys,
                                         std::vector<std::string>* unknown = nullptr);

/// The same, with what every profile knows of queues: names, lists of users, largest containers.
model::QueueTree CapacityTree(const std::map<std::string, std::string>& keys,
                              std::vector<std::string>* unknown = nullptr);

/// CapacityTree of `text`, a capacity-scheduler.xml, over the keys of `site`. An error is one of XML; what cannot be
/// honoured is a warning that names the key.
base::Result<model::QueueTree> ParseCapacityFile(std::string_view text, const std::string& file, const HadoopConf& site,
                                                 std::vector<std::string>& warnings);

/// What is wrong with single values of such a file, "FILE:LINE:COLUMN: KEY ...; what to write", by their keys and at
/// most 200: for whom the queues were refused, which Hadoop does at the first of them. Queues that no queue lists are
/// left out, as nobody reads them. O(keys log keys).
std::vector<std::string> CapacityFaults(std::string_view text, const std::string& file, const HadoopConf& site);

/// The keys of `text`, a capacity-scheduler.xml, as they are written there. An error is one of XML.
base::Result<Properties> CapacityProperties(std::string_view text, const std::string& file);

/// ParseCapacityFile of a file with these keys, which warnings call `origin`.
model::QueueTree CapacityTreeOf(const Properties& properties, const std::string& origin, const HadoopConf& site,
                                std::vector<std::string>& warnings);

/// Names a file with the mapping rules, which counts where the format is json and mapping-rule-json has none.
inline constexpr char kMappingRuleFile[] = "yarn.scheduler.capacity.mapping-rule-json-file";

/// Puts the rules of such a file, where `keys` over those of `site` name one that counts, into `keys` as
/// mapping-rule-json, so that what is stored and compared has them. `read` reads the file; the error names it.
base::Status IncludeMappingRules(Properties& keys, const HadoopConf& site, const FileReader& read);

/// One value of `capacity` or `maximum-capacity`, of a queue or of a node label there.
model::CapacityValue ReadCapacity(const std::string& key, const std::string& text);
model::CapacityValue ReadMaximumCapacity(const std::string& key, const std::string& text);

/// Why a value is refused: Hadoop's sentence, then which key it is and what to write.
std::string ValueRefusal(const std::string& hadoop, const std::string& key, const std::string& text,
                         const std::string& want);

}  // namespace fairlead::config
