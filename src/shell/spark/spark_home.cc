#include "shell/spark/spark_home.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <memory>

namespace fairlead::shell {

namespace {

namespace fs = std::filesystem;
constexpr int64_t kClassBytesMax = 16 << 20;
constexpr size_t kAllBytes = 32 << 20;  // a little more than today's releases have
constexpr std::string_view kSuffix = ".class";

struct ArchiveCloser {
  void operator()(archive* in) const { ::archive_read_free(in); }
};

/// Adds the classes of a jar whose paths begin with one of `packages`.
base::Status ReadJar(const fs::path& jar, std::initializer_list<std::string_view> packages, SparkClassFiles& classes) {
  const std::unique_ptr<archive, ArchiveCloser> in(::archive_read_new());
  ::archive_read_support_format_zip(in.get());
  const auto failed = [&] {
    const char* why = ::archive_error_string(in.get());
    return base::Error{jar.string() + ": " + (why != nullptr ? why : "cannot be read")};
  };
  constexpr size_t kBlock = 64 * 1024;
  if (::archive_read_open_filename(in.get(), jar.c_str(), kBlock) != ARCHIVE_OK) return failed();
  for (archive_entry* entry = nullptr;;) {
    const int got = ::archive_read_next_header(in.get(), &entry);
    if (got == ARCHIVE_EOF) return {};
    if (got != ARCHIVE_OK && got != ARCHIVE_WARN) return failed();
    const char* path = ::archive_entry_pathname(entry);
    std::string name = path != nullptr ? path : "";
    const int64_t size = ::archive_entry_size(entry);
    const bool wanted = std::ranges::any_of(packages, [&](std::string_view each) { return name.starts_with(each); });
    if (!wanted || !name.ends_with(kSuffix) || size < 0 || size > kClassBytesMax) continue;
    const SparkClassFiles::Part part{classes.bytes.size(), static_cast<size_t>(size)};
    classes.bytes.resize(part.begin + part.size);
    if (::archive_read_data(in.get(), classes.bytes.data() + part.begin, part.size) != size) return failed();
    name.resize(name.size() - kSuffix.size());
    for (char& c : name) c = c == '/' ? '.' : c;
    classes.files[name] = part;
  }
}

/// The only file "PREFIX*.jar" in `jars`.
base::Result<fs::path> FindJar(const fs::path& jars, const std::string& prefix) {
  std::error_code error;
  fs::path found;
  for (fs::directory_iterator at(jars, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(".jar")) continue;
    if (!found.empty()) return base::Error{jars.string() + " has more than one " + prefix + "*.jar"};
    found = at->path();
  }
  if (found.empty()) return base::Error{jars.string() + " has no " + prefix + "*.jar; is this a SPARK_HOME?"};
  return found;
}

/// "spark-core_2.13-4.3.0.jar" -> "4.3.0, Scala 2.13".
std::string ReleaseOf(const fs::path& jar, size_t prefix) {
  const std::string name = jar.stem().string().substr(prefix);
  const size_t dash = name.find('-');
  return dash == std::string::npos ? name : name.substr(dash + 1) + ", Scala " + name.substr(0, dash);
}

}  // namespace

wire::java_stream::ClassSource SparkClassFiles::source() const {
  return [this](std::string_view name) -> std::optional<std::string_view> {
    const auto found = files.find(name);
    return found != files.end() ? std::optional(std::string_view(bytes).substr(found->second.begin, found->second.size))
                                : std::nullopt;
  };
}

base::Result<SparkClassFiles> ReadSparkClassFiles(const std::string& home) {
  const std::string core_prefix = "spark-core_";
  const fs::path jars = fs::path(home) / "jars";
  const auto core = FindJar(jars, core_prefix);
  if (!core) return core.error();
  const auto scala = FindJar(jars, "scala-library-");
  if (!scala) return scala.error();
  SparkClassFiles classes{ReleaseOf(*core, core_prefix.size()), {}, {}};
  classes.bytes.reserve(kAllBytes);
  if (const base::Status read =
          ReadJar(*core, {"org/apache/spark/deploy/", "org/apache/spark/resource/", "org/apache/spark/rpc/"}, classes);
      !read)
    return read.error();
  if (const base::Status read = ReadJar(*scala, {"scala/"}, classes); !read) return read.error();
  return classes;
}

base::Result<endpoints::spark::SparkBuild> ReadSparkHome(const std::string& home) {
  const auto classes = ReadSparkClassFiles(home);
  if (!classes) return classes.error();
  auto build = endpoints::spark::DescribeSparkBuild(home, classes->release, classes->source());
  if (!build) return base::Error{home + ": " + build.error().message};
  return build;
}

}  // namespace fairlead::shell
