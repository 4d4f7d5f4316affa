import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.net.NodeBase;
import org.apache.hadoop.util.VersionInfo;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.ConfigurationProvider;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.event.Dispatcher;
import org.apache.hadoop.yarn.event.Event;
import org.apache.hadoop.yarn.event.EventHandler;
import org.apache.hadoop.yarn.server.resourcemanager.RMContextImpl;
import org.apache.hadoop.yarn.server.resourcemanager.ahs.RMApplicationHistoryWriter;
import org.apache.hadoop.yarn.server.resourcemanager.metrics.NoOpSystemMetricPublisher;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.placement.ApplicationPlacementContext;
import org.apache.hadoop.yarn.server.resourcemanager.placement.PlacementManager;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptMetrics;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.ContainerAllocationExpirer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeImpl;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.UpdatedContainerInfo;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.constraint.AllocationTagsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;

/**
 * One of Hadoop's schedulers alone in its process (no RPC, no tokens, none of its threads), on the workloads of
 * src/scheduler/yarn_fair/yarn_fair_bench.cc and yarn_capacity/yarn_capacity_bench.cc: what was granted ends outside of
 * the measured time. KIND turnover is like src/scheduler/fairlead/fairlead_bench.cc instead: a full cluster, where every
 * heartbeat reports a container's end and what it frees is granted again (one container a heartbeat; there, all of a
 * node's).
 *
 * Arguments: KIND NODES QUEUES APPS, KIND one of any, local, multiple, drf, turnover (grants a second), update,
 * continuous (milliseconds a pass) of the FairScheduler; capacity, capacity-multiple, capacity-drf,
 * capacity-multiple-drf (grants a second) of the CapacityScheduler; of CPU time. Prints one JSON line with the median of five measurements.
 */
public final class SchedulerGrants {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final double WARM_UP_SECONDS = 6;
  private static final double WINDOW_SECONDS = 2;
  private static final int WINDOWS = 5;
  /** What surrounds a pass takes longer than the pass: so long at most for one measurement of them. */
  private static final double PASS_SECONDS = 8;
  private static final int ASK_COUNT = 1_000_000;
  private static final int NODE_MEMORY = 128 * 1024;
  private static final int NODE_CORES = 128;
  private static final int SMALL_NODE_CORES = 8;

  private final String kind;
  private final int queues;
  private final AbstractYarnScheduler<?, ?> scheduler;
  private final RMContextImpl context;
  private final List<Node> nodes = new ArrayList<>();
  private final Map<NodeId, Node> byId = new HashMap<>();
  private final List<ApplicationAttemptId> apps = new ArrayList<>();
  private final Field newlyAllocated;
  private int nextNode;
  private int disturbances;

  /** A node that reports the end of one container, or nothing. */
  private static final class Node extends RMNodeImpl {
    final ArrayDeque<ContainerId> running = new ArrayDeque<>();
    ContainerId ended;

    Node(RMContextImpl context, String host, String rack, Resource size) {
      super(NodeId.newInstance(host, 1), context, host, 1, 2, new NodeBase(host, rack), size, "1");
    }

    @Override
    public List<UpdatedContainerInfo> pullContainerUpdates() {
      if (ended == null) return List.of();
      ContainerStatus status = complete(ended);
      ended = null;
      return List.of(new UpdatedContainerInfo(List.of(), List.of(status), List.of()));
    }

    @Override
    public NodeState getState() {
      return NodeState.RUNNING;
    }
  }

  /** The scheduler gets its events at once, on the same thread; nobody else is there. */
  private final class Direct implements Dispatcher, EventHandler<Event> {
    @Override
    public EventHandler<Event> getEventHandler() {
      return this;
    }

    @Override
    @SuppressWarnings("rawtypes")
    public void register(Class<? extends Enum> type, EventHandler handler) {}

    @Override
    public void handle(Event event) {
      if (event instanceof SchedulerEvent) scheduler.handle((SchedulerEvent) event);
    }
  }

