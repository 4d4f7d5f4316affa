#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::config {

/// Reads a whole file; Error::code is errno (ENOENT for a file that is not there).
using FileReader = std::function<base::Result<std::string>(const std::string& path)>;

/// Hadoop's configuration: core-site.xml, hdfs-site.xml, mapred-site.xml and yarn-site.xml of one directory over
/// Hadoop's defaults for the keys that Fairlead reads, with `final`, XIncludes and ${...} as
/// org.apache.hadoop.conf.Configuration has them. Keys that nobody asks for are ignored, as Hadoop ignores them.
///
/// Typed getters never fail: a value that cannot be read gives the default and an entry in errors() that names file,
/// line, column, key and what to write. A daemon reads all it needs first and refuses to start while errors() is not
/// empty.
class HadoopConf {
 public:
  /// Where a value was written.
  struct Origin {
    std::string file;  // empty: Hadoop's default
    int line = 0;
    int column = 0;
  };

  /// No files: Hadoop's defaults alone. `variables` are environment variables, for ${env.NAME}.
  explicit HadoopConf(std::map<std::string, std::string> variables = {});

  /// Reads the four files of `directory`; one that is missing is skipped, but not all four.
  static base::Result<HadoopConf> Load(const std::string& directory, std::map<std::string, std::string> variables,
                                       const FileReader& read);

  /// Adds one file's text over what is there; values marked final earlier stay.
  base::Status AddXml(const std::string& file, std::string_view text, const FileReader& read);

  /// As AddXml, for keys that nothing has written yet.
  base::Status AddMissing(const std::string& file, std::string_view text, const FileReader& read);

  void Set(const std::string& key, const std::string& value, Origin origin = {"command line", 0, 0});

  /// The value with ${...} replaced (at most 20 deep, as in Hadoop), not trimmed; nullopt when neither set nor
  /// defaulted.
  std::optional<std::string> Find(const std::string& key) const;
  /// True when a file or Set() gave it, Hadoop's defaults aside.
  bool IsSet(const std::string& key) const;
  Origin OriginOf(const std::string& key) const;

  std::string String(const std::string& key, const std::string& fallback = "") const;
  int64_t Int(const std::string& key, int64_t fallback, int64_t low = INT64_MIN, int64_t high = INT64_MAX) const;
  double Double(const std::string& key, double fallback) const;
  /// "true" or "false"; anything else gives the fallback, as in Hadoop, and an error.
  bool Bool(const std::string& key, bool fallback) const;
  /// A number with an optional unit (ns, us, ms, s, m, h, d); without one it counts in milliseconds (or `unit`).
  base::Duration Time(const std::string& key, base::Duration fallback,
                      base::Duration unit = base::Duration::Millis(1)) const;
  /// Split at commas, trimmed, empty parts dropped.
  std::vector<std::string> List(const std::string& key, const std::vector<std::string>& fallback = {}) const;

  /// Adds an error at the place where `key` was written.
  void Refuse(const std::string& key, const std::string& why_and_what_to_write) const;
  const std::vector<std::string>& errors() const { return errors_; }
  /// All errors in one text, a line each.
  std::string ErrorText() const;

  /// Keys given by files or Set(), sorted, with their raw values.
  std::map<std::string, std::string> Explicit() const;
  /// Keys of the files that begin with one of `prefixes` and that no getter was asked for so far, sorted: what a daemon
  /// that has read all it needs does not know.
  std::vector<std::string> Unread(const std::vector<std::string_view>& prefixes) const;
  /// Keys that some getter was asked for.
  const std::set<std::string>& Asked() const { return asked_; }
  /// A key that a getter, or IsSet, was asked for and that differs from `key` in a few letters, or "".
  std::string ReadAndNear(const std::string& key) const;

 private:
  struct Entry {
    std::string value;
    Origin origin;
    bool is_final = false;
  };
  std::string Expand(const std::string& raw, int depth) const;
  std::optional<std::string> Variable(const std::string& name, int depth) const;
  base::Status AddXmlAtDepth(const std::string& file, std::string_view text, const FileReader& read, int depth);

  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> variables_;
  mutable std::vector<std::string> errors_;
  mutable std::set<std::string> asked_;
  mutable std::set<std::string> looked_for_;  // by IsSet
};

/// Hadoop's default of a key that Fairlead reads (yarn-default.xml, core-default.xml, mapred-default.xml), or nullptr.
const char* HadoopDefault(std::string_view key);

/// Line and column (from 1) of a byte offset.
std::pair<int, int> LineAndColumn(std::string_view text, size_t offset);

}  // namespace fairlead::config
