import java.util.Collections;
import org.apache.hadoop.yarn.api.ApplicationClientProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationsRequest;
import org.apache.hadoop.yarn.api.protocolrecords.GetClusterMetricsRequest;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.client.ClientRMProxy;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * Calls a resource manager on one connection. Usage: CallCost WARM-UP CALLS APPLICATIONS. Prints "begin NAME" and "end NAME" around CALLS calls of each name:
 * "small" has an answer of some 100 bytes, "large" one that lists that many applications, which wait for a node. The reader answers each with a line.
 */
public class CallCost {
  interface Call {
    void run() throws Exception;
  }

  static void measure(String name, int warmUp, int calls, Call call) throws Exception {
    for (int i = 0; i < warmUp; i++) call.run();
    tell("begin " + name);
    for (int i = 0; i < calls; i++) call.run();
    tell("end " + name);
  }

  static void tell(String text) throws Exception {
    System.out.println(text);
    while (System.in.read() != '\n') continue;
  }

  public static void main(String[] words) throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    try (YarnClient client = YarnClient.createYarnClient()) {
      client.init(conf);
      client.start();
      for (int i = 0; i < Integer.parseInt(words[2]); i++) submit(client);
    }
    ApplicationClientProtocol manager = ClientRMProxy.createRMProxy(conf, ApplicationClientProtocol.class);
    int warmUp = Integer.parseInt(words[0]);
    int calls = Integer.parseInt(words[1]);
    measure("small", warmUp, calls, () -> manager.getClusterMetrics(GetClusterMetricsRequest.newInstance()));
    measure("large", warmUp / 10, calls / 10, () -> manager.getApplications(GetApplicationsRequest.newInstance()));
    System.exit(0);
  }

  static void submit(YarnClient client) throws Exception {
    YarnClientApplication made = client.createApplication();
    ApplicationSubmissionContext context = made.getApplicationSubmissionContext();
    context.setApplicationName("waits");
    context.setQueue("root.alpha");
    context.setResource(Resource.newInstance(256, 1));
    context.setAMContainerSpec(ContainerLaunchContext.newInstance(null, null, Collections.singletonList("true"), null, null, null));
    client.submitApplication(context);
  }
}
