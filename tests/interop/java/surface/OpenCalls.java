import java.security.PrivilegedExceptionAction;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Clients at their default settings, each with a connection of its own, ask for new applications all the time, until the program's input ends; a line
 * tells of each call whose it was and how many milliseconds it took.
 */
public class OpenCalls {
  static void ask(int number) throws Exception {
    UserGroupInformation.createRemoteUser("client" + number).doAs((PrivilegedExceptionAction<Void>) () -> {
      YarnClient client = YarnClient.createYarnClient();
      client.init(new YarnConfiguration());
      client.start();
      while (true) {
        long began = System.nanoTime();
        client.createApplication();
        System.out.println("took " + number + " " + (System.nanoTime() - began) / 1_000_000);
        Thread.sleep(10);
      }
    });
  }

  public static void main(String[] arguments) throws Exception {
    for (int client = 0; client < Integer.parseInt(arguments[0]); ++client) {
      int number = client;
      Thread thread = new Thread(() -> {
        try {
          ask(number);
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
