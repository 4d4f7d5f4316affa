#include "shell/shuffle/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/text.h"
#include "shell/base/known_hosts.h"
#include "shell/base/open_ports.h"

namespace fairlead::shell {
namespace {

namespace transport = wire::spark_transport;
using Properties = std::map<std::string, std::string>;

constexpr uint16_t kDefaultPort = 7337;

struct Suffix {
  std::string_view name;
  int64_t factor;
};

base::Result<int64_t> ParseWithSuffix(std::string_view text, std::span<const Suffix> suffixes, int64_t unit) {
  const std::string lower = base::Lowered(base::Trimmed(text));
  int64_t number = 0;
  const auto [end, error] = std::from_chars(lower.data(), lower.data() + lower.size(), number);
  const std::string_view rest = std::string_view(lower).substr(static_cast<size_t>(end - lower.data()));
  if (error == std::errc() && number >= 0) {
    if (rest.empty()) return number * unit;
    for (const Suffix& suffix : suffixes) {
      if (rest == suffix.name && number <= INT64_MAX / suffix.factor) return number * suffix.factor;
    }
  }
  return base::Error{"'" + std::string(text) + "' is not a number with a unit"};
}

/// Properties with typed access; the first bad value is kept.
class Reader {
 public:
  explicit Reader(const Properties& properties) : properties_(properties) {}

  std::optional<std::string> Find(const std::string& key) const {
    const auto found = properties_.find(key);
    return found == properties_.end() ? std::nullopt : std::optional<std::string>(found->second);
  }
  bool Bool(const std::string& key, bool fallback) {
    const auto value = Find(key);
    if (!value) return fallback;
    const std::string text = base::Lowered(*value);
    if (text != "true" && text != "false") Refuse(key, "'" + *value + "' is neither true nor false");
    return text == "true";
  }
  template <class Parse>
  void Set(const std::string& key, Parse&& parse) {
    const auto value = Find(key);
    if (!value) return;
    if (const base::Status status = parse(*value); !status.ok()) Refuse(key, status.error().message);
  }
  void Refuse(const std::string& key, const std::string& why) {
    if (!error_) error_ = base::Error{key + ": " + why};
  }
  base::Status status() const { return error_ ? base::Status(*error_) : base::Status(); }

