#include "wire/java_stream/java_library.h"

namespace fairlead::wire::java_stream {

const ClassCatalog& JavaLibrary() {
  static const ClassCatalog kClasses = {
      {"java.lang.Number", {"java.lang.Number", -8742448824652078965, kSerializable, {}, ""}},
      {"java.lang.Integer",
       {"java.lang.Integer", 1360826667806852920, kSerializable, {{"value", "I"}}, "java.lang.Number"}},
      {"java.lang.Boolean", {"java.lang.Boolean", -3665804199014368530, kSerializable, {{"value", "Z"}}, ""}},
      {"java.lang.Enum", {"java.lang.Enum", 0, kSerializable | kEnum, {}, ""}},
      {"java.util.concurrent.TimeUnit",
       {"java.util.concurrent.TimeUnit", 0, kSerializable | kEnum, {}, "java.lang.Enum"}},
      {"java.lang.Throwable",
       {"java.lang.Throwable",
        -3042686055658047285,
        kSerializable | kWriteMethod,
        {{"cause", "Ljava/lang/Throwable;"},
         {"detailMessage", "Ljava/lang/String;"},
         {"stackTrace", "[Ljava/lang/StackTraceElement;"},
         {"suppressedExceptions", "Ljava/util/List;"}},
        ""}},
      {"java.lang.Exception", {"java.lang.Exception", -3387516993124229948, kSerializable, {}, "java.lang.Throwable"}},
      {"java.net.URI",
       {"java.net.URI", -6052424284110960213, kSerializable | kWriteMethod, {{"string", "Ljava/lang/String;"}}, ""}},
      {"[Ljava.lang.Object;", {"[Ljava.lang.Object;", -8012369246846506644, kSerializable, {}, ""}},
      {"[Ljava.lang.String;", {"[Ljava.lang.String;", -5921575005990323385, kSerializable, {}, ""}},
  };
  return kClasses;
}

}  // namespace fairlead::wire::java_stream
