import java.util.*;
import java.util.stream.Collectors;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.protocolrecords.*;
import org.apache.hadoop.yarn.api.records.*;

/** What depends on keys that few set: placement without a default, few kept applications, tokens that roll, preemption. */
public class RuleSurface extends Surface {
  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "placement": placement(); break;
      case "eviction": eviction(); break;
      case "rolling": rolling(); break;
      case "preemption": preemption(); break;
      case "opportunistic": opportunistic(); break;
      default: throw new IllegalArgumentException(arguments[0]);
    }
    System.exit(0);
  }

  static String submitted(String queue) throws Exception {
    ApplicationId id = new Puppet(c -> c.setQueue(queue)).id;
    await(id + " to be placed", () -> !EnumSet.of(YarnApplicationState.NEW, YarnApplicationState.NEW_SAVING, YarnApplicationState.SUBMITTED)
        .contains(CLIENT.getApplicationReport(id).getYarnApplicationState()));
    String seen = brief(CLIENT.getApplicationReport(id));
    CLIENT.killApplication(id);
    return seen.replace("AM container is launched, waiting for AM container to Register with RM", "");  // or not yet
  }

  static void placement() throws Exception {
    for (String queue : new String[] {"root.alpha", "alpha", "root.nowhere", "nowhere", "default", "root.default", "root", "root.alpha.below", "root.parent",
        "root.parent.below", "root.parent.child", ".", "root.", "root.al pha", "ROOT.alpha"}) {
      call("queue." + queue, () -> submitted(queue));
    }
    call("after", () -> CLIENT.getAllQueues().stream().map(QueueInfo::getQueueName).sorted().collect(Collectors.toList()));
  }

  /** Ended applications beyond what is kept go, the oldest first. */
  static void eviction() throws Exception {
    List<ApplicationId> ids = new ArrayList<>();
    for (int i = 0; i < 5; ++i) {
      ids.add(new Puppet(c -> c.setAMContainerSpec(Puppet.launch("true"))).id);
      awaitState(ids.get(i), ENDED);
    }
    await("eviction", () -> CLIENT.getApplications().size() == 3);
    call("kept", () -> CLIENT.getApplications().stream().map(r -> ids.indexOf(r.getApplicationId())).sorted().collect(Collectors.toList()));
    call("evicted.report", () -> CLIENT.getApplicationReport(ids.get(0)));
    call("evicted.attempts", () -> CLIENT.getApplicationAttempts(ids.get(0)));
    call("evicted.kill", () -> {
      CLIENT.killApplication(ids.get(0));
      return "done";
    });
    call("evicted.move", () -> {
      CLIENT.moveApplicationAcrossQueues(ids.get(0), "root.beta");
      return "done";
    });
    call("metrics", () -> CLIENT.getYarnClusterMetrics().getNumNodeManagers());
    for (int i = 0; i < 5; ++i) System.out.println("application " + ids.get(i));
  }

  /** The key of AMRM tokens rolls: the master is given a new one, and the first ends with its key. */
  static void rolling() throws Exception {
    Puppet puppet = new Puppet(c -> {});
    puppet.register(1);
    org.apache.hadoop.security.token.Token<?> first = puppet.caller(1).getTokens().iterator().next();
    Token[] fresh = new Token[1];
    await("a new token", () -> {
      fresh[0] = puppet.allocate(1, null, null).getAMRMToken();
      return fresh[0] != null;
    });
    call("fresh.kind", () -> fresh[0].getKind() + " identifier=" + (fresh[0].getIdentifier().remaining() > 0) + " service=" + fresh[0].getService());
    call("again", () -> puppet.allocate(1, null, null).getAMRMToken() != null);
    UserGroupInformation caller = UserGroupInformation.createRemoteUser(puppet.attempt(1) + "-fresh");
    org.apache.hadoop.security.token.Token<?> token = new org.apache.hadoop.security.token.Token<>(bytes(fresh[0].getIdentifier()), bytes(fresh[0].getPassword()),
        new org.apache.hadoop.io.Text(fresh[0].getKind()), SecurityUtil.buildTokenService(Puppet.scheduler()));
    caller.addToken(token);
    call("with-fresh", () -> {
      AllocateResponse answer = Puppet.protocol(caller).allocate(AllocateRequest.newInstance(puppet.response, 0.5f, null, null, null));
      puppet.response = answer.getResponseId();
      return answer.getAMRMToken() != null;
    });
    call("with-first", () -> puppet.allocate(1, null, null).getAMRMToken() != null);
    int[] round = {0};
    String[] refused = new String[1];
    await("the first token to end", () -> {
      // The master speaks all the time; each probe is another connection, for a token is checked when one is made.
      AllocateResponse answer = Puppet.protocol(caller).allocate(AllocateRequest.newInstance(puppet.response, 0.5f, null, null, null));
      puppet.response = answer.getResponseId();
      if (answer.getAMRMToken() != null && ++round[0] > 500) throw new AssertionError("no end of new tokens");
      UserGroupInformation old = UserGroupInformation.createRemoteUser("old-" + System.nanoTime());
      old.addToken(first);
      try {
        Puppet.protocol(old).allocate(AllocateRequest.newInstance(puppet.response, 0.5f, null, null, null));
        ++puppet.response;
      } catch (Exception e) {
        refused[0] = thrown(e).replaceAll("keyId: -?\\d+", "keyId: <n>").replaceAll("MasterKey -?\\d+", "MasterKey <n>");
        return true;
      }
      return false;
    });
    row("first-after-its-key", refused[0]);
    call("over-the-open-connection", () -> {
      AllocateResponse answer = Puppet.protocol(caller).allocate(AllocateRequest.newInstance(puppet.response, 0.5f, null, null, null));
      return answer.getResponseId() > 0;
    });
    CLIENT.killApplication(puppet.id);
  }

  static byte[] bytes(java.nio.ByteBuffer buffer) {
    byte[] copy = new byte[buffer.remaining()];
    buffer.duplicate().get(copy);
    return copy;
  }

  /** An application over its share is told which containers will go, then they go. */
  static void preemption() throws Exception {
    Puppet rich = new Puppet(c -> c.setQueue("root.alpha"));
    rich.register(1);
    List<Container> held = rich.grants(1, 1024, 10);
    for (Container container : held) rich.start(1, container, Puppet.launch());
    for (Container container : held) rich.awaitRunning(container.getId());
    Puppet poor = new Puppet(c -> c.setQueue("root.beta"));
    poor.register(1);
    poor.allocate(1, List.of(Puppet.ask(1, 1024, 4)), null);
    Set<ContainerId> told = new TreeSet<>();
    Map<ContainerId, ContainerStatus> gone = new TreeMap<>();
    boolean[] contract = new boolean[1];
    boolean[] unannounced = new boolean[1];
    List<Container> given = new ArrayList<>();
    await("preemption", () -> {
      AllocateResponse answer = rich.allocate(1, null, null);
      PreemptionMessage message = answer.getPreemptionMessage();
      for (ContainerStatus status : answer.getCompletedContainersStatuses()) {
        unannounced[0] |= !told.contains(status.getContainerId());
        gone.put(status.getContainerId(), status);
      }
      if (message != null && message.getStrictContract() != null)
        for (PreemptionContainer container : message.getStrictContract().getContainers()) told.add(container.getId());
      contract[0] |= message != null && message.getContract() != null;
      given.addAll(poor.allocate(1, null, null).getAllocatedContainers());
      return given.size() >= 3 && gone.size() >= 3;
    });
    row("told", told.size() >= gone.size() && told.containsAll(gone.keySet()));
    row("told-first", !unannounced[0]);
    row("negotiable", contract[0]);
    ContainerStatus one = gone.values().iterator().next();
    row("gone", one.getState() + " exit=" + one.getExitStatus() + " diagnostics=" + one.getDiagnostics());
    row("masters", CLIENT.getApplicationReport(rich.id).getYarnApplicationState() + " " + CLIENT.getApplicationReport(poor.id).getYarnApplicationState());
    CLIENT.killApplication(rich.id);
    CLIENT.killApplication(poor.id);
  }

  /** An ask for opportunistic containers while there are none. */
  static void opportunistic() throws Exception {
    Puppet puppet = new Puppet(c -> {});
    puppet.register(1);
    for (boolean enforce : new boolean[] {false, true}) {
      List<Container> granted = new ArrayList<>();
      granted.addAll(puppet.allocate(1, List.of(ResourceRequest.newBuilder().priority(Priority.newInstance(enforce ? 4 : 3)).resourceName("*")
          .capability(Resource.newInstance(256, 1)).numContainers(1).executionTypeRequest(
              ExecutionTypeRequest.newInstance(ExecutionType.OPPORTUNISTIC, enforce)).build()), null).getAllocatedContainers());
      for (int i = 0; i < 60 && granted.isEmpty(); ++i) {
        granted.addAll(puppet.allocate(1, null, null).getAllocatedContainers());
        Thread.sleep(100);
      }
      row("granted.enforce-" + enforce, granted.stream().map(c -> c.getExecutionType() + " " + c.getResource()).collect(Collectors.toList()));
      for (Container container : granted) {
        call("started.enforce-" + enforce, () -> {
          StartContainersResponse answer = puppet.start(1, container, Puppet.launch());
          puppet.awaitRunning(container.getId());
          ContainerStatus status = puppet.node(1, container.getNodeId()).getContainerStatuses(
              GetContainerStatusesRequest.newInstance(List.of(container.getId()))).getContainerStatuses().get(0);
          return answer.getFailedRequests().size() + " failed, " + status.getState() + " " + status.getExecutionType();
        });
      }
    }
    CLIENT.killApplication(puppet.id);
  }
}