 private:
  const Properties& properties_;
  std::optional<base::Error> error_;
};

void ReadSecurity(Reader& in, process::shuffle::Config& config) {
  auto& security = config.session.security;
  security.authenticate = in.Bool("spark.authenticate", false);
  security.crypto = security.authenticate && in.Bool("spark.network.crypto.enabled", false);
  security.sasl_fallback = in.Bool("spark.network.crypto.saslFallback", true);
  security.always_encrypt = in.Bool("spark.network.sasl.serverAlwaysEncrypt", false);
  in.Set("spark.network.crypto.authEngineVersion", [&](const std::string& text) -> base::Status {
    if (text != "1" && text != "2") return base::Error{"write 1 or 2"};
    security.version = text == "1" ? transport::AuthVersion::kV1 : transport::AuthVersion::kV2;
    return {};
  });
  in.Set("spark.network.crypto.cipher", [&](const std::string& text) -> base::Status {
    if (text != "AES/CTR/NoPadding" && text != "AES/GCM/NoPadding") {
      return base::Error{"write AES/CTR/NoPadding or AES/GCM/NoPadding"};
    }
    security.cipher = text == "AES/GCM/NoPadding" ? transport::AuthCipher::kGcm : transport::AuthCipher::kCtr;
    return {};
  });
  in.Set("spark.network.sasl.maxEncryptedBlockSize", [&](const std::string& text) -> base::Status {
    const auto bytes = ParseSparkBytes(text);
    if (!bytes.ok() || *bytes <= 0 || *bytes > (8 << 20)) return base::Error{"write 1 to 8m"};
    security.sasl_block_max = static_cast<size_t>(*bytes);
    return {};
  });
}

/// A number of bytes from `least` up.
void SetBytes(Reader& in, const char* key, int64_t least, const std::function<void(int64_t)>& set) {
  in.Set(key, [&](const std::string& text) -> base::Status {
    const auto bytes = ParseSparkBytes(text);
    if (!bytes.ok()) return bytes.error();
    if (*bytes < least) return base::Error{"write at least " + std::to_string(least)};
    set(*bytes);
    return {};
  });
}

void SetCount(Reader& in, const char* key, const std::function<void(int64_t)>& set) {
  in.Set(key, [&](const std::string& text) -> base::Status {
    int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 0 || count > INT32_MAX) {
      return base::Error{"write a whole number"};
    }
    set(count);
    return {};
  });
}

/// Push-based merging, by Spark's keys; spark.shuffle.push.server.mergedIndexCacheSize needs no reading, as merged
/// indexes share spark.shuffle.service.index.cache.size.
void ReadMerges(Reader& in, process::shuffle::Config& config, std::vector<std::string>& warnings) {
  const std::string kManager = "spark.shuffle.push.server.mergedShuffleFileManagerImpl";
  const std::string manager = in.Find(kManager).value_or("");
  config.merges = manager.ends_with("RemoteBlockPushResolver");
  if (!config.merges && !manager.empty() && manager.find("NoOp") == std::string::npos) {
    warnings.push_back(kManager + "=" + manager +
                       " is unknown, and pushed blocks are not merged; "
                       "org.apache.spark.network.shuffle.RemoteBlockPushResolver merges them");
  }
  auto& limits = config.merge_limits;
  SetBytes(in, "spark.shuffle.push.server.minChunkSizeInMergedShuffleFile", 1,
           [&](int64_t bytes) { limits.chunk_bytes_min = bytes; });
  SetCount(in, "spark.shuffle.push.server.ioExceptionsThresholdDuringMerge",
           [&](int64_t count) { limits.write_failures_max = static_cast<int>(count); });
  SetBytes(in, "fairlead.shuffle.merge.memory", 1 << 20,
           [&](int64_t bytes) { limits.memory_bytes = static_cast<size_t>(bytes); });
  SetCount(in, "fairlead.shuffle.merge.partitions-per-application",
           [&](int64_t count) { limits.partitions_per_app = static_cast<size_t>(count); });
}

base::Result<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  if (!file.good() || bytes.str().empty()) return base::Error{"cannot read " + path};
  return std::move(bytes).str();
}

/// SSLOptions.parse: spark.ssl.rpc.NAME, for passwords the variable Spark hands them on in, then spark.ssl.NAME when
/// spark.ssl itself is enabled.
std::optional<std::string> FindTlsOption(Reader& in, const std::string& name, const char* variable = nullptr) {
  if (auto own = in.Find("spark.ssl.rpc." + name)) return own;
  if (const char* text = variable == nullptr ? nullptr : std::getenv(variable)) return text;
  return in.Bool("spark.ssl.enabled", false) ? in.Find("spark.ssl." + name) : std::nullopt;
}

void ReadTls(Reader& in, process::shuffle::Config& config) {
  if (!in.Bool("spark.ssl.rpc.enabled", false)) return;
  if (config.session.security.crypto || config.session.security.always_encrypt) {
    // Spark puts that cipher outside of TLS, which is not done here.
    return in.Refuse("spark.ssl.rpc.enabled",
                     "not together with spark.network.crypto.enabled or "
                     "spark.network.sasl.serverAlwaysEncrypt: TLS encrypts already");
  }
  transport::TlsKeys keys;
  const auto read_file = [&](const char* name, std::string& to) {
    const auto path = FindTlsOption(in, name);
    if (!path) return;
    const auto bytes = ReadWhole(*path);
    if (!bytes.ok()) return in.Refuse(std::string("spark.ssl.rpc.") + name, bytes.error().message);
    to = *bytes;
  };
  read_file("privateKey", keys.private_key);
  read_file("certChain", keys.cert_chain);
  read_file("keyStore", keys.key_store);
  keys.private_key_password =
      FindTlsOption(in, "privateKeyPassword", "_SPARK_SSL_RPC_PRIVATE_KEY_PASSWORD").value_or("");
  keys.key_store_password = FindTlsOption(in, "keyStorePassword", "_SPARK_SSL_RPC_KEY_STORE_PASSWORD").value_or("");
  keys.protocol = FindTlsOption(in, "protocol").value_or("");
  keys.cipher_suites = base::SplitTrimmed(FindTlsOption(in, "enabledAlgorithms").value_or(""));
  auto context = transport::TlsContext::Make(keys);
  if (!context.ok()) return in.Refuse("spark.ssl.rpc", context.error().message);
  config.tls = *std::move(context);
}

}  // namespace

