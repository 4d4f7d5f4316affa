#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "daemon_options.h"
#include "shell/shuffle/daemon.h"

// `fairlead shuffle`: Spark's external shuffle service, alone; `fairlead shuffle status` looks at a running one,
// `fairlead shuffle drain` ends one.

namespace fairlead::apps {
namespace {

struct ShuffleWords {
  shell::ShuffleOptions options;
  std::string roots;
  uint16_t port = 0;
  uint16_t web_port = 0;
  bool verbose = false;
  std::string web;
  std::string ca;
  bool json = false;
  int64_t idle_seconds = 60;
  int64_t limit_seconds = 3600;
};

void AddTrust(CLI::App& command, ShuffleWords& words) {
  command.add_option("--ca", words.ca,
                     "certificates that an HTTPS page is trusted by (PEM, PKCS#12, JKS; default: this machine's)");
}

void AddStatus(CLI::App& parent, const std::shared_ptr<ShuffleWords>& words, int& exit_code) {
  CLI::App* status = parent.add_subcommand("status", "Applications, executors, bytes, disks and rates of a service.");
  status->add_option("--state", words->options.state, "The service's state directory");
  status->add_option("--web", words->web,
                     "HOST:PORT of its status page instead; of a service in a node agent HOST:PORT/services/NAME; with "
                     "https:// before it where it is that");
  AddTrust(*status, *words);
  status->add_flag("--json", words->json, "As JSON");
  status->footer(
      "Examples:\n  fairlead shuffle status --state /var/lib/fairlead/shuffle\n"
      "  fairlead shuffle status --web 127.0.0.1:7338 --json\n"
      "  fairlead shuffle status --web node7:8042/services/spark_shuffle\n"
      "  fairlead shuffle status --web https://node7:8044/services/spark_shuffle --ca /etc/fairlead/ca.pem");
  status->callback([words, &exit_code] {
    exit_code = words->options.state.empty() && words->web.empty()
                    ? Complain("shuffle status", "say --state DIR or --web HOST:PORT", kUsage)
                    : shell::RunShuffleStatus(words->options.state, words->web, words->ca, words->json);
  });
}

void AddDrain(CLI::App& parent, const std::shared_ptr<ShuffleWords>& words, int& exit_code) {
  CLI::App* drain = parent.add_subcommand("drain", "Takes no more executors; ends when nothing is asked for any more.");
  drain->footer(
      "Examples:\n  fairlead shuffle drain --state /var/lib/fairlead/shuffle\n"
      "  fairlead shuffle drain --state /var/lib/fairlead/shuffle --idle 300 --limit 86400");
  drain->add_option("--state", words->options.state, "The service's state directory")->required();
  AddTrust(*drain, *words);
  drain->add_option("--idle", words->idle_seconds, "Seconds without a request that count as nothing asked for (60)")
      ->check(CLI::NonNegativeNumber);
  drain->add_option("--limit", words->limit_seconds, "Seconds after which it ends all the same (3600)")
      ->check(CLI::NonNegativeNumber);
  drain->callback([words, &exit_code] {
    exit_code = shell::RunShuffleDrain(words->options.state, words->ca, words->idle_seconds, words->limit_seconds);
  });
}

}  // namespace

void AddShuffle(CLI::App& app, int& exit_code) {
  const auto words = std::make_shared<ShuffleWords>();
  CLI::App* command = app.add_subcommand(
      "shuffle", "Spark's external shuffle service: serves executors' shuffle files when they are gone.");
  command->footer(
      "Examples:\n  fairlead shuffle --port 7337 --state /var/lib/fairlead/shuffle --local-roots "
      "/data1/spark,/data2/spark\n"
      "  fairlead shuffle --properties-file /opt/spark/conf/spark-defaults.conf --local-roots /data1/spark\n"
      "Keys of spark-defaults.conf that the real service reads are read from --properties-file and --conf.");
  command->require_subcommand(0, 1);
  shell::ShuffleOptions& options = words->options;
  command->add_option("--port", words->port, "Port (spark.shuffle.service.port, 7337)");
  command->add_option("--bind", options.bind, "Address to listen on (127.0.0.1; 0.0.0.0 for every one)");
  command->add_option("--state", options.state, "Directory that keeps registrations over a restart");
  command->add_option("--local-roots", words->roots,
                      "DIR[,DIR]: executors' directories must lie below one of these (spark.local.dir)");
  command->add_option("--properties-file", options.properties_file, "spark-defaults.conf");
  command->add_option("--conf", options.conf, "spark.key=value, over the file")->expected(1)->take_all();
  command->add_option("--answer-as", options.answer_as, "3.5 or 4.3 (default): whose answers where they differ");
  command->add_option("--io-threads", options.io_threads,
                      "Threads for connections (one a core, at most 8; with --answer-as 3.5: one)");
  command->add_option("--web-bind", options.web_bind, "Address of the status page (127.0.0.1)");
  command->add_option("--web-port", words->web_port, "Port of the status page");
  AddLogFileOptions(*command, options.log);
  command->add_flag("--verbose", words->verbose, "Log more");
  AddStatus(*command, words, exit_code);
  AddDrain(*command, words, exit_code);
  command->callback([words, command, &exit_code] {
    if (!command->get_subcommands().empty()) return;
    shell::ShuffleOptions& chosen = words->options;
    if (command->count("--port") > 0) chosen.port = words->port;
    if (command->count("--web-port") > 0) chosen.web_port = words->web_port;
    if (words->verbose) chosen.log.level = env::LogLevel::kDebug;
    for (size_t at = 0; at < words->roots.size();) {
      const size_t end = std::min(words->roots.find(',', at), words->roots.size());
      chosen.local_roots.push_back(words->roots.substr(at, end - at));
      at = end + 1;
    }
    exit_code = shell::RunShuffle(chosen);
  });
}

}  // namespace fairlead::apps