  private SchedulerGrants(String kind, int nodeCount, int queues, int appCount) throws Exception {
    this.kind = kind;
    this.queues = queues;
    scheduler = capacity() ? new CapacityScheduler() : new FairScheduler();
    newlyAllocated = SchedulerApplicationAttempt.class.getDeclaredField("newlyAllocatedContainers");
    newlyAllocated.setAccessible(true);
    DefaultMetricsSystem.setMiniClusterMode(true);
    Configuration conf = configuration();
    Direct dispatcher = new Direct();
    ContainerAllocationExpirer expirer = new ContainerAllocationExpirer(dispatcher);
    expirer.init(conf);
    context = new RMContextImpl(dispatcher, expirer, null, null, null, null, null, null, null);
    context.setYarnConfiguration(conf);
    RMApplicationHistoryWriter history = new RMApplicationHistoryWriter();
    history.init(conf);
    context.setRMApplicationHistoryWriter(history);
    context.setSystemMetricsPublisher(new NoOpSystemMetricPublisher());
    context.setAllocationTagsManager(new AllocationTagsManager(context));
    context.setQueuePlacementManager(new PlacementManager());
    RMNodeLabelsManager labels = new RMNodeLabelsManager();
    labels.init(conf);
    context.setNodeLabelManager(labels);
    context.setScheduler(scheduler);
    if (scheduler instanceof CapacityScheduler) {
      ((CapacityScheduler) scheduler).setConf(conf);
      context.setConfigurationProvider(new Written(conf));
    }
    ((ResourceScheduler) scheduler).setRMContext(context);
    scheduler.init(conf);
    for (int n = 0; n < nodeCount; ++n) addNode(n);
    for (int a = 0; a < appCount; ++a) addApp(a);
    if (scheduler instanceof FairScheduler) ((FairScheduler) scheduler).update();
  }

  private boolean capacity() {
    return kind.startsWith("capacity");
  }

  private boolean multiple() {
    return kind.contains("multiple");
  }

  private Configuration configuration() throws Exception {
    return capacity() ? ofCapacity() : ofFair();
  }

  private Configuration ofCapacity() {
    Configuration conf = new YarnConfiguration();
    String prefix = "yarn.scheduler.capacity.";
    StringBuilder names = new StringBuilder();
    for (int q = 0; q < queues; ++q) {
      names.append(q == 0 ? "" : ",").append("queue").append(q);
      conf.set(prefix + "root.queue" + q + ".capacity", String.valueOf(100.0 / queues));
    }
    conf.set(prefix + "root.queues", names.toString());
    conf.set(prefix + "maximum-applications", "100000");
    conf.set(prefix + "user-limit-factor", "100");
    conf.set(prefix + "maximum-am-resource-percent", "1");
    conf.set(prefix + "per-node-heartbeat.maximum-offswitch-assignments", multiple() ? "10" : "1");
    conf.set(prefix + "per-node-heartbeat.maximum-container-assignments", multiple() ? "10" : "1");
    conf.set(prefix + "per-node-heartbeat.multiple-assignments-enabled", String.valueOf(multiple()));
    if (kind.endsWith("drf")) {
      conf.set(prefix + "resource-calculator", "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator");
    }
    return conf;
  }

  /** capacity-scheduler.xml, without a file. */
  private static final class Written extends ConfigurationProvider {
    private final Configuration conf;

    Written(Configuration conf) {
      this.conf = conf;
    }

    @Override
    public void initInternal(Configuration bootstrap) {}

    @Override
    public InputStream getConfigurationInputStream(Configuration bootstrap, String name) throws IOException {
      ByteArrayOutputStream xml = new ByteArrayOutputStream();
      conf.writeXml(xml);
      return new ByteArrayInputStream(xml.toByteArray());
    }

    @Override
    public void closeInternal() {}
  }

  private Configuration ofFair() throws Exception {
    StringBuilder xml = new StringBuilder("<allocations><queueMaxAMShareDefault>-1.0</queueMaxAMShareDefault>");
    xml.append("<defaultQueueSchedulingPolicy>").append(kind.equals("drf") ? "drf" : "fair");
    xml.append("</defaultQueueSchedulingPolicy>");
    for (int q = 0; q < queues; ++q) {
      xml.append("<queue name=\"queue").append(q).append("\"><weight>").append(1 + q % 3).append("</weight>");
      if (kind.equals("turnover")) xml.append("<maxResources>90%</maxResources>");
      xml.append("</queue>");
    }
    Path file = Files.createTempFile("fair-scheduler", ".xml");
    file.toFile().deleteOnExit();
    Files.writeString(file, xml.append("</allocations>"));
    Configuration conf = new YarnConfiguration();
    conf.set("yarn.scheduler.fair.allocation.file", file.toString());
    conf.setBoolean("yarn.scheduler.fair.assignmultiple", multiple());
    if (kind.equals("continuous")) {
      conf.setBoolean("yarn.scheduler.fair.continuous-scheduling-enabled", true);
      conf.setLong("yarn.scheduler.fair.locality-delay-node-ms", 1000);
      conf.setLong("yarn.scheduler.fair.locality-delay-rack-ms", 1000);
    }
    return conf;
  }

