// Inputs of the engine benchmarks, equal for equal seeds:
//   engine_generate words BYTES SEED FILE       text, Zipf(1) over 100,000 words, ten a line
//   engine_generate tera RECORDS SEED FILE      records of 100 bytes, 10-byte keys of 64 symbols
//   engine_generate facts BYTES SEED FILE       CSV id,key,qty,cents,pad; 5 % of keys are not among the rows
//   engine_generate rows COUNT SEED FILE        CSV key,cat,name
//   engine_generate edges COUNT SEED FILE       tab-separated source, destination; COUNT/10 vertices, skewed
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/rng.h"

namespace {

using fairlead::base::Rng;

class Output {
 public:
  explicit Output(const char* path) : file_(std::fopen(path, "wb")) {
    if (file_ == nullptr) {
      std::perror(path);
      std::exit(1);
    }
  }
  ~Output() {
    Flush();
    std::fclose(file_);
  }
  std::string& buffer() { return buffer_; }
  uint64_t written() const { return written_ + buffer_.size(); }
  void Check() {
    if (buffer_.size() > (1 << 20)) Flush();
  }

 private:
  void Flush() {
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) {
      std::perror("write");
      std::exit(1);
    }
    written_ += buffer_.size();
    buffer_.clear();
  }
  std::FILE* file_;
  std::string buffer_;
  uint64_t written_ = 0;
};

void Words(uint64_t bytes, Rng& rng, Output& out) {
  constexpr size_t kWords = 100'000;
  std::vector<std::string> words;
  std::vector<double> sums;
  double sum = 0;
  for (size_t i = 0; i < kWords; ++i) {
    std::string word;
    const int64_t length = rng.Between(3, 10);
    for (int64_t j = 0; j < length; ++j) word.push_back(static_cast<char>('a' + rng.Below(26)));
    words.push_back(word);
    sums.push_back(sum += 1.0 / static_cast<double>(i + 1));
  }
  // A table of equal slices of the distribution makes a draw one look-up and a short scan.
  std::vector<uint32_t> starts(1 << 16);
  for (size_t i = 0, word = 0; i < starts.size(); ++i) {
    while (sums[word] < sum * static_cast<double>(i) / static_cast<double>(starts.size())) ++word;
    starts[i] = static_cast<uint32_t>(word);
  }
  for (int column = 0; out.written() < bytes || column != 0;) {
    const double draw = rng.Unit();
    size_t word = starts[static_cast<size_t>(draw * static_cast<double>(starts.size()))];
    while (sums[word] < draw * sum) ++word;
    out.buffer() += words[word];
    column = (column + 1) % 10;
    out.buffer().push_back(column == 0 ? '\n' : ' ');
    if (column == 0) out.Check();
  }
}

void Tera(uint64_t records, Rng& rng, Output& out) {
  for (uint64_t i = 0; i < records; ++i) {
    char record[100];
    uint64_t bits = rng.Next();
    for (int j = 0; j < 10; ++j, bits >>= 6) record[j] = static_cast<char>(' ' + (bits & 63));
    std::snprintf(record + 10, sizeof record - 10, "%022llx", static_cast<unsigned long long>(i));
    std::memset(record + 32, static_cast<int>('A' + i % 26), sizeof record - 32);
    out.buffer().append(record, sizeof record);
    out.Check();
  }
}

constexpr uint64_t kKeys = 2'200'000;

void Facts(uint64_t bytes, Rng& rng, Output& out) {
  out.buffer() += "id,key,qty,cents,pad\n";
  for (uint64_t id = 0; out.written() < bytes; ++id) {
    char line[128];
    std::snprintf(line, sizeof line, "%llu,%llu,%llu,%llu,%s\n", static_cast<unsigned long long>(id),
                  static_cast<unsigned long long>(rng.Below(kKeys * 20 / 19)),
                  static_cast<unsigned long long>(rng.Below(100)),
                  static_cast<unsigned long long>(rng.Below(1'000'000)), "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    out.buffer() += line;
    out.Check();
  }
}

void Rows(uint64_t count, Rng& rng, Output& out) {
  out.buffer() += "key,cat,name\n";
  for (uint64_t key = 0; key < count; ++key) {
    char line[128];
    std::snprintf(line, sizeof line, "%llu,c%03llu,name-of-%016llu-%012llx\n", static_cast<unsigned long long>(key),
                  static_cast<unsigned long long>(rng.Below(500)), static_cast<unsigned long long>(key),
                  static_cast<unsigned long long>(rng.Next() & 0xffffffffffff));
    out.buffer() += line;
    out.Check();
  }
}

void Edges(uint64_t count, Rng& rng, Output& out) {
  const uint64_t vertices = count / 10 + 1;
  for (uint64_t i = 0; i < count; ++i) {
    const double skew = rng.Unit();
    char line[64];
    std::snprintf(line, sizeof line, "%llu\t%llu\n", static_cast<unsigned long long>(rng.Below(vertices)),
                  static_cast<unsigned long long>(std::pow(skew, 3) * static_cast<double>(vertices)));
    out.buffer() += line;
    out.Check();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: engine_generate words|tera|facts|rows|edges AMOUNT SEED FILE\n", stderr);
    return 2;
  }
  const std::string kind = argv[1];
  const uint64_t amount = std::strtoull(argv[2], nullptr, 10);
  Rng rng(std::strtoull(argv[3], nullptr, 10));
  Output out(argv[4]);
  if (kind == "words") Words(amount, rng, out);
  if (kind == "tera") Tera(amount, rng, out);
  if (kind == "facts") Facts(amount, rng, out);
  if (kind == "rows") Rows(amount, rng, out);
  if (kind == "edges") Edges(amount, rng, out);
  return 0;
}
