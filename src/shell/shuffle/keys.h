#pragma once

#include <string>
#include <vector>

#include "process/shuffle/config.h"
#include "shell/base/spark_keys.h"

// Values that only security has in its keys (config/keys.h), of the shuffle service and of Standalone daemons.

namespace fairlead::config {

template <>
struct KeyValue<wire::spark_transport::AuthVersion> {
  using Version = wire::spark_transport::AuthVersion;
  template <class Source>
  static void Read(Source& source, const char* key, Range /*range*/, Version& value) {
    const std::string text = source.String(key, Text(value, {}));
    if (text != "1" && text != "2") return source.Refuse(key, "write 1 or 2");
    value = text == "1" ? Version::kV1 : Version::kV2;
  }
  static std::string Text(Version value, Range /*range*/) { return value == Version::kV1 ? "1" : "2"; }
};

template <>
struct KeyValue<wire::spark_transport::AuthCipher> {
  using Cipher = wire::spark_transport::AuthCipher;
  template <class Source>
  static void Read(Source& source, const char* key, Range /*range*/, Cipher& value) {
    const std::string text = source.String(key, Text(value, {}));
    for (const Cipher known : {Cipher::kCtr, Cipher::kGcm}) {
      if (text == Text(known, {})) return void(value = known);
    }
    source.Refuse(key, "write AES/CTR/NoPadding or AES/GCM/NoPadding");
  }
  static std::string Text(Cipher value, Range /*range*/) {
    return value == Cipher::kCtr ? "AES/CTR/NoPadding" : "AES/GCM/NoPadding";
  }
};

}  // namespace fairlead::config

namespace fairlead::shell {

/// The keys of the shuffle service whose value is a field; the others are read in settings.cc.
void ReadShuffleKeys(SparkKeys& keys, process::shuffle::Config& config);

/// All keys that `fairlead shuffle` reads, and the node agent's spark_shuffle, for people.
std::vector<config::Setting> ShuffleKeys();

}  // namespace fairlead::shell
