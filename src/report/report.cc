#include "report/report.h"

#include "process/http/http.h"

namespace fairlead::report {

using process::http::HtmlEscape;

namespace {

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#59636e;--rule:#d5dae0;--card:#f5f7f9;
--s0:#0067b1;--s1:#c65102;--s2:#12805c;--s3:#a8237c;--s4:#8a6d00;--s5:#5b4bc4;--s6:#00838f;--s7:#8b949e}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e7eaee;--soft:#a2abb5;--rule:#343b44;--card:#1e232a;
--s0:#5fb2f2;--s1:#ff9352;--s2:#4fcf9f;--s3:#ef86c8;--s4:#e3c341;--s5:#a99cff;--s6:#4fd0dc;--s7:#7d8590}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
p{max-width:44rem;margin:.4rem 0}.soft{color:var(--soft)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left}
td.best{font-weight:700;color:var(--s2)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:1rem}
figure{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:.5rem;padding:.75rem}
figcaption{font-weight:600;margin-bottom:.25rem}
svg{display:block;width:100%;height:auto}
svg text{font:14px system-ui,sans-serif;fill:var(--soft)}
.grid{stroke:var(--rule);stroke-width:1}
.line{fill:none;stroke-width:2.5;stroke-linejoin:round}
.layer{stroke:var(--card);stroke-width:.5}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.5rem 0 0;padding:0;font-size:.9rem}
.swatch{display:inline-block;width:.8rem;height:.8rem;border-radius:.2rem;margin-right:.4rem}
@media(max-width:34rem){svg text{font-size:20px}.y-name{display:none}main{padding:.75rem}}
)";

std::string ColourRules() {
  std::string out;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    out += ".line.s" + n + "{stroke:var(--s" + n + ")}.layer.s" + n + "{fill:var(--s" + n + ")}.swatch.s" + n +
           "{background:var(--s" + n + ")}";
  }
  return out;
}

std::string Paragraph(const std::string& text, bool soft = false) {
  return (soft ? "<p class=\"soft\">" : "<p>") + HtmlEscape(text) + "</p>";
}

std::string TableHtml(const Table& table) {
  std::string out = table.title.empty() ? "" : "<h2>" + HtmlEscape(table.title) + "</h2>";
  out += "<div class=\"wide\"><table><thead><tr>";
  for (const std::string& name : table.header) out += "<th>" + HtmlEscape(name) + "</th>";
  out += "</tr></thead><tbody>";
  for (const Table::Row& row : table.rows) {
    out += "<tr>";
    for (size_t i = 0; i < row.cells.size(); ++i) {
      out += static_cast<int>(i) == row.best ? "<td class=\"best\">" : "<td>";
      out += HtmlEscape(row.cells[i]) + "</td>";
    }
    out += "</tr>";
  }
  out += "</tbody></table></div>";
  if (table.left_out > 0) out += Paragraph("and " + std::to_string(table.left_out) + " more", true);
  return out + (table.note.empty() ? "" : Paragraph(table.note, true));
}

}  // namespace

void Cut(Table& table, size_t most) {
  if (table.rows.size() <= most) return;
  table.left_out += table.rows.size() - most;
  table.rows.resize(most);
}

std::string Figure(const std::string& caption, const std::string& plot) {
  return "<figure><figcaption>" + HtmlEscape(caption) + "</figcaption>" + plot + "</figure>";
}

std::string Html(const Report& report) {
  const std::string title = HtmlEscape(report.title);
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>Fairlead: " +
      title + "</title><style>" + kStyle + ColourRules() + "</style></head><body><main><h1>" + title + "</h1>";
  for (const std::string& line : report.about) out += Paragraph(line, true);
  for (const Report::Part& part : report.parts) {
    if (!part.title.empty()) out += "<h2>" + HtmlEscape(part.title) + "</h2>";
    for (const std::string& sentence : part.sentences) out += Paragraph(sentence);
  }
  for (const Table& table : report.tables) out += TableHtml(table);
  if (!report.figures.empty()) out += "<h2>Pictures</h2><div class=\"plots\">";
  for (const std::string& figure : report.figures) out += figure;
  return out + (report.figures.empty() ? "" : "</div>") + "</main></body></html>\n";
}

}  // namespace fairlead::report
