#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

// What drivers, workers and a stock Standalone Master said to each other (tests/oracles/spark-rpc).

namespace fairlead::oracle {

struct SparkMessage {
  std::string name;       // for people: the release and where in its recording
  std::string type;       // class of the message
  std::string direction;  // "driver_to_master", ...; empty: an example that was never sent
  std::string frame;      // the whole transport frame; empty for an example
  std::string stream;     // the Java object stream
  nlohmann::json content;
};

/// The bytes of pairs of hexadecimal digits.
std::string Unhex(const std::string& hex);
std::string Hex(const std::string& bytes);
/// Every message of one release: the frames in their order, then the examples.
base::Result<std::vector<SparkMessage>> ReadSparkMessages(const std::string& folder, const std::string& release);
/// Messages made at random, of the releases 3.5.5 and 4.3.0 (spark_made_messages.h).
base::Result<std::vector<nlohmann::json>> ReadMadeMessages(const std::string& folder, const std::string& release);
/// The class descriptions of one release, an array of objects with class, suid, flags, parent and fields.
base::Result<nlohmann::json> ReadSparkClasses(const std::string& folder, const std::string& release);

inline const std::vector<std::string> kSparkReleases = {"3.5.5", "4.1.4", "4.3.0"};

}  // namespace fairlead::oracle