  private static String host(int n) {
    return "host" + n + ".example.org";
  }

  private static String rack(int n) {
    return "/rack" + n / 40;
  }

  private void addNode(int n) {
    // Continuous scheduling takes nodes of equal free memory for one.
    int memory = NODE_MEMORY + (kind.equals("continuous") ? n : 0);
    Resource size = kind.equals("turnover") ? Resource.newInstance(SMALL_NODE_CORES * 1024, SMALL_NODE_CORES)
        : Resource.newInstance(memory, NODE_CORES);
    nodes.add(new Node(context, host(n), rack(n), size));
    byId.put(nodes.get(n).getNodeID(), nodes.get(n));
    scheduler.handle(new NodeAddedSchedulerEvent(nodes.get(n)));
  }

  private void addApp(int a) {
    ApplicationId id = ApplicationId.newInstance(1700000000000L, a + 1);
    ApplicationAttemptId attempt = ApplicationAttemptId.newInstance(id, 1);
    String queue = "root.queue" + a % queues;
    ApplicationSubmissionContext submission =
        ApplicationSubmissionContext.newInstance(id, "app", queue, Priority.newInstance(0), null, true, false, 1, null);
    RMAppAttempt current = answering(RMAppAttempt.class, Map.of("getRMAppAttemptMetrics", new RMAppAttemptMetrics(attempt, context)));
    context.getRMApps().put(id, answering(RMApp.class,
        Map.of("getCurrentAppAttempt", current, "getApplicationSubmissionContext", submission, "getApplicationSchedulingEnvs", Map.of())));
    scheduler.handle(new AppAddedSchedulerEvent("user" + a % 50, submission, false, Priority.newInstance(0), placed(queue)));
    scheduler.handle(new AppAttemptAddedSchedulerEvent(attempt, false));
    if (scheduler.getApplicationAttempt(attempt) == null) throw new IllegalStateException("application " + a + " was refused");
    apps.add(attempt);
    ask(a, ASK_COUNT);
  }

  private ApplicationPlacementContext placed(String queue) {
    return capacity() ? null : new ApplicationPlacementContext(queue);
  }

