#include "shell/rm/replay.h"

#include <limits>

#include "base/stored.h"
#include "base/version.h"
#include "process/rm/machine.h"

namespace fairlead::shell {
namespace {

/// The journal's idea of a configuration: every explicit key, with variables replaced, and the queues in force at
/// start.
struct Configuration {
  std::map<std::string, std::string> keys;
  model::QueueTree queues;
  FL_FIELDS(keys, queues)
};

constexpr const char* kAllocationFileKey = "yarn.scheduler.fair.allocation.file";

base::Result<RmSettings> SettingsOf(const Journal& journal) {
  const auto configuration = base::DecodeStored<Configuration>(journal.header.configuration);
  if (!configuration) return base::Error{"the configuration in the journal's header: " + configuration.error().message};
  config::Settings settings{config::HadoopConf(), configuration->queues};
  for (const auto& [key, value] : configuration->keys) settings.conf.Set(key, value, {"journal", 0, 0});
  return ReadRmSettings(settings, "");
}

std::string Describe(const JournalBatch& batch, int64_t number, const std::vector<model::rm::OuterEvent>& events,
                     const std::vector<model::rm::OuterEffect>& effects) {
  std::string text =
      "batch " + std::to_string(number) + " at " + std::to_string(batch.now.ns) + " ns had other effects\nits events: ";
  base::ToJson(text, events);
  text += "\neffects of this replay: ";
  base::ToJson(text, effects);
  return text;
}

/// What the effects of a batch mean to people, in order.
void Tell(const process::rm::Lately& lately, const std::function<void(const process::rm::Happening&)>& told) {
  const auto found = lately.Find({}, std::numeric_limits<size_t>::max());
  for (auto one = found.rbegin(); one != found.rend(); ++one) told(**one);
}

/// In the state in which the journal begins; `first`: its first events.
base::Result<std::unique_ptr<process::rm::ResourceMachine>> MakeMachine(
    const JournalHeader& header, const RmSettings& settings, const std::vector<model::rm::OuterEvent>& first) {
  const bool goes_on = !header.state.empty();
  const auto* started = first.empty() ? nullptr : std::get_if<model::rm::Started>(&first.front());
  if (!goes_on && started == nullptr) return base::Error{"the journal does not begin with a start"};
  auto scheduler = settings.manager.make_scheduler(goes_on ? header.epoch : started->epoch);
  if (!scheduler) return scheduler.error();
  auto machine = std::make_unique<process::rm::ResourceMachine>(settings.manager.core, std::move(scheduler).value());
  if (goes_on && (!machine->ReadState(header.state) || machine->StateHash() != header.state_hash)) {
    return base::Error{
        "the state that it begins with is not one of this build: replay it with the one that wrote it, " +
        header.build};
  }
  return machine;
}

}  // namespace

JournalHeader RmJournalHeader(const config::HadoopConf& conf, const RmSettings& settings) {
  Configuration configuration;
  for (const auto& [key, raw] : conf.Explicit()) {
    if (key != kAllocationFileKey) configuration.keys[key] = conf.Find(key).value_or(raw);
  }
  configuration.queues = settings.manager.core.queues;
  JournalHeader header;
  header.core = "rm";
  header.build = base::Version();
  header.configuration = base::EncodeStored(configuration);
  return header;
}

void SetState(JournalHeader& header, const process::rm::ResourceMachine& machine) {
  header.epoch = machine.core().epoch();
  header.state = machine.State();
  header.state_hash = machine.StateHash();
}

uint64_t EffectHash(const std::vector<model::rm::OuterEffect>& effects) {
  base::StateHasher hasher;
  base::HashInto(hasher, effects);
  return hasher.value();
}

base::Result<ReplayResult> ReplayRm(const Journal& journal, const ReplayWatch& watch) {
  if (journal.header.format != kJournalFormat) {
    return base::Error{"this journal has format " + std::to_string(journal.header.format) +
                       ", and this release replays " + std::to_string(kJournalFormat) +
                       ": replay it with the release that wrote it, " + journal.header.build};
  }
  if (journal.header.core != "rm") return base::Error{"this is a journal of '" + journal.header.core + "', not of rm"};
  auto settings = SettingsOf(journal);
  if (!settings) return settings.error();
  ReplayResult result;
  std::unique_ptr<process::rm::ResourceMachine> machine;
  std::vector<model::rm::OuterEffect> effects;
  process::rm::Lately lately;  // of one batch
  for (const JournalBatch& batch : journal.batches) {
    if (watch.progress) watch.progress(result.batches);
    const auto events = base::DecodeStored<std::vector<model::rm::OuterEvent>>(batch.events);
    if (!events) return base::Error{"batch " + std::to_string(result.batches) + ": " + events.error().message};
    if (!machine) {
      auto made = MakeMachine(journal.header, *settings, *events);
      if (!made) return made.error();
      machine = *std::move(made);
      if (watch.told) {
        machine->SetWatch(
            [&](base::WallTime wall, const auto& decided) { lately.Record(wall, machine->core(), decided); });
      }
    }
    effects.clear();
    machine->Step(batch.now, batch.wall, *events, effects);
    if (watch.told) {
      for (const model::rm::OuterEffect& effect : effects) {
        const auto* changed = std::get_if<model::rm::StateChanged>(&effect);
        if (changed != nullptr) lately.Record(batch.wall, machine->core(), *changed);
      }
      Tell(lately, watch.told);
      lately = {};
    }
    if (EffectHash(effects) != batch.effect_hash) {
      result.difference = Describe(batch, result.batches, *events, effects);
      break;
    }
    ++result.batches;
    result.events += static_cast<int64_t>(events->size());
  }
  if (machine) result.state_hash = machine->StateHash();
  return result;
}

}  // namespace fairlead::shell
