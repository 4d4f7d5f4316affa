import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.yarn.api.records.*;

/**
 * Submits applications one after the other and kills every fourth, until its input ends; a line tells of each that was acknowledged. No node has
 * room for more than one of them at a time, so nearly all of them wait.
 */
public class Submitter extends Surface {
  public static void main(String[] arguments) throws Exception {
    AtomicBoolean ended = new AtomicBoolean();
    Thread reader = new Thread(() -> {
      try {
        while (System.in.read() >= 0) continue;
      } catch (java.io.IOException e) {
        System.err.println(e);
      }
      ended.set(true);
    });
    reader.setDaemon(true);
    reader.start();
    for (int number = 0; !ended.get(); ++number) {
      ApplicationSubmissionContext context = CLIENT.createApplication().getApplicationSubmissionContext();
      context.setApplicationName("submitter");
      context.setQueue("root.beta");
      context.setMaxAppAttempts(1);
      context.setResource(Resource.newInstance(4096, 1));
      context.setAMContainerSpec(ContainerLaunchContext.newInstance(
          null, null, java.util.Collections.singletonList("exec sleep 1000"), null, null, null));
      ApplicationId id = CLIENT.submitApplication(context);
      System.out.println("submitted " + id);
      if (number % 4 != 0) continue;
      CLIENT.killApplication(id);
      System.out.println("killed " + id);
    }
    System.exit(0);
  }
}
