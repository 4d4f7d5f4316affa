#include "endpoints/v1/openapi.h"

#include <gtest/gtest.h>

#include "endpoints/v1/apps.h"
#include "endpoints/v1/cluster.h"
#include "endpoints/v1/requests.h"

namespace fairlead::endpoints::v1 {
namespace {

TEST(OpenApiTest, HasPathsMethodsParametersAndSchemas) {
  const Operation operations[] = {
      {"GET", "apps/{id}", "One", SchemaOf<Past>, {{"id", "which"}, {"after", "later ones", true, true}}},
      {.method = "PUT",
       .path = "apps/{id}",
       .summary = "Changed",
       .answer = SchemaOf<Past>,
       .parameters = {{"id", "which"}},
       .body = SchemaOf<NodeStateWanted>,
       .refusals = {404}},
      {.method = "GET", .path = "logs", .summary = "Text", .of = "a node agent", .at = "http://n:1"}};
  const std::string all = OpenApi(operations);
  for (
      const char* part :
      {R"("/apps/{id}":{"get":{"summary":"One","parameters":[{"name":"id","in":"path","required":true,)",
       R"({"name":"after","in":"query","required":true,"description":"later ones","schema":{"type":"integer","minimum":0}})",
       R"("put":{"summary":"Changed")",
       R"("requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/NodeStateWanted"}}}})",
       R"("404":{"description":"what was wrong","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}})",
       R"("/logs":{"servers":[{"url":"http://n:1/fairlead/v1","description":"a node agent"}],"get":)",
       R"("200":{"description":"Text","content":{"text/plain":{"schema":{"type":"string"}}}})",
       R"("Past":{"type":"object","required":["from_ms","to_ms"])"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  }
}

TEST(AmountTest, WritesEachTypeByItsName) {
  const Pending pending{.name = "*", .count = 2, .capability = model::Resources{1024, 3}, .reason = "QUEUE_LIMIT"};
  const std::string text = Text(pending);
  EXPECT_NE(text.find(R"("capability":{"memory_mib":1024,"vcores":3)"), std::string::npos) << text;
  EXPECT_EQ(Text(Counts{{{"a\"", 1}, {"b", 2}}}), R"({"a\"":1,"b":2})");
  EXPECT_EQ(Text(Counts{}), "{}");
}

}  // namespace
}  // namespace fairlead::endpoints::v1
