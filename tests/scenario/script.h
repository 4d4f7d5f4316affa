#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/queues.h"
#include "profiles/profile.h"
#include "scenario/cluster.h"
#include "scenario/words.h"

namespace fairlead::scenario {

/// The profiles that a scenario is for: those of its line "profiles ...", else all.
base::Result<std::vector<std::string>> ProfilesOf(std::string_view text);

/// The code of an Error that is an expectation which did not hold; its text is what was found instead.
inline constexpr int kUnmet = 1;

/// What is wrong with the words that were read, or left over.
base::Status Wrong(Words& words);

/// Runs the lines of one scenario under one profile. docs/scenarios.md has the language.
class Script {
 public:
  /// `show` gets a line for everything that happens.
  Script(const profiles::Profile& profile, std::function<void(const std::string&)> show);

  /// What failed, each "FILE:LINE: [PROFILE] ..."; empty when every expectation held. A line that cannot be read ends
  /// the run.
  std::vector<std::string> Run(const std::string& file, std::string_view text);

 private:
  base::Status Do(Words& words);
  base::Status Set(Words& words);
  base::Status Queue(Words& words);
  base::Status User(Words& words);
  base::Status Nodes(Words& words);
  base::Status AddApp(Words& words);
  base::Status OfNode(const std::string& name, Words& words);
  base::Status OfApp(const std::string& name, Words& words);
  base::Status Asks(const std::string& app, Words& words);
  base::Status Ends(const std::string& app, Words& words);
  base::Status Resizes(const std::string& app, Words& words);
  base::Status Expect(Words& words);
  base::Status ExpectOfApp(const std::string& name, Words& words);
  base::Status ExpectWaits(const std::string& name, Words& words);
  base::Status ExpectOfNode(const std::string& name, Words& words);
  base::Status ExpectOfQueue(const std::string& name, Words& words);

  /// The cluster, made at the first statement that needs one; queues that changed since are loaded.
  base::Status Start();
  model::QueueConfig& QueueOf(const std::string& name);
  std::string NodeName(Words& words);

  const profiles::Profile& profile_;
  std::function<void(const std::string&)> show_;
  config::HadoopConf conf_;
  model::QueueTree queues_;
  bool queues_changed_ = false;
  int nodes_ = 0;
  std::optional<Cluster> cluster_;
};

}  // namespace fairlead::scenario
