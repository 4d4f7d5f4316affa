import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.*;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.ToolRunner;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.client.cli.RMAdminCLI;

/** A node that is decommissioned gracefully while a container runs on it. Its argument is the exclude file. */
public class Decommission extends Surface {
  static NodeReport second() throws Exception {
    for (NodeReport report : CLIENT.getNodeReports()) if (report.getNodeId().getHost().equals("127.0.0.2")) return report;
    throw new AssertionError("the second node is not listed");
  }

  static void refresh(String name, String... words) {
    call(name, () -> ToolRunner.run(new Configuration(CONF), new RMAdminCLI(), words));
  }

  public static void main(String[] arguments) throws Exception {
    Path exclude = Paths.get(arguments[0]);
    Puppet puppet = new Puppet(c -> c.setQueue("root.beta"));
    puppet.register(1);
    List<Container> granted = puppet.grants(1, 256, 8);
    Container there = granted.stream().filter(c -> c.getNodeId().getHost().equals("127.0.0.2")).findFirst().get();
    for (Container container : granted) if (container != there) puppet.allocate(1, null, List.of(container.getId()));
    puppet.start(1, there, Puppet.launch());
    puppet.awaitRunning(there.getId());
    Thread.sleep(2500);  // Hadoop's node tells of a running container at its next heartbeat
    refresh("refresh.nothing", "-refreshNodes");
    Files.writeString(exclude, "127.0.0.2\n");
    refresh("refresh.graceful", "-refreshNodes", "-g", "100", "-server");
    await("the node to begin", () -> second().getNodeState() == NodeState.DECOMMISSIONING);
    call("decommissioning", () -> second().getNodeState() + " timeout=" + second().getDecommissioningTimeout());
    call("metrics", () -> CLIENT.getYarnClusterMetrics().getNumActiveNodeManagers() + " active, " + CLIENT.getYarnClusterMetrics().getNumDecommissioningNodeManagers()
        + " decommissioning");
    call("told", () -> {
      Set<String> told = new TreeSet<>();
      for (int round = 0; round < 5 && told.isEmpty(); ++round) {
        for (NodeReport report : puppet.allocate(1, null, null).getUpdatedNodes())
          told.add(report.getNodeId().getHost() + " " + report.getNodeState() + " " + report.getNodeUpdateType());
        Thread.sleep(300);
      }
      return told;
    });
    call("no-more-grants", () -> puppet.grants(1, 256, 5).stream().map(c -> c.getNodeId().getHost()).filter(h -> h.equals("127.0.0.2")).count());
    Puppet.exit(there.getId(), 0);
    puppet.end(1, FinalApplicationStatus.SUCCEEDED, "");
    await("the node to be gone", () -> second().getNodeState() == NodeState.DECOMMISSIONED);
    call("decommissioned", () -> second().getNodeState() + " containers=" + second().getNumContainers());
    call("metrics.after", () -> CLIENT.getYarnClusterMetrics().getNumActiveNodeManagers() + " active, " + CLIENT.getYarnClusterMetrics().getNumDecommissionedNodeManagers()
        + " decommissioned");
    Files.writeString(exclude, "");
    refresh("refresh.again", "-refreshNodes");
    call("readmitted", () -> CLIENT.getNodeReports().stream().map(r -> r.getNodeState().toString()).sorted().collect(Collectors.toList()));
    System.exit(0);
  }
}
