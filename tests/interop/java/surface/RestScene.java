import java.util.*;
import org.apache.hadoop.yarn.api.records.*;

/** Sets a scene of applications in every state (the running one's web page may be given), says "LABEL ID" for each and "ready", and holds it until its input ends. */
public class RestScene extends Surface {
  public static void main(String[] arguments) throws Exception {
    Puppet finished = new Puppet(c -> {
      c.setApplicationName("finished");
      c.setApplicationType("SPARK");
      c.setApplicationTags(Set.of("one", "two"));
    });
    finished.register(1);
    finished.end(1, FinalApplicationStatus.SUCCEEDED, "all <good> & \"well\"");
    Puppet failed = new Puppet(c -> {
      c.setApplicationName("failed");
      c.setMaxAppAttempts(2);
      c.setQueue("root.beta");
      c.setApplicationType("MAPREDUCE");
    });
    for (int attempt = 1; attempt <= 2; ++attempt) {
      failed.awaitRunning(failed.master(attempt));
      Puppet.exit(failed.master(attempt), 3);
    }
    awaitState(failed.id, ENDED);
    Puppet killed = new Puppet(c -> c.setApplicationName("killed"));
    killed.awaitRunning(killed.master(1));
    CLIENT.killApplication(killed.id);
    awaitState(killed.id, ENDED);
    Puppet running = new Puppet(c -> {
      c.setApplicationName("running");
      c.setApplicationTags(Set.of("alone"));
      c.setQueue("root.beta");
      c.setApplicationTimeouts(Map.of(ApplicationTimeoutType.LIFETIME, 4000L));
    });
    if (arguments.length > 0) running.page = arguments[0];
    running.register(1);
    List<Container> granted = running.grants(1, 256, 2);
    for (Container container : granted) {
      running.start(1, container, Puppet.launch());
      running.awaitRunning(container.getId());
    }
    Puppet accepted = new Puppet(c -> c.setApplicationName("accepted"));
    accepted.awaitRunning(accepted.master(1));
    Thread.sleep(3000);  // Hadoop's own node tells at its next heartbeat; no client can see that it did
    System.out.println("finished " + finished.id);
    System.out.println("failed " + failed.id);
    System.out.println("killed " + killed.id);
    System.out.println("running " + running.id);
    System.out.println("accepted " + accepted.id);
    System.out.println("ready");
    Thread beating = new Thread(() -> {
      try {
        while (true) {
          Thread.sleep(5000);
          running.allocate(1, null, null);
        }
      } catch (Exception e) {
        System.err.println(e);
      }
    });
    beating.setDaemon(true);
    beating.start();
    System.in.read();
    for (Container container : granted) Puppet.exit(container.getId(), 0);
    for (ApplicationReport report : CLIENT.getApplications(EnumSet.of(YarnApplicationState.ACCEPTED, YarnApplicationState.RUNNING)))
      CLIENT.killApplication(report.getApplicationId());
    System.exit(0);
  }
}
