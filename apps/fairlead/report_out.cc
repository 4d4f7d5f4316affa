#include "report_out.h"

#include "base/text.h"
#include "env_posix/posix_loop.h"
#include "table.h"

namespace fairlead::apps {
namespace {

std::string TextOf(const report::Table& rows, size_t most_rows) {
  report::Table cut = rows;
  report::Cut(cut, most_rows);
  Table table(cut.header);
  bool marked = false;
  for (report::Table::Row& row : cut.rows) {
    if (row.best > 0 && row.cells.size() > 2) {
      row.cells[static_cast<size_t>(row.best)] += " *";
      marked = true;
    }
    table.Add(std::move(row.cells));
  }
  std::string out = cut.title.empty() ? "" : cut.title + "\n";
  for (const std::string& line : table.Lines()) out += line + "\n";
  if (marked) out += "* the best of the row\n";
  if (cut.left_out > 0) out += "... and " + std::to_string(cut.left_out) + " more\n";
  return out;
}

}  // namespace

std::string TextOf(const report::Report& report, size_t most_rows) {
  std::string out;
  const auto lines = [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) out += base::VisibleText(text) + "\n";
  };
  const auto part = [&] { out += out.empty() ? "" : "\n"; };
  if (!report.title.empty()) lines({report.title});
  lines(report.about);
  for (const report::Report::Part& one : report.parts) {
    part();
    if (!one.title.empty()) lines({one.title});
    lines(one.sentences);
  }
  for (const report::Table& table : report.tables) {
    part();
    out += TextOf(table, most_rows);
  }
  return out;
}

base::Status MakeOut(const std::string& out) {
  return out.empty() ? base::Status{} : env_posix::MakePosixDisk()->MakeDirectories(out);
}

base::Result<std::string> WriteOut(const std::string& out, const report::Report& report, const std::string& text,
                                   std::vector<std::pair<std::string, std::string>> others) {
  if (out.empty()) return std::string();
  others.insert(others.begin(), {{"report.html", report::Html(report)}, {"report.txt", text}});
  const auto disk = env_posix::MakePosixDisk();
  std::string names;
  for (const auto& [name, content] : others) {
    if (const auto written = disk->WriteFileAtomically(out + "/" + name, content); !written) return written.error();
    names += (names.empty() ? "" : ", ") + name;
  }
  return "written: " + out + "/" + names + "\n";
}

}  // namespace fairlead::apps
