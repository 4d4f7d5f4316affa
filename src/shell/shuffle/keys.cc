#include "shell/shuffle/keys.h"

#include <algorithm>

namespace fairlead::shell {
namespace {

using process::shuffle::Config;
using Core = fairlead::shuffle::Config;
using Merges = fairlead::shuffle::MergeLimits;
using Row = config::Key<Config, SparkKeys>;
using Security = endpoints::shuffle::SecurityConfig;
using Session = endpoints::shuffle::SessionConfig;

template <auto Field>
consteval Row Secured(const char* name, const char* meaning) {
  return SparkKeyOf<&Config::session, &Session::security, Field>(name, meaning);
}

consteval Row By(const char* name, const char* fallback, const char* meaning) {
  return config::ReadByHand<Config, SparkKeys>(name, fallback, meaning);
}

constexpr int64_t kPortMax = 65535;
constexpr int64_t kEncryptedBlockMax = 8 << 20;

constexpr Row kKeys[] = {
    SparkKeyOf<&Config::listen, &env::Endpoint::port>(
        "spark.shuffle.service.port", "port; `--port`; of a node agent yarn-site.xml has it", {0, kPortMax}),
    By("spark.local.dir", "none", "directories below which executors' files are, with commas between; `--local-roots`"),
    By("spark.shuffle.io.serverThreads", "one a core, at most 8",
       "threads; `--io-threads`; with `--answer-as 3.5` one"),
    SparkKeyOf<&Config::core, &Core::keep_rdd_blocks>("spark.shuffle.service.fetch.rdd.enabled",
                                                      "blocks of RDDs outlive their executor"),
    SparkBytesOf<&Config::index_cache_bytes>("spark.shuffle.service.index.cache.size",
                                             "memory of index files, merged ones too; 1m at least", {0, INT64_MAX}),
    SparkKeyOf<&Config::connection_idle_max>("spark.network.timeout",
                                             "seconds: a connection on which nothing moves for so long is closed",
                                             {.unit = kSparkSecond}),
    SparkKeyOf<&Config::connection_idle_max>("spark.shuffle.io.connectionTimeout", "goes before spark.network.timeout",
                                             {.unit = kSparkSecond})
        .Shown("as spark.network.timeout"),
    Secured<&Security::authenticate>("spark.authenticate", "connections show that they have the secret"),
    By("spark.authenticate.secret", "the variable _SPARK_AUTH_SECRET",
       "that secret; applications on YARN bring theirs"),
    Secured<&Security::crypto>("spark.network.crypto.enabled", "by Spark's own handshake, and all is encrypted"),
    Secured<&Security::version>("spark.network.crypto.authEngineVersion", "of that handshake: 1 or 2"),
    Secured<&Security::cipher>("spark.network.crypto.cipher", "cipher after that handshake; or AES/GCM/NoPadding"),
    Secured<&Security::sasl_fallback>("spark.network.crypto.saslFallback", "SASL is taken instead of it"),
    Secured<&Security::always_encrypt>("spark.network.sasl.serverAlwaysEncrypt", "with SASL only encrypted"),
    SparkBytesOf<&Config::session, &Session::security, &Security::sasl_block_max>(
        "spark.network.sasl.maxEncryptedBlockSize", "bytes that are encrypted together with SASL, 8m at most",
        {1, kEncryptedBlockMax}),
    By("spark.ssl.rpc.*", "false",
       "`.enabled`: TLS of all connections; `.keyStore`, `.keyStorePassword`, or `.privateKey`, `.privateKeyPassword`, "
       "`.certChain`; `.protocol`, `.enabledAlgorithms`"),
    By("spark.ssl.*", "false", "`.enabled`: the same keys count where `spark.ssl.rpc.*` does not name them"),
    By("spark.ssl.standalone.*", "false",
       "of `fairlead shuffle`: `.enabled`: [its page is HTTPS](tls.md#the-shuffle-service); `.keyStore`, "
       "`.keyStorePassword`, `.keyPassword`, `.enabledAlgorithms`"),
    By("spark.fairlead.tls.certificate", "none",
       "PEM file in the place of that store, which makes its page HTTPS, too"),
    By("spark.fairlead.tls.key", "none", "and the file of its key"),
    By("spark.shuffle.push.server.mergedShuffleFileManagerImpl", "does not merge",
       "`org.apache.spark.network.shuffle.RemoteBlockPushResolver` [merges](shuffle.md#push-merged-shuffle)"),
    SparkBytesOf<&Config::merge_limits, &Merges::chunk_bytes_min>(
        "spark.shuffle.push.server.minChunkSizeInMergedShuffleFile",
        "a chunk ends with the block that brings it to so many bytes; 0: each block is one", {0, INT64_MAX}),
    SparkKeyOf<&Config::merge_limits, &Merges::write_failures_max>(
        "spark.shuffle.push.server.ioExceptionsThresholdDuringMerge",
        "after more failed writes a partition is given up"),
    SparkBytesOf<&Config::merge_limits, &Merges::memory_bytes>("fairlead.shuffle.merge.memory", "memory of all merges",
                                                               {1 << 20, INT64_MAX}),
    SparkKeyOf<&Config::merge_limits, &Merges::partitions_per_app>("fairlead.shuffle.merge.partitions-per-application",
                                                                   "partitions of one application merged at a time"),
};

}  // namespace

void ReadShuffleKeys(SparkKeys& keys, Config& config) {
  config::ReadKeys<Config>(keys, kKeys, config);
  config.index_cache_bytes = std::max<size_t>(config.index_cache_bytes, 1 << 20);
  Security& security = config.session.security;
  security.crypto = security.crypto && security.authenticate;
}

std::vector<config::Setting> ShuffleKeys() {
  std::vector<config::Setting> out;
  config::AppendSettings<Config, SparkKeys>(kKeys, {}, out);
  return out;
}

}  // namespace fairlead::shell
