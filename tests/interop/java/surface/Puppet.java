import java.io.File;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.security.PrivilegedExceptionAction;
import java.util.*;
import java.util.function.Consumer;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.SecurityUtil;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.TokenIdentifier;
import org.apache.hadoop.yarn.api.ApplicationMasterProtocol;
import org.apache.hadoop.yarn.api.ContainerManagementProtocol;
import org.apache.hadoop.yarn.api.protocolrecords.*;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.client.api.YarnClientApplication;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.ipc.YarnRPC;
import org.apache.hadoop.yarn.util.ConverterUtils;

/**
 * An application whose master's process only waits for a word; the probe speaks in its place, with the tokens that the process got. So
 * one JVM plays any number of masters, well or badly behaved.
 */
final class Puppet {
  static final Path DIRECTORY = Paths.get(System.getenv("PUPPETS")).toAbsolutePath();
  final ApplicationId id;
  private final Map<Integer, UserGroupInformation> callers = new HashMap<>();
  final Map<NodeId, Token> nmTokens = new HashMap<>();
  int response;
  String page = "http://127.0.0.1:1/ui";  // what the master says its web page is

  Puppet(Consumer<ApplicationSubmissionContext> change) throws Exception {
    this(Surface.CLIENT.createApplication(), change);
  }

  Puppet(YarnClientApplication application, Consumer<ApplicationSubmissionContext> change) throws Exception {
    ApplicationSubmissionContext context = context(application.getApplicationSubmissionContext());
    change.accept(context);
    id = submitted(context);
  }

  /** YarnClient takes an application that failed between its looks for one that was refused; which it is depends on the moment. */
  private static ApplicationId submitted(ApplicationSubmissionContext context) throws Exception {
    try {
      return Surface.CLIENT.submitApplication(context);
    } catch (YarnException e) {
      ApplicationId id = context.getApplicationId();
      boolean failed = e.getMessage().startsWith("Failed to submit") && !Surface.CLIENT.getApplicationAttempts(id).isEmpty();
      if (!failed) throw e;
      return id;
    }
  }

  /** A puppet that somebody else submitted. */
  Puppet(ApplicationId id) {
    this.id = id;
  }

  /** A submission of a puppet named "puppet" to root.alpha with one attempt of 256 MB. */
  static ApplicationSubmissionContext context(ApplicationSubmissionContext context) throws Exception {
    Path script = DIRECTORY.resolve("puppet.sh");
    if (!Files.exists(script)) {
      Files.createDirectories(DIRECTORY);
      Files.writeString(script,
          "cd " + DIRECTORY + "\n"
              + ": > token.$CONTAINER_ID.new; [ ! -f \"$HADOOP_TOKEN_FILE_LOCATION\" ] || cp \"$HADOOP_TOKEN_FILE_LOCATION\" token.$CONTAINER_ID.new\n"
              + "env > env.$CONTAINER_ID\n"
              + "echo out of $CONTAINER_ID; echo err of $CONTAINER_ID >&2\n"
              + "mv token.$CONTAINER_ID.new token.$CONTAINER_ID\n"
              + "until [ -s exit.$CONTAINER_ID ]; do sleep 0.1; done\n"
              + "exit $(cat exit.$CONTAINER_ID)\n");
    }
    context.setApplicationName("puppet");
    context.setQueue("root.alpha");
    context.setMaxAppAttempts(1);
    context.setResource(Resource.newInstance(256, 1));
    context.setAMContainerSpec(launch());
    return context;
  }

  static ContainerLaunchContext launch() {
    return launch("exec bash " + DIRECTORY + "/puppet.sh 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr");
  }

  static ContainerLaunchContext launch(String command) {
    return ContainerLaunchContext.newInstance(null, null, Collections.singletonList(command), null, null, null);
  }

  ApplicationAttemptId attempt(int number) {
    return ApplicationAttemptId.newInstance(id, number);
  }

  ContainerId master(int attempt) {
    return ContainerId.newContainerId(attempt(attempt), 1);
  }

  boolean runs(ContainerId container) {
    return Files.exists(DIRECTORY.resolve("token." + container));
  }

  void awaitRunning(ContainerId container) throws Exception {
    Surface.await(container + " to run", () -> runs(container));
  }

  /** Ends the process of a container that plays a puppet. */
  static void exit(ContainerId container, int code) throws Exception {
    Path part = DIRECTORY.resolve("part." + container);
    Files.writeString(part, Integer.toString(code));
    Files.move(part, DIRECTORY.resolve("exit." + container), StandardCopyOption.ATOMIC_MOVE);
  }