Properties ParseSparkProperties(std::string_view text) {
  Properties out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = base::Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#' || line[0] == '!') continue;
    const size_t key_end = std::min(line.find_first_of(" \t=:"), line.size());
    std::string_view value = base::Trimmed(line.substr(key_end));
    if (!value.empty() && (value[0] == '=' || value[0] == ':')) value = base::Trimmed(value.substr(1));
    out[std::string(line.substr(0, key_end))] = std::string(value);
  }
  return out;
}

base::Result<int64_t> ParseSparkBytes(std::string_view text, int64_t unit) {
  static constexpr Suffix kSuffixes[] = {{"b", 1},          {"k", 1LL << 10},  {"kb", 1LL << 10},
                                         {"m", 1LL << 20},  {"mb", 1LL << 20}, {"g", 1LL << 30},
                                         {"gb", 1LL << 30}, {"t", 1LL << 40},  {"tb", 1LL << 40}};
  return ParseWithSuffix(text, kSuffixes, unit);
}

base::Result<int64_t> ParseSparkSeconds(std::string_view text) {
  static constexpr Suffix kSuffixes[] = {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
  return ParseWithSuffix(text, kSuffixes, 1);
}

base::Status ApplySparkProperties(const Properties& properties, process::shuffle::Config& config,
                                  std::vector<std::string>& warnings) {
  Reader in(properties);
  ReadSecurity(in, config);
  ReadTls(in, config);
  config.core.keep_rdd_blocks = in.Bool("spark.shuffle.service.fetch.rdd.enabled", false);
  in.Set("spark.shuffle.service.index.cache.size", [&](const std::string& text) -> base::Status {
    const auto bytes = ParseSparkBytes(text);
    if (!bytes.ok()) return bytes.error();
    config.index_cache_bytes = std::max<size_t>(static_cast<size_t>(*bytes), 1 << 20);
    return {};
  });
  for (const char* key : {"spark.network.timeout", "spark.shuffle.io.connectionTimeout"}) {
    in.Set(key, [&](const std::string& text) -> base::Status {
      const auto seconds = ParseSparkSeconds(text);
      if (!seconds.ok()) return seconds.error();
      config.connection_idle_max = base::Duration::Seconds(*seconds);
      return {};
    });
  }
  ReadMerges(in, config, warnings);
  return in.status();
}

namespace {

base::Result<Properties> GatherProperties(const ShuffleOptions& options) {
  Properties properties;
  if (!options.properties_file.empty()) {
    std::ifstream file(options.properties_file);
    std::stringstream text;
    text << file.rdbuf();
    if (!file.good() && text.str().empty()) return base::Error{"cannot read " + options.properties_file};
    properties = ParseSparkProperties(text.str());
  }
  for (const std::string& item : options.conf) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos) return base::Error{"--conf " + item + ": write spark.key=value"};
    properties[item.substr(0, equals)] = item.substr(equals + 1);
  }
  return properties;
}

}  // namespace

base::Status UseLocalRoots(const std::vector<std::string>& written, process::shuffle::Config& config) {
  namespace fs = std::filesystem;
  for (const std::string& root : written) {
    if (root.empty() || root[0] != '/') return base::Error{"local root '" + root + "' is not an absolute path"};
    std::error_code error;
    const fs::path canonical = fs::canonical(root, error);
    if (error) return base::Error{"local root " + root + ": " + error.message() + "; create it first"};
    const std::string plain = fs::path(root).lexically_normal().string();
    const std::string trimmed = plain.size() > 1 && plain.back() == '/' ? plain.substr(0, plain.size() - 1) : plain;
    for (const std::string& path : {trimmed, canonical.string()}) {
      auto& roots = config.core.local_roots;
      if (std::find(roots.begin(), roots.end(), path) == roots.end()) roots.push_back(path);
    }
  }
  if (!config.core.local_roots.empty()) return {};
  return base::Error{"no directories to serve from: give --local-roots DIR[,DIR] or spark.local.dir"};
}

void ShareAmongThreads(int io_threads, process::shuffle::Config& config) {
  const auto share = [&](size_t bytes) { return bytes / static_cast<size_t>(io_threads); };
  config.index_cache_bytes = std::max<size_t>(share(config.index_cache_bytes), 1 << 20);
  config.queued_bytes_max = share(config.queued_bytes_max);
  config.stream_bytes_max = share(config.stream_bytes_max);
  config.open_files_max = std::max<size_t>(share(config.open_files_max), 64);
}

