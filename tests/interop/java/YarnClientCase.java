import java.util.Collections;
import java.util.EnumSet;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException;

/** What Hadoop's own client sees: metrics, nodes, queues, an application from submission to its end, and a wrong id. */
public class YarnClientCase {
  static void check(boolean good, String what) {
    if (!good) throw new AssertionError(what);
    System.out.println("ok " + what);
  }

  static ApplicationId submit(YarnClient client, String queue, String command) throws Exception {
    YarnClientApplication application = client.createApplication();
    ApplicationSubmissionContext context = application.getApplicationSubmissionContext();
    context.setApplicationName("yarn-client-case");
    context.setQueue(queue);
    context.setMaxAppAttempts(1);
    context.setResource(Resource.newInstance(256, 1));
    context.setAMContainerSpec(ContainerLaunchContext.newInstance(
        null, Collections.singletonMap("GREETING", "hello"), Collections.singletonList(command), null, null, null));
    return client.submitApplication(context);
  }

  static ApplicationReport await(YarnClient client, ApplicationId id, EnumSet<YarnApplicationState> states) throws Exception {
    long deadline = System.currentTimeMillis() + 60_000;
    while (true) {
      ApplicationReport report = client.getApplicationReport(id);
      if (states.contains(report.getYarnApplicationState())) return report;
      if (System.currentTimeMillis() > deadline) throw new AssertionError("still " + report.getYarnApplicationState());
      Thread.sleep(50);
    }
  }

  public static void main(String[] arguments) throws Exception {
    YarnClient client = YarnClient.createYarnClient();
    client.init(new YarnConfiguration());
    client.start();
    check(client.getYarnClusterMetrics().getNumNodeManagers() == 2, "cluster metrics count two nodes");
    check(client.getNodeReports(NodeState.RUNNING).size() == 2, "both nodes run");
    check(client.getQueueInfo("root.alpha") != null, "queue info of root.alpha");
    EnumSet<YarnApplicationState> ended =
        EnumSet.of(YarnApplicationState.FINISHED, YarnApplicationState.FAILED, YarnApplicationState.KILLED);

    ApplicationId silent = submit(client, "root.alpha", "test \"$GREETING\" = hello && exit 3");
    ApplicationReport failed = await(client, silent, ended);
    check(failed.getYarnApplicationState() == YarnApplicationState.FAILED, "a master that ends without registering fails");
    check(failed.getDiagnostics().contains("exitCode: 3"), "its diagnostics name the exit code: " + failed.getDiagnostics());

    ApplicationId sleeper = submit(client, "root.beta", "exec sleep 1000");
    await(client, sleeper, EnumSet.of(YarnApplicationState.ACCEPTED));
    check(client.getApplications(EnumSet.of(YarnApplicationState.ACCEPTED)).size() == 1, "one application is accepted");
    client.killApplication(sleeper);
    check(await(client, sleeper, ended).getYarnApplicationState() == YarnApplicationState.KILLED, "a killed application is KILLED");

    try {
      client.getApplicationReport(ApplicationId.newInstance(1, 1));
      check(false, "an unknown application is refused");
    } catch (ApplicationNotFoundException e) {
      check(true, "an unknown application is refused with ApplicationNotFoundException");
    }
    client.stop();
  }
}
