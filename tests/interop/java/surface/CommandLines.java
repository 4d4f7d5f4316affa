import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.client.cli.*;

/** What the `yarn` and `mapred` commands print, run in one JVM. */
public class CommandLines extends Surface {
  static final PrintStream OUT = System.out;
  static final Map<String, String> NAMES = new LinkedHashMap<>();

  interface Maker {
    Tool make() throws Exception;
  }

  static Tool mapredQueue() throws Exception {
    java.lang.reflect.Constructor<?> constructor = Class.forName("org.apache.hadoop.mapred.JobQueueClient").getDeclaredConstructor();
    constructor.setAccessible(true);
    return (Tool) constructor.newInstance();
  }

  static final Set<String> SEEN = new HashSet<>();

  static void run(String command, Maker maker, String... words) throws Exception {
    String name = (command + " " + String.join(" ", words)).strip();
    for (Map.Entry<String, String> entry : NAMES.entrySet()) name = name.replace(entry.getKey(), entry.getValue());
    while (!SEEN.add(name)) name += " again";
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(said, true);
    PrintStream error = System.err;
    String result;
    System.setOut(stream);
    System.setErr(stream);
    try {
      Tool tool = maker.make();
      if (tool instanceof YarnCLI) {
        ((YarnCLI) tool).setSysOutPrintStream(stream);
        ((YarnCLI) tool).setSysErrPrintStream(stream);
      }
      result = "exit " + ToolRunner.run(new Configuration(CONF), tool, words);
    } catch (Exception e) {
      result = thrown(e);
    } finally {
      System.setOut(OUT);
      System.setErr(error);
    }
    List<String> lines = new ArrayList<>();
    for (String line : said.toString().split("\n")) {
      String plain = line.strip().replaceAll("\\s+", " ");
      if (!plain.isEmpty() && !plain.contains(" INFO ") && !plain.startsWith("SLF4J") && !plain.startsWith("log4j:")) lines.add(plain);
    }
    // Lists come in no order that two clusters share.
    List<String> listed = new ArrayList<>(lines);
    listed.removeIf(line -> !line.startsWith("container_") && !line.startsWith("application_"));
    Iterator<String> sorted = listed.stream().sorted().iterator();
    lines.replaceAll(line -> listed.contains(line) ? sorted.next() : line);
    lines.add(0, result);
    row(name, String.join("\n", lines));
  }

  static void yarn(String... words) throws Exception {
    run("", ApplicationCLI::new, words);
  }

