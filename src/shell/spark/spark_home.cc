#include "shell/spark/spark_home.h"

#include <zip.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace fairlead::shell {

namespace {

namespace fs = std::filesystem;
constexpr zip_uint64_t kClassBytesMax = 16 << 20;

std::string PathOf(std::string_view name) {
  std::string path(name);
  std::ranges::replace(path, '.', '/');
  return path + ".class";
}

/// nullopt: the jar has no such class, or one that cannot be read.
std::optional<std::string> ReadClass(zip* jar, const std::string& path) {
  zip_stat_t stat;
  ::zip_stat_init(&stat);
  if (::zip_stat(jar, path.c_str(), 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0 || stat.size > kClassBytesMax)
    return std::nullopt;
  zip_file_t* const file = ::zip_fopen_index(jar, stat.index, 0);
  if (file == nullptr) return std::nullopt;
  std::string bytes(stat.size, '\0');
  const zip_int64_t got = ::zip_fread(file, bytes.data(), bytes.size());
  ::zip_fclose(file);
  if (got != static_cast<zip_int64_t>(bytes.size())) return std::nullopt;
  return bytes;
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

void SparkClassFiles::JarCloser::operator()(zip* jar) const { ::zip_discard(jar); }

bool SparkClassFiles::Has(const std::string& name) const {
  return std::ranges::any_of(
      jars_, [path = PathOf(name)](const Jar& jar) { return ::zip_name_locate(jar.get(), path.c_str(), 0) >= 0; });
}

wire::java_stream::ClassSource SparkClassFiles::source() const {
  return [this](std::string_view name) -> std::optional<std::string_view> {
    if (const auto found = read_.find(name); found != read_.end()) return found->second;
    const std::string path = PathOf(name);
    for (const Jar& jar : jars_) {
      if (auto bytes = ReadClass(jar.get(), path)) return read_.emplace(name, *std::move(bytes)).first->second;
    }
    return std::nullopt;
  };
}

base::Result<SparkClassFiles> ReadSparkClassFiles(const std::string& home) {
  const std::string core_prefix = "spark-core_";
  const fs::path jars = fs::path(home) / "jars";
  const auto core = FindJar(jars, core_prefix);
  if (!core) return core.error();
  const auto scala = FindJar(jars, "scala-library-");
  if (!scala) return scala.error();
  SparkClassFiles classes;
  classes.release_ = ReleaseOf(*core, core_prefix.size());
  for (const fs::path& path : {*core, *scala}) {
    int code = 0;
    SparkClassFiles::Jar jar(::zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (!jar) {
      zip_error_t error;
      ::zip_error_init_with_code(&error, code);
      const std::string why = ::zip_error_strerror(&error);
      ::zip_error_fini(&error);
      return base::Error{path.string() + ": " + why};
    }
    classes.jars_.push_back(std::move(jar));
  }
  return classes;
}

base::Result<endpoints::spark::SparkBuild> ReadSparkHome(const std::string& home) {
  const auto classes = ReadSparkClassFiles(home);
  if (!classes) return classes.error();
  auto build = endpoints::spark::DescribeSparkBuild(home, classes->release(), classes->source());
  if (!build) return base::Error{home + ": " + build.error().message};
  return build;
}

}  // namespace fairlead::shell
