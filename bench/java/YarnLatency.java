import java.nio.file.*;
import java.util.*;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.client.api.*;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * How long a cluster takes, seen by Hadoop's own client classes. Usage: YarnLatency DIRECTORY ROUNDS. Prints one line a sample:
 * NAME NANOSECONDS. Every container writes its own start time to a file below DIRECTORY, so the end of a start is what the process
 * itself saw, not what a report says.
 *
 *   master-start    from submitApplication to the first instruction of the master's process
 *   ask-to-grant    from the allocate call that carries an ask to the return of the one that carries the grant; calls follow
 *                   each other at once
 *   grant-call      the allocate call that returned the grant, alone
 *   ask-to-process  from the ask to the first instruction of the container's process
 */
public class YarnLatency {
  static final YarnConfiguration CONF = new YarnConfiguration();
  static Path directory;

  static long nowNanos() {
    var now = java.time.Instant.now();
    return now.getEpochSecond() * 1_000_000_000L + now.getNano();
  }

  static void print(String name, long nanos) {
    System.out.println(name + " " + nanos);
  }

  static ContainerLaunchContext stamping(Path file) {
    String command = "date +%s%N > " + file + ".tmp && mv " + file + ".tmp " + file;
    return ContainerLaunchContext.newInstance(null, null, Collections.singletonList(command), null, null, null);
  }

  /** Waits for the file that a container writes; gives the time it holds. */
  static long stampIn(Path file) throws Exception {
    try (WatchService watch = directory.getFileSystem().newWatchService()) {
      directory.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
      while (!Files.exists(file)) {
        WatchKey key = watch.poll(60, java.util.concurrent.TimeUnit.SECONDS);
        if (key == null) throw new AssertionError("no process has started within 60 s: " + file);
        key.pollEvents();
        key.reset();
      }
    }
    return Long.parseLong(Files.readString(file).trim());
  }

  static ApplicationSubmissionContext context(YarnClientApplication application, boolean unmanaged, ContainerLaunchContext master) {
    ApplicationSubmissionContext context = application.getApplicationSubmissionContext();
    context.setApplicationName("latency");
    context.setQueue("root.alpha");
    context.setMaxAppAttempts(1);
    context.setResource(Resource.newInstance(256, 1));
    context.setUnmanagedAM(unmanaged);
    context.setAMContainerSpec(master);
    return context;
  }

  static void masterStarts(YarnClient client, int rounds) throws Exception {
    for (int i = 0; i < rounds; ++i) {
      Path file = directory.resolve("master-" + i);
      YarnClientApplication application = client.createApplication();
      ApplicationSubmissionContext context = context(application, false, stamping(file));
      long begin = nowNanos();
      client.submitApplication(context);
      print("master-start", stampIn(file) - begin);
    }
  }

  static ApplicationId unmanaged(YarnClient client) throws Exception {
    ApplicationId id = client.submitApplication(context(client.createApplication(), true,
        ContainerLaunchContext.newInstance(null, null, null, null, null, null)));
    while (client.getApplicationReport(id).getYarnApplicationState() != YarnApplicationState.ACCEPTED
           || client.getApplicationReport(id).getAMRMToken() == null) {
      Thread.onSpinWait();
    }
    UserGroupInformation.getCurrentUser().addToken(client.getAMRMToken(id));
    return id;
  }

  static void containers(YarnClient client, int rounds) throws Exception {
    unmanaged(client);
    AMRMClient<ContainerRequest> master = AMRMClient.createAMRMClient();
    master.init(CONF);
    master.start();
    NMClient nodes = NMClient.createNMClient();
    nodes.init(CONF);
    nodes.start();
    master.registerApplicationMaster("localhost", 0, "");
    for (int i = 0; i < rounds; ++i) {
      ContainerRequest ask = new ContainerRequest(Resource.newInstance(256, 1), null, null, Priority.newInstance(1));
      master.addContainerRequest(ask);
      Path file = directory.resolve("container-" + i);
      long wall = nowNanos();
      long begin = System.nanoTime();
      Container granted = null;
      while (granted == null) {
        long call = System.nanoTime();
        AllocateResponse response = master.allocate(0.5f);
        if (response.getAllocatedContainers().isEmpty()) continue;
        granted = response.getAllocatedContainers().get(0);
        print("grant-call", System.nanoTime() - call);
      }
      print("ask-to-grant", System.nanoTime() - begin);
      nodes.startContainer(granted, stamping(file));
      print("ask-to-process", stampIn(file) - wall);
      master.removeContainerRequest(ask);
      master.releaseAssignedContainer(granted.getId());
      boolean ended = false;
      while (!ended) ended = !master.allocate(0.5f).getCompletedContainersStatuses().isEmpty();
    }
    master.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "", "");
    nodes.stop();
    master.stop();
  }

  public static void main(String[] words) throws Exception {
    directory = Path.of(words[0]);
    int rounds = Integer.parseInt(words[1]);
    YarnClient client = YarnClient.createYarnClient();
    client.init(CONF);
    client.start();
    masterStarts(client, Math.max(3, rounds / 5));
    containers(client, rounds);
    client.stop();
  }
}