  public static void main(String[] arguments) throws Exception {
    org.apache.hadoop.yarn.webapp.util.WebServiceClient.initialize(CONF);  // as LogsCLI's own main does
    Puppet finished = new Puppet(c -> {
      c.setApplicationName("finished");
      c.setApplicationType("SPARK");
      c.setApplicationTags(Set.of("one"));
    });
    finished.register(1);
    Container first = finished.grants(1, 256, 1).get(0);
    finished.start(1, first, Puppet.launch());
    finished.awaitRunning(first.getId());
    Puppet.exit(first.getId(), 0);
    finished.end(1, FinalApplicationStatus.SUCCEEDED, "all good");
    Puppet failed = new Puppet(c -> {
      c.setApplicationName("failed");
      c.setAMContainerSpec(Puppet.launch("echo the reason >&2; exit 9"));
    });
    awaitState(failed.id, ENDED);
    Puppet running = new Puppet(c -> {
      c.setApplicationName("running");
      c.setQueue("root.beta");
      c.setMaxAppAttempts(2);
    });
    running.register(1);
    Container second = running.grants(1, 256, 1).get(0);
    running.start(1, second, Puppet.launch());
    running.awaitRunning(second.getId());
    await("aggregated logs", () -> CLIENT.getApplicationReport(finished.id).getLogAggregationStatus() == LogAggregationStatus.SUCCEEDED);
    Thread.sleep(2500);  // Hadoop's node tells of a running container at its next heartbeat
    String done = finished.id.toString(), bad = failed.id.toString(), live = running.id.toString();
    String node = second.getNodeId().toString();
    NAMES.put(done, "DONE");
    NAMES.put(bad, "BAD");
    NAMES.put(live, "LIVE");
    NAMES.put(node, "NODE");
    for (Map.Entry<String, String> entry : new ArrayList<>(NAMES.entrySet()))
      if (entry.getKey().startsWith("application")) NAMES.put(entry.getKey().substring("application".length()), "_" + entry.getValue());
    String attempt = running.attempt(1).toString();
    yarn("application", "-list");
    yarn("application", "-list", "-appStates", "FINISHED,FAILED");
    yarn("application", "-list", "-appStates", "NONSENSE");
    yarn("application", "-list", "-appTypes", "SPARK", "-appStates", "ALL");
    yarn("application", "-list", "-appTags", "one", "-appStates", "ALL");
    for (String id : new String[] {done, bad, live, "application_1_0001", "nonsense"}) yarn("application", "-status", id);
    for (String id : new String[] {done, live, "application_1_0001"}) yarn("applicationattempt", "-list", id);
    yarn("applicationattempt", "-status", attempt);
    yarn("applicationattempt", "-status", attempt.replace("_000001", "_000009"));
    yarn("container", "-list", attempt);
    yarn("container", "-status", second.getId().toString());
    yarn("container", "-status", running.master(1).toString().replace("_000001", "_000077"));
    run("node", NodeCLI::new, "-list");
    run("node", NodeCLI::new, "-list", "-all");
    run("node", NodeCLI::new, "-list", "-states", "LOST");
    run("node", NodeCLI::new, "-list", "-showDetails");
    run("node", NodeCLI::new, "-status", node);
    run("node", NodeCLI::new, "-status", "nohost:1");
    for (String queue : new String[] {"root.alpha", "alpha", "root", "nowhere"}) run("queue", QueueCLI::new, "-status", queue);
    run("cluster", ClusterCLI::new, "-lnl");
    for (String[] words : new String[][] {{"-list"}, {"-info", "root.alpha"}, {"-info", "root.beta", "-showJobs"}, {"-showacls"}})
      run("mapred queue", CommandLines::mapredQueue, words);
    run("logs", LogsCLI::new, "-applicationId", done);
    run("logs", LogsCLI::new, "-applicationId", done, "-log_files", "stderr");
    run("logs", LogsCLI::new, "-applicationId", done, "-show_container_log_info");
    run("logs", LogsCLI::new, "-applicationId", done, "-list_nodes");
    run("logs", LogsCLI::new, "-containerId", first.getId().toString(), "-log_files", "stdout");
    run("logs", LogsCLI::new, "-applicationId", bad, "-am", "1", "-log_files", "stderr");
    run("logs", LogsCLI::new, "-applicationId", live, "-log_files", "stdout");
    run("logs", LogsCLI::new, "-containerId", second.getId().toString(), "-log_files", "stdout", "-size", "5");
    run("logs", LogsCLI::new, "-applicationId", "application_1_0001");
    yarn("container", "-signal", second.getId().toString(), "OUTPUT_THREAD_DUMP");
    yarn("container", "-signal", second.getId().toString(), "NONSENSE");
    yarn("application", "-movetoqueue", live, "-queue", "root.alpha");
    yarn("application", "-movetoqueue", live, "-queue", "root.nowhere");
    yarn("application", "-updateLifetime", "5000", "-appId", live);
    yarn("applicationattempt", "-fail", attempt);
    running.awaitRunning(running.master(2));
    yarn("application", "-kill", live);
    yarn("application", "-kill", live);
    yarn("application", "-kill", "application_1_0001");
    for (String[] words : new String[][] {{"-refreshQueues"}, {"-refreshUserToGroupsMappings"}, {"-refreshSuperUserGroupsConfiguration"}, {"-refreshAdminAcls"},
        {"-refreshServiceAcl"}, {"-getGroups", "root"}, {"-updateNodeResource", node, "5120", "5"}, {"-updateNodeResource", "nohost:1", "1", "1"},
        {"-addToClusterNodeLabels", "x"}, {"-refreshClusterMaxPriority"}, {"-nonsense"}})
      run("rmadmin", RMAdminCLI::new, words);
    await("the node's new size", () -> CLIENT.getNodeReports(NodeState.RUNNING).get(0).getCapability().getMemorySize() == 5120);
    run("node", NodeCLI::new, "-list", "-showDetails");
    System.exit(0);
  }
}