  private static <T> T answering(Class<T> type, Map<String, Object> answers) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
      Object answer = answers.get(method.getName());
      if (answer != null || !method.getReturnType().isPrimitive()) return answer;
      return method.getReturnType() == boolean.class ? (Object) false : method.getReturnType() == long.class ? (Object) 0L : (Object) 0;
    }));
  }

  private void ask(int a, int count) {
    List<ResourceRequest> asks = new ArrayList<>();
    asks.add(line("*", count));
    for (int i = 0; kind.equals("local") && i < 20; ++i) {
      int n = (a * 37 + i * 251) % nodes.size();
      asks.add(line(host(n), count));
      asks.add(line(rack(n), count));
    }
    scheduler.allocate(apps.get(a), asks, null, List.of(), new ArrayList<>(), new ArrayList<>(), new ContainerUpdates());
  }

  private static ResourceRequest line(String name, int count) {
    return ResourceRequest.newInstance(Priority.newInstance(1), name, Resource.newInstance(1024, 1), count);
  }

  private void heartbeat() {
    scheduler.handle(new NodeUpdateSchedulerEvent(nodes.get(nextNode)));
    nextNode = (nextNode + 1) % nodes.size();
  }

  /** Masters pick up what was granted, and it ends; how many that were. */
  private long empty() throws Exception {
    long ended = 0;
    for (ApplicationAttemptId id : apps) {
      SchedulerApplicationAttempt app = scheduler.getApplicationAttempt(id);
      ((List<?>) newlyAllocated.get(app)).clear();
      for (RMContainer container : new ArrayList<>(app.getLiveContainers())) {
        container.handle(new RMContainerEvent(container.getContainerId(), RMContainerEventType.ACQUIRED));
        scheduler.completedContainer(container, complete(container.getContainerId()), RMContainerEventType.FINISHED);
        ++ended;
      }
    }
    return ended;
  }

  private static ContainerStatus complete(ContainerId id) {
    return ContainerStatus.newInstance(id, ContainerState.COMPLETE, "", 0);
  }

  /** Masters pick up what was granted, and it runs; how many that were. */
  private long start() throws Exception {
    long started = 0;
    for (ApplicationAttemptId id : apps) {
      List<?> fresh = (List<?>) newlyAllocated.get(scheduler.getApplicationAttempt(id));
      for (Object one : fresh) {
        RMContainer container = (RMContainer) one;
        container.handle(new RMContainerEvent(container.getContainerId(), RMContainerEventType.ACQUIRED));
        byId.get(container.getNodeId()).running.add(container.getContainerId());
        ++started;
      }
      fresh.clear();
    }
    return started;
  }

  private void fill() throws Exception {
    for (int i = 0; i < SMALL_NODE_CORES * nodes.size(); ++i) heartbeat();
    if (start() < SMALL_NODE_CORES * nodes.size()) throw new IllegalStateException("the cluster did not fill up");
  }

  /** The oldest container of every node ends, and the node's heartbeat grants another; grants a second. */
  private double turnover(double seconds) throws Exception {
    long spent = 0;
    long grants = 0;
    while (spent < seconds * 1e9) {
      for (Node node : nodes) node.ended = node.running.poll();
      long begin = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < nodes.size(); ++i) heartbeat();
      spent += THREADS.getCurrentThreadCpuTime() - begin;
      grants += start();
    }
    return grants / (spent / 1e9);
  }

  /** Grants a second of CPU time, over at least `seconds` of it. */
  private double grants(double seconds) throws Exception {
    int batch = multiple() ? 500 : Math.min(20_000, 40 * nodes.size());
    long spent = 0;
    long grants = 0;
    while (spent < seconds * 1e9) {
      long begin = THREADS.getCurrentThreadCpuTime();
      for (int i = 0; i < batch; ++i) heartbeat();
      spent += THREADS.getCurrentThreadCpuTime() - begin;
      grants += empty();
    }
    return grants / (spent / 1e9);
  }

  /** Milliseconds of CPU time of one update pass after everybody has changed its ask, or of one continuous round. */
  private double pass(double seconds) throws Exception {
    Method round = FairScheduler.class.getDeclaredMethod("continuousSchedulingAttempt");
    round.setAccessible(true);
    long spent = 0;
    long passes = 0;
    for (long end = System.nanoTime() + (long) (PASS_SECONDS * 1e9); spent < seconds * 1e9 && System.nanoTime() < end;) {
      empty();
      ++disturbances;
      for (int a = 0; kind.equals("update") && a < apps.size(); ++a) ask(a, ASK_COUNT + disturbances % 7);
      for (int i = 0; kind.equals("update") && i < 500; ++i) heartbeat();
      long begin = THREADS.getCurrentThreadCpuTime();
      if (kind.equals("update")) {
        ((FairScheduler) scheduler).update();
      } else {
        round.invoke(scheduler);
      }
      spent += THREADS.getCurrentThreadCpuTime() - begin;
      ++passes;
    }
    return spent / 1e6 / passes;
  }

  private double measure(double seconds) throws Exception {
    if (kind.equals("turnover")) return turnover(seconds);
    return kind.equals("update") || kind.equals("continuous") ? pass(seconds) : grants(seconds);
  }

  public static void main(String[] arguments) throws Exception {
    SchedulerGrants bench = new SchedulerGrants(arguments[0], Integer.parseInt(arguments[1]),
        Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
    if (bench.kind.equals("turnover")) bench.fill();
    bench.measure(WARM_UP_SECONDS);
    double[] windows = new double[WINDOWS];
    for (int i = 0; i < WINDOWS; ++i) windows[i] = bench.measure(WINDOW_SECONDS);
    Arrays.sort(windows);
    System.out.printf("{\"version\": \"%s\", \"median\": %f, \"least\": %f, \"most\": %f}%n", VersionInfo.getVersion(),
        windows[WINDOWS / 2], windows[0], windows[WINDOWS - 1]);
    System.exit(0); // Hadoop leaves threads behind
  }
}
