#include "shell/shuffle/settings.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/text.h"
#include "env_posix/posix_loop.h"
#include "shell/base/known_hosts.h"
#include "shell/base/open_ports.h"
#include "shell/shuffle/keys.h"
#include "shell/tls/spark_tls.h"

namespace fairlead::shell {
namespace {

namespace transport = wire::spark_transport;

/// Spark's name of who merges pushed blocks.
void ReadMerger(SparkKeys& keys, process::shuffle::Config& config, std::vector<std::string>& warnings) {
  const std::string kManager = "spark.shuffle.push.server.mergedShuffleFileManagerImpl";
  const std::string kMerging = "org.apache.spark.network.shuffle.RemoteBlockPushResolver";
  const std::string manager = keys.String(kManager);
  config.merges = manager == kMerging;
  if (!config.merges && !manager.empty() &&
      manager != "org.apache.spark.network.shuffle.NoOpMergedShuffleFileManager") {
    warnings.push_back(kManager + "=" + manager + " is unknown, and pushed blocks are not merged; " + kMerging +
                       " merges them");
  }
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
std::optional<std::string> FindTlsOption(SparkKeys& keys, const std::string& name, const char* variable = nullptr) {
  if (const std::string own = "spark.ssl.rpc." + name; keys.Has(own)) return keys.String(own);
  if (const char* text = variable == nullptr ? nullptr : std::getenv(variable)) return text;
  const std::string general = "spark.ssl." + name;
  if (!keys.Bool("spark.ssl.enabled", false) || !keys.Has(general)) return std::nullopt;
  return keys.String(general);
}

void ReadTls(SparkKeys& keys, process::shuffle::Config& config) {
  if (!keys.Bool("spark.ssl.rpc.enabled", false)) return;
  if (config.session.security.crypto || config.session.security.always_encrypt) {
    // Spark puts that cipher outside of TLS, which is not done here.
    return keys.Refuse("spark.ssl.rpc.enabled",
                       "not together with spark.network.crypto.enabled or "
                       "spark.network.sasl.serverAlwaysEncrypt: TLS encrypts already");
  }
  transport::TlsKeys tls;
  const auto read_file = [&](const char* name, std::string& to) {
    const auto path = FindTlsOption(keys, name);
    if (!path) return;
    const auto bytes = ReadWhole(*path);
    if (!bytes.ok()) return keys.Refuse(std::string("spark.ssl.rpc.") + name, bytes.error().message);
    to = *bytes;
  };
  read_file("privateKey", tls.private_key);
  read_file("certChain", tls.cert_chain);
  read_file("keyStore", tls.key_store);
  tls.private_key_password =
      FindTlsOption(keys, "privateKeyPassword", "_SPARK_SSL_RPC_PRIVATE_KEY_PASSWORD").value_or("");
  tls.key_store_password = FindTlsOption(keys, "keyStorePassword", "_SPARK_SSL_RPC_KEY_STORE_PASSWORD").value_or("");
  tls.protocol = FindTlsOption(keys, "protocol").value_or("");
  tls.cipher_suites = base::SplitTrimmed(FindTlsOption(keys, "enabledAlgorithms").value_or(""));
  auto context = transport::TlsContext::Make(tls);
  if (!context.ok()) return keys.Refuse("spark.ssl.rpc", context.error().message);
  config.tls = *std::move(context);
}

/// By the keys of Standalone daemons. spark.ssl.enabled alone leaves it HTTP, as it says nothing of this service.
std::optional<TlsFiles> ReadTlsOfPage(SparkKeys& keys, std::vector<std::string>& warnings) {
  const bool own = !keys.Own("fairlead.tls.certificate").empty();
  if (!keys.Bool("spark.ssl.standalone.enabled", own)) return std::nullopt;
  const auto page = ReadPageTls(keys, config::HadoopConf(), warnings);
  return page ? std::optional(page->files) : std::nullopt;
}

}  // namespace

static void ReadAll(SparkKeys& keys, process::shuffle::Config& config, std::vector<std::string>& warnings) {
  ReadShuffleKeys(keys, config);
  ReadTls(keys, config);
  ReadMerger(keys, config, warnings);
}

base::Status ApplySparkProperties(const SparkProperties& properties, process::shuffle::Config& config,
                                  std::vector<std::string>& warnings) {
  SparkKeys keys(properties);
  ReadAll(keys, config, warnings);
  return keys.status();
}

namespace {

base::Result<SparkProperties> GatherProperties(const ShuffleOptions& options) {
  SparkProperties properties;
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

base::Status AddSparkShuffleSite(const std::string& directory, config::HadoopConf& conf) {
  constexpr uint64_t kBytesMax = 1 << 20;
  const auto disk = env_posix::MakePosixDisk();
  const config::FileReader read = [&](const std::string& path) { return disk->ReadFile(path, kBytesMax); };
  const std::string file = directory + "/spark-shuffle-site.xml";
  const auto text = read(file);
  if (!text.ok() && text.error().code == ENOENT) return {};
  if (!text.ok()) return text.error();
  config::HadoopConf laid_over = conf;
  if (const base::Status added = laid_over.AddXml(file, *text, read); !added.ok()) return added;
  const auto given = [&](const std::string& key) { return conf.OriginOf(key).file == "command line"; };
  for (const auto& [key, value] : laid_over.Explicit()) {
    const auto origin = laid_over.OriginOf(key);
    if (origin.file == file && key.starts_with("spark.") && !given(key)) conf.Set(key, value, origin);
  }
  return {};
}

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
  SparkKeys keys(*properties);
  return ReadShuffleSettings(options, keys);
}

base::Result<ShuffleSettings> ReadShuffleSettings(const ShuffleOptions& options, SparkKeys& keys) {
  ShuffleSettings out;
  process::shuffle::Config& config = out.config;
  ReadAll(keys, config, out.warnings);
  if (constexpr const char* kSecret = "spark.authenticate.secret"; keys.Has(kSecret)) {
    config.cluster_secret = keys.String(kSecret);
  } else if (const char* secret_env = std::getenv("_SPARK_AUTH_SECRET")) {
    config.cluster_secret = secret_env;
  }
  if (out.io_threads = options.io_threads; out.io_threads <= 0) {
    out.io_threads = static_cast<int>(keys.Int("spark.shuffle.io.serverThreads", 0, 0, INT32_MAX));
  }
  out.page_tls = ReadTlsOfPage(keys, out.warnings);
  if (!keys.status().ok()) return keys.status().error();
  if (config.session.security.authenticate && !config.cluster_secret) {
    return base::Error{"spark.authenticate is true: give spark.authenticate.secret or the variable _SPARK_AUTH_SECRET"};
  }
  if (!options.bind.empty()) config.listen.host = options.bind;
  if (options.port) config.listen.port = *options.port;
  if (options.answer_as == "3.5") {
    config.session.answer_as = endpoints::shuffle::AnswerAs::kSpark35;
    config.core.refuse_foreign_dirs = false;
  } else if (!options.answer_as.empty() && options.answer_as != "4.3") {
    return base::Error{"--answer-as " + options.answer_as + ": write 3.5 or 4.3"};
  }
  const std::vector<std::string> roots = keys.List("spark.local.dir");
  if (const base::Status read = UseLocalRoots(options.local_roots.empty() ? roots : options.local_roots, config);
      !read.ok()) {
    return read.error();
  }
  // In 3.5's way any connection may read a stream, so all must be on one thread.
  const bool one_thread = config.session.answer_as == endpoints::shuffle::AnswerAs::kSpark35;
  if (out.io_threads <= 0) out.io_threads = one_thread ? 1 : static_cast<int>(std::thread::hardware_concurrency());
  out.io_threads = std::clamp(out.io_threads, 1, 8);
  ShareAmongThreads(out.io_threads, config);
  WarnOfSparksStore(config.core.local_roots, out.warnings);
  out.state = options.state;
  if (out.state.empty()) out.warnings.push_back("without --state DIR registrations are lost when the service stops");
  if (!options.web_bind.empty()) out.web.host = options.web_bind;
  out.web.port = options.web_port.value_or(0);
  if (!config.session.security.authenticate) {
    out.warnings.push_back(
        OpenPortsWarning({config.listen},
                         "whoever reaches it reads and removes every application's shuffle blocks; set "
                         "spark.authenticate=true and spark.authenticate.secret"));
    std::erase(out.warnings, "");
  }
  out.callers = keys.List(kCallersKey);
  config::HadoopConf names;
  constexpr const char* kHosts = "fairlead.http.hosts";
  if (keys.Has(kHosts)) names.Set(kHosts, keys.String(kHosts));
  out.hosts = ReadKnownHosts(names, out.warnings);
  return out;
}

}  // namespace fairlead::shell
