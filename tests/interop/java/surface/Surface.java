import java.security.PrivilegedExceptionAction;
import java.util.EnumSet;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** What the probes share: rows "name | value" of what a client sees, and waiting. */
class Surface {
  static final EnumSet<YarnApplicationState> ENDED =
      EnumSet.of(YarnApplicationState.FINISHED, YarnApplicationState.FAILED, YarnApplicationState.KILLED);
  static final Configuration CONF = new YarnConfiguration();
  static final YarnClient CLIENT = client();

  static YarnClient client() {
    YarnClient client = YarnClient.createYarnClient();
    client.init(CONF);
    client.start();
    return client;
  }

  static void row(String name, Object value) {
    System.out.println(name + " | " + String.valueOf(value).replace("\r", "").replace("\n", "\\n"));
  }

  /** The class of what was thrown and the first line of its text; what follows in Hadoop's is a stack trace. */
  static String thrown(Throwable e) {
    String message = String.valueOf(e.getMessage());
    int line = message.indexOf('\n');
    return "! " + e.getClass().getName() + ": " + (line < 0 ? message : message.substring(0, line));
  }

  /** The row of a call: its value, or what it threw. */
  static void call(String name, Callable<?> call) {
    Object value;
    try {
      value = call.call();
    } catch (Exception | Error e) {
      Throwable cause = e instanceof java.lang.reflect.UndeclaredThrowableException && e.getCause() != null ? e.getCause() : e;
      value = thrown(cause);
    }
    row(name, value);
  }

  interface Condition {
    boolean holds() throws Exception;
  }

  static void await(String what, Condition condition) throws Exception {
    long deadline = System.nanoTime() + 90_000_000_000L;
    while (!condition.holds()) {
      if (System.nanoTime() > deadline) throw new AssertionError("waited in vain for " + what);
      Thread.sleep(50);
    }
  }

  static ApplicationReport awaitState(ApplicationId id, EnumSet<YarnApplicationState> states) throws Exception {
    await(id + " in " + states, () -> states.contains(CLIENT.getApplicationReport(id).getYarnApplicationState()));
    return CLIENT.getApplicationReport(id);
  }

  static <T> T as(String user, PrivilegedExceptionAction<T> action) throws Exception {
    return UserGroupInformation.createRemoteUser(user).doAs(action);
  }

  /** What a report says of the application's state. */
  static String brief(ApplicationReport r) {
    return r.getYarnApplicationState() + " " + r.getFinalApplicationStatus() + " queue=" + r.getQueue() + " progress=" + r.getProgress()
        + " priority=" + r.getPriority() + " diagnostics=" + r.getDiagnostics();
  }
}
