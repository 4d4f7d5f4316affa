#include "shell/rm/replay.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/large_stored.h"
#include "base/stored.h"
#include "base/version.h"
#include "process/rm/machine.h"

namespace fairlead::shell {

using process::rm::ResourceMachine;

namespace {

/// The journal's idea of a configuration: every explicit key, with variables replaced, and the queues in force at
/// start.
struct Configuration {
  std::map<std::string, std::string> keys;
  model::QueueTree queues;
  FL_FIELDS(keys, queues)
};

constexpr const char* kAllocationFileKey = "yarn.scheduler.fair.allocation.file";

base::Result<config::Settings> SettingsOf(const JournalHeader& header) {
  const auto configuration = base::DecodeStored<Configuration>(header.configuration);
  if (!configuration) return base::Error{"the configuration in the journal's header: " + configuration.error().message};
  config::Settings settings{config::HadoopConf(), configuration->queues};
  for (const auto& [key, value] : configuration->keys) settings.conf.Set(key, value, {"journal", 0, 0});
  return settings;
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

std::function<JournalHeader()> NextHeader(JournalHeader header, const ResourceMachine& machine) {
  return [header = std::move(header), copy = std::shared_ptr<const ResourceMachine>(machine.Fork())]() mutable {
    header.epoch = copy->core().epoch();
    header.state = copy->State();
    header.state_hash = copy->StateHash();
    copy.reset();
    return std::move(header);
  };
}

// Both may have a submission's megabytes, with which no text is to grow step by step.
uint64_t EffectHash(const std::vector<model::rm::OuterEffect>& effects) {
  size_t texts = 0;
  for (const model::rm::OuterEffect& effect : effects) {
    const auto* persist = std::get_if<model::rm::Persist>(&effect);
    if (persist == nullptr) continue;
    for (const model::rm::StoreRow& row : persist->rows) texts += row.value.size();
  }
  std::string bytes;
  bytes.reserve(texts + texts / 64);
  base::Encode(bytes, effects);
  base::StateHasher hasher;
  hasher.Mix(std::string_view(bytes));
  return hasher.value();
}

std::string EncodeEvents(const std::vector<model::rm::OuterEvent>& events) {
  size_t texts = 0;
  for (const model::rm::OuterEvent& event : events) {
    if (const auto* submit = std::get_if<model::rm::Submit>(&event)) texts += submit->submission.context.size();
  }
  return base::EncodeLargeStored(events, texts + texts / 64);
}

base::Result<std::unique_ptr<RmReplay>> RmReplay::Begin(const JournalHeader& header, Decided decided) {
  if (header.format != kJournalFormat) {
    return base::Error{"this journal has format " + std::to_string(header.format) + ", and this release replays " +
                       std::to_string(kJournalFormat) + ": replay it with the release that wrote it, " + header.build};
  }
  if (header.core != "rm") return base::Error{"this is a journal of '" + header.core + "', not of rm"};
  auto configuration = SettingsOf(header);
  if (!configuration) return configuration.error();
  auto settings = ReadRmSettings(*configuration, "");
  if (!settings) return settings.error();
  std::unique_ptr<RmReplay> replay(new RmReplay(std::move(*settings), std::move(configuration->conf)));
  replay->decided_ = std::move(decided);
  if (header.state.empty()) return replay;
  if (const base::Status made = replay->Make(header.epoch); !made) return made.error();
  ResourceMachine& machine = *replay->machine_;
  if (machine.ReadState(header.state) && machine.StateHash() == header.state_hash) return replay;
  return base::Error{"the state that it begins with is not one of this build: replay it with the one that wrote it, " +
                     header.build};
}

base::Status RmReplay::Make(int64_t epoch) {
  auto scheduler = settings_.manager.make_scheduler(epoch);
  if (!scheduler) return scheduler.error();
  machine_ = std::make_unique<ResourceMachine>(settings_.manager.core, std::move(scheduler).value());
  if (!decided_) return {};
  machine_->SetWatch([this](base::WallTime wall, const auto& effects) { decided_(*this, wall, effects); });
  return {};
}

base::Status RmReplay::Take(const JournalBatch& batch) {
  auto events = base::DecodeStored<std::vector<model::rm::OuterEvent>>(batch.events);
  if (!events) return events.error();
  events_ = std::move(*events);
  if (!machine_) {
    const auto* started = events_.empty() ? nullptr : std::get_if<model::rm::Started>(&events_.front());
    if (started == nullptr) return base::Error{"the journal does not begin with a start"};
    if (const base::Status made = Make(started->epoch); !made) return made;
  }
  now_ = batch.now;
  wall_ = batch.wall;
  effects_.clear();
  machine_->Step(now_, wall_, events_, effects_);
  same_ = EffectHash(effects_) == batch.effect_hash;
  return {};
}

namespace {

/// A walk through several files.
class Walker {
 public:
  Walker(env::Disk& disk, const Walk& walk) : disk_(disk), walk_(walk) {}

  base::Result<std::unique_ptr<RmReplay>> Through(std::span<const Segment> files) {
    from_ = files.front().begins;
    for (size_t i = 0; i < files.size() && !stopped_; ++i) {
      const bool goes_on = i + 1 < files.size() && files[i + 1].before.empty();
      const base::Status whole = Through(files[i], i == 0, goes_on ? files[i + 1].record_head : "");
      if (whole) continue;
      if (!walk_.hole) return whole.error();
      broken_ += (broken_.empty() ? "" : "; ") + whole.error().message;
    }
    if (!replay_) return base::Error{broken_};
    if (!broken_.empty()) TellHole({INT64_MAX});
    return std::move(replay_);
  }

 private:
  /// From the last batch on.
  void TellHole(base::WallTime to) {
    walk_.hole({replay_ ? std::max(replay_->wall(), from_) : from_, to, broken_});
    broken_.clear();
  }

  /// `end`: of the batch with which the next file goes on, which this one may have, too. Error: why it, or the rest of
  /// it, cannot be told of.
  base::Status Through(const Segment& file, bool first, const std::string& end) {
    auto open = OpenSegment::Read(disk_, file.path);
    if (!open) return open.error();
    JournalReader& reader = open->reader;
    reader.EndBefore(end);
    stopped_ = !first && file.begins > walk_.until;
    auto begun = stopped_ ? std::unique_ptr<RmReplay>() : RmReplay::Begin(reader.header(), walk_.decided);
    if (!begun) return base::Error{file.path + ": " + begun.error().message};
    if (replay_ && broken_.empty()) broken_ = Missing(file, reader.header());
    if (!broken_.empty() && !walk_.hole) return base::Error{broken_};
    if (!broken_.empty() && (replay_ || !stopped_)) TellHole(file.begins);
    if (stopped_) return {};
    replay_ = *std::move(begun);
    from_ = file.begins;
    if (walk_.begun && replay_->machine() != nullptr) walk_.begun(*replay_, file.begins);
    if (const base::Status whole = Batches(reader); !whole) {
      return base::Error{file.path + ": " + whole.error().message};
    }
    last_ = file.path + ": what follows its last batch is missing" +
            (reader.torn_tail() ? ", from byte " + std::to_string(reader.position()) + " of it on" : "");
    done_ += open->bytes->size();
    return {};
  }

  /// Why the file does not go on from the machine as it is; empty: it does.
  std::string Missing(const Segment& file, const JournalHeader& header) const {
    if (!file.before.empty()) return file.before;
    if (header.state.empty()) return "";  // a manager's start
    const auto* machine = replay_->machine();
    return machine != nullptr && machine->StateHash() == header.state_hash ? "" : last_;
  }

  base::Status Batches(JournalReader& reader) {
    JournalBatch batch;
    for (int64_t number = 0;; ++number) {
      const auto more = reader.Next(batch);
      if (!more) return more.error();
      stopped_ = *more && batch.wall > walk_.until;
      if (!*more || stopped_) return {};
      const auto name = [&] { return "batch " + std::to_string(number); };
      if (const base::Status taken = replay_->Take(batch); !taken) {
        return base::Error{name() + ": " + taken.error().message};
      }
      if (!replay_->same()) {
        return base::Error{"from " + name() + " on this build decides otherwise than the one that wrote it, " +
                           reader.header().build + "; 'fairlead replay FILE' shows it"};
      }
      stopped_ = walk_.see && !walk_.see(*replay_);
      if (stopped_) return {};
      if (walk_.progress) walk_.progress(done_ + reader.position());
    }
  }

  env::Disk& disk_;
  const Walk& walk_;
  std::unique_ptr<RmReplay> replay_;
  base::WallTime from_;  // where the file that it is in begins
  std::string broken_;   // why something is missing behind it; empty: nothing is known to be
  std::string last_;     // the words where the next file shows that something is
  bool stopped_ = false;
  uint64_t done_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<RmReplay>> WalkRm(env::Disk& disk, std::span<const Segment> files, const Walk& walk) {
  return Walker(disk, walk).Through(files);
}

base::Result<ReplayResult> ReplayRm(JournalReader& journal, const ReplayWatch& watch) {
  ReplayResult result;
  process::rm::Lately lately;  // of one batch
  RmReplay::Decided decided;
  if (watch.told) {
    decided = [&](const RmReplay& replay, base::WallTime wall, const auto& effects) {
      lately.Record(wall, replay.machine()->core(), effects);
    };
  }
  const auto replay = RmReplay::Begin(journal.header(), decided);
  if (!replay) return replay.error();
  JournalBatch batch;
  for (;; ++result.batches) {
    const auto more = journal.Next(batch);
    if (!more) return more.error();
    if (!*more) break;
    if (const base::Status taken = (*replay)->Take(batch); !taken) {
      return base::Error{"batch " + std::to_string(result.batches) + ": " + taken.error().message};
    }
    if (watch.told) {
      for (const model::rm::OuterEffect& effect : (*replay)->effects()) {
        const auto* changed = std::get_if<model::rm::StateChanged>(&effect);
        if (changed != nullptr) lately.Record(batch.wall, (*replay)->machine()->core(), *changed);
      }
      Tell(lately, watch.told);
      lately = {};
    }
    if (!(*replay)->same()) {
      result.difference = Describe(batch, result.batches, (*replay)->events(), (*replay)->effects());
      break;
    }
    result.events += static_cast<int64_t>((*replay)->events().size());
    if (watch.progress) watch.progress();
  }
  if ((*replay)->machine() != nullptr) result.state_hash = (*replay)->machine()->StateHash();
  return result;
}

}  // namespace fairlead::shell
