import java.io.File;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.server.TransportServer;
import org.apache.spark.network.shuffle.ExternalBlockHandler;
import org.apache.spark.network.shuffle.RemoteBlockPushResolver;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/** Spark's own shuffle service with its own merging, without YARN around it: PORT STATE [KEY=VALUE...]. */
public class MergingService {
  public static void main(String[] arguments) throws Exception {
    Map<String, String> settings = new HashMap<>();
    for (String setting : List.of(arguments).subList(2, arguments.length)) {
      String[] parts = setting.split("=", 2);
      settings.put(parts[0], parts[1]);
    }
    TransportConf conf = new TransportConf("shuffle", new MapConfigProvider(settings));
    File state = new File(arguments[1]);
    RemoteBlockPushResolver merging = new RemoteBlockPushResolver(conf, new File(state, "merges"));
    ExternalBlockHandler handler = new ExternalBlockHandler(conf, new File(state, "executors"), merging);
    TransportServer server = new TransportContext(conf, handler).createServer(Integer.parseInt(arguments[0]), List.of());
    System.out.println("port " + server.getPort());
    Thread.currentThread().join();
  }
}
