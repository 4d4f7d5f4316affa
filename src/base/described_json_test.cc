#include "base/described_json.h"

#include <gtest/gtest.h>

namespace fairlead::base {
namespace {

struct Piece {
  int64_t count = 0;
  std::optional<double> share;
  FL_DESCRIBED("Piece", (count, "how many"), (share, ""))
};
struct Upper {
  std::string for_;
  std::vector<Piece> parts;
  FL_DESCRIBED("Upper", (for_, "so \"far\""), (parts, ""))
};
struct Beyond : Upper {
  Piece one;
  std::optional<std::vector<std::string>> names;
  FL_DESCRIBED_BEYOND(Upper, "Beyond", (one, "the first"), (names, ""))
};

TEST(DescribedJsonTest, TheSchemaSaysWhatIsWritten) {
  JsonSchemas schemas("#/definitions/");
  EXPECT_EQ(schemas.Of<std::vector<Beyond>>(), R"({"type":"array","items":{"$ref":"#/definitions/Beyond"}})");
  EXPECT_EQ(
      schemas.Definitions(),
      R"({"Beyond":{"type":"object","required":["for","parts","one"],"properties":{)"
      R"("for":{"description":"so \"far\"","type":"string"},"parts":{"type":"array","items":{"$ref":"#/definitions/Piece"}},)"
      R"("one":{"allOf":[{"$ref":"#/definitions/Piece"}],"description":"the first"},)"
      R"("names":{"type":"array","items":{"type":"string"}}}},)"
      R"("Piece":{"type":"object","required":["count"],"properties":{"count":{"description":"how many","type":"integer"},)"
      R"("share":{"type":"number"}}}})");
  std::string json;
  WriteJson(json, Beyond{{"2h", {{1, 0.1}}}, {2, {}}, {}});
  EXPECT_EQ(json, R"({"for":"2h","parts":[{"count":1,"share":0.1}],"one":{"count":2}})");
}

TEST(DescribedJsonTest, AClosedOneTakesNothingElse) {
  JsonSchemas schemas("#/", true);
  schemas.Of<Piece>();
  EXPECT_NE(schemas.Definitions().find(R"("additionalProperties":false)"), std::string::npos);
}

TEST(DescribedJsonTest, NumbersReadBackAsTheyWere) {
  std::string out;
  WriteJson(out, std::vector<double>{0.1, 1, 1e300, -0.25});
  WriteJson(out, 0.3F);
  WriteJson(out, 1 / std::vector<double>{0.0}[0]);
  EXPECT_EQ(out, "[0.1,1,1e+300,-0.25]0.3null");
}

}  // namespace
}  // namespace fairlead::base
