import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Clients at their default settings, each with a connection of its own, ask for new applications all the time, until the program's input ends; a line
 * tells of each call how many milliseconds it took.
 */
public class OpenCalls {
  static void ask(String user) throws Exception {
    UserGroupInformation.createRemoteUser(user).doAs((PrivilegedExceptionAction<Void>) () -> {
      YarnClient client = YarnClient.createYarnClient();
      client.init(new YarnConfiguration());
      client.start();
      while (true) {
        long began = System.nanoTime();
        client.createApplication();
        System.out.println("took " + (System.nanoTime() - began) / 1_000_000);
        Thread.sleep(10);
      }
    });
  }

  public static void main(String[] arguments) throws Exception {
    for (int number = 0; number < Integer.parseInt(arguments[0]); ++number) {
      String user = "client" + number;
      Thread thread = new Thread(() -> {
        try {
          ask(user);
        } catch (Exception e) {
          System.out.println("failed " + e);
        }
      });
      thread.setDaemon(true);
      thread.start();
    }
    while (System.in.read() >= 0) continue;
    System.exit(0);
  }
}