  /** The caller that the master of this attempt is, once its process runs. */
  UserGroupInformation caller(int attempt) throws Exception {
    if (!callers.containsKey(attempt)) {
      awaitRunning(master(attempt));
      Credentials credentials = Credentials.readTokenStorageFile(DIRECTORY.resolve("token." + master(attempt)).toFile(), Surface.CONF);
      UserGroupInformation caller = UserGroupInformation.createRemoteUser(attempt(attempt).toString());
      for (org.apache.hadoop.security.token.Token<? extends TokenIdentifier> token : credentials.getAllTokens()) {
        token.setService(SecurityUtil.buildTokenService(scheduler()));
        caller.addToken(token);
      }
      callers.put(attempt, caller);
    }
    return callers.get(attempt);
  }

  static InetSocketAddress scheduler() {
    return Surface.CONF.getSocketAddr(YarnConfiguration.RM_SCHEDULER_ADDRESS, "0.0.0.0:8030", 8030);
  }

  static ApplicationMasterProtocol protocol(UserGroupInformation caller) {
    return caller.doAs((java.security.PrivilegedAction<ApplicationMasterProtocol>) () -> (ApplicationMasterProtocol) YarnRPC
        .create(Surface.CONF).getProxy(ApplicationMasterProtocol.class, scheduler(), Surface.CONF));
  }

  /** ApplicationMasterProtocol in the name of an attempt. */
  ApplicationMasterProtocol protocol(int attempt) throws Exception {
    return protocol(caller(attempt));
  }

  RegisterApplicationMasterResponse register(int attempt) throws Exception {
    response = 0;
    return protocol(attempt).registerApplicationMaster(RegisterApplicationMasterRequest.newInstance("here", 1234, page));
  }

  AllocateResponse allocate(int attempt, List<ResourceRequest> asks, List<ContainerId> releases) throws Exception {
    return allocate(attempt, AllocateRequest.newInstance(response, 0.5f, asks, releases, null));
  }

  AllocateResponse allocate(int attempt, AllocateRequest request) throws Exception {
    AllocateResponse answer = protocol(attempt).allocate(request);
    response = answer.getResponseId();
    for (NMToken token : answer.getNMTokens()) nmTokens.put(token.getNodeId(), token.getToken());
    return answer;
  }

  static ResourceRequest ask(int priority, int memory, int count) {
    return ResourceRequest.newInstance(Priority.newInstance(priority), "*", Resource.newInstance(memory, 1), count);
  }

  /** Asks and polls until that many containers are granted. */
  List<Container> grants(int attempt, int memory, int count) throws Exception {
    List<Container> granted = new ArrayList<>(allocate(attempt, List.of(ask(1, memory, count)), null).getAllocatedContainers());
    Surface.await("grants", () -> {
      if (granted.size() < count) granted.addAll(allocate(attempt, null, null).getAllocatedContainers());
      return granted.size() >= count;
    });
    return granted;
  }

  /** ContainerManagementProtocol of a container's node in the name of this application. */
  ContainerManagementProtocol node(int attempt, NodeId node) throws Exception {
    return node(attempt(attempt).toString(), node, nmTokens.get(node));
  }

  static ContainerManagementProtocol node(String user, NodeId node, Token nmToken) throws Exception {
    InetSocketAddress address = new InetSocketAddress(node.getHost(), node.getPort());
    UserGroupInformation caller = UserGroupInformation.createRemoteUser(user);
    if (nmToken != null) caller.addToken(ConverterUtils.convertFromYarn(nmToken, address));
    return caller.doAs((PrivilegedExceptionAction<ContainerManagementProtocol>) () -> (ContainerManagementProtocol) YarnRPC
        .create(Surface.CONF).getProxy(ContainerManagementProtocol.class, address, Surface.CONF));
  }

  StartContainersResponse start(int attempt, Container container, ContainerLaunchContext launch) throws Exception {
    return node(attempt, container.getNodeId()).startContainers(StartContainersRequest.newInstance(
        List.of(StartContainerRequest.newInstance(launch, container.getContainerToken()))));
  }

  FinishApplicationMasterResponse finish(int attempt, FinalApplicationStatus status, String diagnostics) throws Exception {
    return protocol(attempt).finishApplicationMaster(FinishApplicationMasterRequest.newInstance(status, diagnostics, "http://127.0.0.1:1/done"));
  }

  /** Finishes until the answer says that it is stored, and lets the process end. */
  void end(int attempt, FinalApplicationStatus status, String diagnostics) throws Exception {
    Surface.await("unregistration", () -> finish(attempt, status, diagnostics).getIsUnregistered());
    exit(master(attempt), 0);
    Surface.awaitState(id, Surface.ENDED);
  }
}
