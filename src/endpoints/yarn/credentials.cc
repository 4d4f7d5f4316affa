#include "endpoints/yarn/credentials.h"

#include "base/codec.h"
#include "wire/hadoop_rpc/frames.h"
#include "wire/hadoop_rpc/security.h"

namespace fairlead::endpoints::yarn {
namespace {

constexpr std::string_view kMagic = "HDTS";
/// Of a container's or an application's context, which was bounded; a token is 250 bytes.
constexpr base::BudgetKind kCredentials = base::DecodedKind("credentials", 64 << 20, 64);

/// Hadoop's variable-length integer (org.apache.hadoop.io.WritableUtils.writeVLong).
int64_t TakeVLong(base::ByteReader& in) {
  const int8_t first = static_cast<int8_t>(in.U8());
  if (first >= -112) return first;
  const bool negative = first < -120;
  const int bytes = negative ? -120 - first : -112 - first;
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | in.U8();
  return static_cast<int64_t>(negative ? ~value : value);
}

void AppendVLong(std::string& out, int64_t value) {
  if (value >= -112 && value <= 127) {
    out.push_back(static_cast<char>(value));
    return;
  }
  const uint64_t magnitude = value < 0 ? ~static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  int bytes = 1;
  while (bytes < 8 && magnitude >> (8 * bytes)) ++bytes;
  out.push_back(static_cast<char>((value < 0 ? -120 : -112) - bytes));
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<char>(magnitude >> (8 * i)));
}

std::string TakeBytes(base::ByteReader& in) {
  const int64_t length = TakeVLong(in);
  if (length < 0) in.Fail();
  const std::string_view bytes = in.Take(in.failed() ? 0 : static_cast<size_t>(length));
  return in.Charge(bytes.size()) ? std::string(bytes) : std::string();
}

void AppendBytes(std::string& out, std::string_view bytes) {
  AppendVLong(out, static_cast<int64_t>(bytes.size()));
  out.append(bytes);
}

RpcToken TakeToken(base::ByteReader& in) {
  RpcToken token;
  token.identifier = TakeBytes(in);
  token.password = TakeBytes(in);
  token.kind = TakeBytes(in);
  token.service = TakeBytes(in);
  return token;
}

base::Error Malformed() { return {"credentials are cut short or malformed"}; }

base::Result<Credentials> ParseWritable(base::ByteReader& in) {
  Credentials out;
  // Counts need no bound of their own: the loops end with the bytes.
  const int64_t tokens = TakeVLong(in);
  for (int64_t i = 0; i < tokens && in.Charge(sizeof(RpcToken) + base::kTreeNode); ++i) {
    std::string alias = TakeBytes(in);
    out.tokens.insert_or_assign(std::move(alias), TakeToken(in));
  }
  const int64_t secrets = TakeVLong(in);
  for (int64_t i = 0; i < secrets && in.Charge(2 * sizeof(std::string) + base::kTreeNode); ++i) {
    std::string alias = TakeBytes(in);
    out.secrets.insert_or_assign(std::move(alias), TakeBytes(in));
  }
  if (in.failed() || tokens < 0 || secrets < 0) return Malformed();
  return out;
}

base::Result<Credentials> ParseProtobuf(std::string_view bytes) {
  const auto body = wire::hadoop_rpc::TakeDelimited(bytes);
  wire::hadoop_rpc::CredentialsProto proto;
  if (!body) return Malformed();
  if (base::Status parsed = proto.ParseFrom(*body, wire::hadoop_rpc::kKept); !parsed) return parsed.error();
  Credentials out;
  for (const auto& entry : proto.tokens) {
    RpcToken token;
    if (entry.token) token = {entry.token->identifier, entry.token->password, entry.token->kind, entry.token->service};
    out.tokens.insert_or_assign(entry.alias, std::move(token));
  }
  for (const auto& entry : proto.secrets) out.secrets.insert_or_assign(entry.alias, std::string(entry.Secret()));
  return out;
}

void AppendProtobuf(std::string& out, const Credentials& credentials) {
  wire::hadoop_rpc::CredentialsProto proto;
  for (const auto& [alias, token] : credentials.tokens) {
    auto& entry = proto.tokens.emplace_back();
    entry.alias = alias;
    entry.token = {
        .identifier = token.identifier, .password = token.password, .kind = token.kind, .service = token.service};
  }
  for (const auto& [alias, secret] : credentials.secrets) {
    auto& entry = proto.secrets.emplace_back();
    entry.alias = alias;
    entry.secret = secret;
  }
  wire::hadoop_rpc::AppendDelimited(out, proto.Encode());
}

}  // namespace

base::Result<Credentials> ParseCredentials(std::string_view bytes) {
  if (bytes.empty()) return Credentials{};
  if (!bytes.starts_with(kMagic) || bytes.size() <= kMagic.size()) {
    return base::Error{"Bad header found in token storage."};
  }
  const uint8_t format = static_cast<uint8_t>(bytes[kMagic.size()]);
  const std::string_view rest = bytes.substr(kMagic.size() + 1);
  if (format == 1) return ParseProtobuf(rest);
  if (format != 0) return base::Error{"Unknown credential format: " + std::to_string(format)};
  base::Budget budget(kCredentials, rest.size());
  base::ByteReader in(rest, budget);
  return ParseWritable(in);
}

std::string EncodeCredentials(const Credentials& credentials, CredentialsFormat format) {
  std::string out(kMagic);
  out.push_back(format == CredentialsFormat::kWritable ? 0 : 1);
  if (format == CredentialsFormat::kProtobuf) {
    AppendProtobuf(out, credentials);
    return out;
  }
  AppendVLong(out, static_cast<int64_t>(credentials.tokens.size()));
  for (const auto& [alias, token] : credentials.tokens) {
    AppendBytes(out, alias);
    AppendWritableToken(out, token);
  }
  AppendVLong(out, static_cast<int64_t>(credentials.secrets.size()));
  for (const auto& [alias, secret] : credentials.secrets) {
    AppendBytes(out, alias);
    AppendBytes(out, secret);
  }
  return out;
}

base::Result<RpcToken> ParseWritableToken(std::string_view bytes) {
  base::Budget budget(kCredentials, bytes.size());
  base::ByteReader in(bytes, budget);
  RpcToken token = TakeToken(in);
  if (in.failed()) return base::Error{"the token is cut short or malformed"};
  return token;
}

void AppendWritableToken(std::string& out, const RpcToken& token) {
  for (const std::string_view part : {std::string_view(token.identifier), std::string_view(token.password),
                                      std::string_view(token.kind), std::string_view(token.service)}) {
    AppendBytes(out, part);
  }
}

}  // namespace fairlead::endpoints::yarn
