// expect: reference to
#include "fairlead/engine.h"

#ifdef RIGHT
using namespace fairlead;
#else
using namespace fairlead::engine;  // whose names are not for users
#endif

struct Session {};
struct Buffer {};
struct Operator {};
struct Sink {};
struct Cursor {};
struct Records {};

void Job(fairlead::Context& context, const fairlead::Arguments&) {
  const Session session;
  const Buffer buffer;
  const Operator my_operator;
  const Sink sink;
  const Cursor cursor;
  const Records records;
  std::ignore = std::tie(session, buffer, my_operator, sink, cursor, records);
  context.Range(0, 10).Count();
}

FAIRLEAD_JOB(Job)
