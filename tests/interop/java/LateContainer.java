import java.nio.file.*;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.*;
import org.apache.hadoop.yarn.client.api.*;
import org.apache.hadoop.yarn.client.api.AMRMClient.ContainerRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.security.AMRMTokenIdentifier;

/**
 * An application whose only container begins when DIRECTORY/go is there, with a file of the default file system: `submit DIRECTORY COMMAND` puts the
 * file there, and a master of that COMMAND, with tokens; the master runs `master DIRECTORY URI LENGTH TIME`. What came of the container is in
 * DIRECTORY/result, the token as WebHDFS takes it in DIRECTORY/token.
 */
public class LateContainer {
  public static void main(String[] words) throws Exception {
    YarnConfiguration conf = new YarnConfiguration();
    UserGroupInformation.setConfiguration(conf);
    if (words[0].equals("submit")) {
      submit(conf, Paths.get(words[1]), words[2]);
    } else {
      master(conf, Paths.get(words[1]), words[2], Long.parseLong(words[3]), Long.parseLong(words[4]));
    }
  }

  static java.nio.ByteBuffer bytes(Credentials credentials) throws Exception {
    DataOutputBuffer out = new DataOutputBuffer();
    credentials.writeTokenStorageToStream(out);
    return java.nio.ByteBuffer.wrap(out.getData(), 0, out.getLength());
  }

  static void submit(YarnConfiguration conf, Path directory, String command) throws Exception {
    FileSystem files = FileSystem.get(conf);
    org.apache.hadoop.fs.Path late = files.makeQualified(new org.apache.hadoop.fs.Path("/tmp/late.txt"));
    try (java.io.OutputStream out = files.create(late, true)) {
      out.write("what came late\n".getBytes());
    }
    FileStatus status = files.getFileStatus(late);
    Credentials credentials = new Credentials();
    for (Token<?> token : files.addDelegationTokens(renewer(conf), credentials)) {
      Files.write(directory.resolve("token"), token.encodeToUrlString().getBytes());
    }
    try (YarnClient client = YarnClient.createYarnClient()) {
      client.init(conf);
      client.start();
      ApplicationSubmissionContext context = client.createApplication().getApplicationSubmissionContext();
      context.setApplicationName("late container");
      context.setQueue("root.alpha");
      context.setMaxAppAttempts(1);
      context.setResource(Resource.newInstance(768, 1));
      String words = command + " master " + directory + " " + late + " " + status.getLen() + " " + status.getModificationTime();
      context.setAMContainerSpec(ContainerLaunchContext.newInstance(null, null,
          Collections.singletonList(words + " 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"), null, bytes(credentials), null));
      client.submitApplication(context);
      System.out.println(context.getApplicationId());
    }
  }

  /** The renewer: whom the resource manager is to the name node. */
  static String renewer(Configuration conf) throws Exception {
    return org.apache.hadoop.yarn.client.util.YarnClientUtils.getRmPrincipal(conf);
  }

  static void master(YarnConfiguration conf, Path directory, String uri, long length, long time) throws Exception {
    AMRMClient<ContainerRequest> manager = AMRMClient.createAMRMClient();
    manager.init(conf);
    manager.start();
    manager.registerApplicationMaster("", 0, "");
    while (!Files.exists(directory.resolve("go"))) {
      manager.allocate(0.1f);
      Thread.sleep(200);
    }
    manager.addContainerRequest(new ContainerRequest(Resource.newInstance(256, 1), null, null, Priority.newInstance(1)));
    NMClient nodes = NMClient.createNMClient();
    nodes.init(conf);
    nodes.start();
    ContainerStatus ended = null;
    while (ended == null) {
      AllocateResponse answer = manager.allocate(0.5f);
      for (Container container : answer.getAllocatedContainers()) {
        nodes.startContainer(container, launch(uri, length, time));
      }
      for (ContainerStatus status : answer.getCompletedContainersStatuses()) {
        ended = status;
      }
      Thread.sleep(200);
    }
    Files.write(directory.resolve("result.new"), (ended.getExitStatus() + " " + ended.getDiagnostics() + "\n").getBytes());
    Files.move(directory.resolve("result.new"), directory.resolve("result"));
    manager.unregisterApplicationMaster(FinalApplicationStatus.SUCCEEDED, "", "");
  }

  /** With the master's own tokens, as masters do it. */
  static ContainerLaunchContext launch(String uri, long length, long time) throws Exception {
    Credentials own = new Credentials();
    for (Token<?> token : UserGroupInformation.getCurrentUser().getCredentials().getAllTokens()) {
      if (!token.getKind().equals(AMRMTokenIdentifier.KIND_NAME)) {
        own.addToken(token.getService(), token);
      }
    }
    LocalResource late = LocalResource.newInstance(URL.fromURI(java.net.URI.create(uri)), LocalResourceType.FILE,
        LocalResourceVisibility.APPLICATION, length, time);
    return ContainerLaunchContext.newInstance(Collections.singletonMap("late.txt", late), null,
        Collections.singletonList("cat late.txt 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr"), null, bytes(own), null);
  }
}