void WarnOfSparksStore(const std::vector<std::string>& directories, std::vector<std::string>& warnings) {
  for (const std::string& directory : directories) {
    for (const char* name : {"registeredExecutors.ldb", "registeredExecutors.rdb"}) {
      const std::string path = directory + "/" + name;
      std::error_code error;
      if (!std::filesystem::exists(path, error)) continue;
      warnings.push_back("executors that registered with Spark's own service (" + path +
                         ") are unknown here: drain the node before the swap, then remove that directory");
    }
  }
}

base::Result<ShuffleSettings> ReadShuffleSettings(const ShuffleOptions& options) {
  auto properties = GatherProperties(options);
  if (!properties.ok()) return properties.error();
  ShuffleSettings out;
  process::shuffle::Config& config = out.config;
  if (const base::Status applied = ApplySparkProperties(*properties, config, out.warnings); !applied.ok()) {
    return applied.error();
  }
  if (const auto secret = properties->find("spark.authenticate.secret"); secret != properties->end()) {
    config.cluster_secret = secret->second;
  } else if (const char* secret_env = std::getenv("_SPARK_AUTH_SECRET")) {
    config.cluster_secret = secret_env;
  }
  if (config.session.security.authenticate && !config.cluster_secret) {
    return base::Error{"spark.authenticate is true: give spark.authenticate.secret or the variable _SPARK_AUTH_SECRET"};
  }
  config.listen = {options.bind.empty() ? "127.0.0.1" : options.bind, kDefaultPort};
  if (const auto port = properties->find("spark.shuffle.service.port"); port != properties->end()) {
    config.listen.port = static_cast<uint16_t>(std::atoi(port->second.c_str()));
  }
  if (options.port) config.listen.port = *options.port;
  if (options.answer_as == "3.5") {
    config.session.answer_as = endpoints::shuffle::AnswerAs::kSpark35;
    config.core.refuse_foreign_dirs = false;
  } else if (!options.answer_as.empty() && options.answer_as != "4.3") {
    return base::Error{"--answer-as " + options.answer_as + ": write 3.5 or 4.3"};
  }
  std::vector<std::string> roots = options.local_roots;
  if (const auto dirs = properties->find("spark.local.dir"); roots.empty() && dirs != properties->end()) {
    roots = base::SplitTrimmed(dirs->second);
  }
  if (const base::Status read = UseLocalRoots(roots, config); !read.ok()) return read.error();
  out.io_threads = options.io_threads;
  if (const auto threads = properties->find("spark.shuffle.io.serverThreads");
      out.io_threads <= 0 && threads != properties->end()) {
    out.io_threads = std::atoi(threads->second.c_str());
  }
  // In 3.5's way any connection may read a stream, so all must be on one thread.
  const bool one_thread = config.session.answer_as == endpoints::shuffle::AnswerAs::kSpark35;
  if (out.io_threads <= 0) out.io_threads = one_thread ? 1 : static_cast<int>(std::thread::hardware_concurrency());
  out.io_threads = std::clamp(out.io_threads, 1, 8);
  ShareAmongThreads(out.io_threads, config);
  WarnOfSparksStore(config.core.local_roots, out.warnings);
  out.state = options.state;
  if (out.state.empty()) out.warnings.push_back("without --state DIR registrations are lost when the service stops");
  out.web.port = options.web_port.value_or(0);
  if (!config.session.security.authenticate) {
    out.warnings.push_back(
        OpenPortsWarning({config.listen},
                         "whoever reaches it reads and removes every application's shuffle blocks; set "
                         "spark.authenticate=true and spark.authenticate.secret"));
    std::erase(out.warnings, "");
  }
  if (const auto callers = properties->find(kCallersKey); callers != properties->end()) {
    out.callers = base::SplitTrimmed(callers->second);
  }
  config::HadoopConf names;
  if (const auto hosts = properties->find("fairlead.http.hosts"); hosts != properties->end()) {
    names.Set(hosts->first, hosts->second);
  }
  out.hosts = ReadKnownHosts(names, out.warnings);
  return out;
}

}  // namespace fairlead::shell
