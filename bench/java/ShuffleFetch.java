import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.ExternalBlockStoreClient;
import org.apache.spark.network.shuffle.protocol.ExecutorShuffleInfo;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/**
 * Fetches shuffle blocks with the classes that Spark's executors use, for measuring a service: ShuffleFetch PORT DIR MAPS REDUCES SECONDS.
 * Prints one JSON line, as bench_shuffle_client does. Four connections, two requests on each, one reduce id of every map a request.
 */
public class ShuffleFetch {
  static final int CONNECTIONS = 4;
  static final int WINDOW = 2;

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    int maps = Integer.parseInt(args[2]);
    int reduces = Integer.parseInt(args[3]);
    long nanos = (long) (Double.parseDouble(args[4]) * 1e9);
    MapConfigProvider settings = new MapConfigProvider(Map.of("spark.shuffle.io.numConnectionsPerPeer", "" + CONNECTIONS));
    ExternalBlockStoreClient client = new ExternalBlockStoreClient(new TransportConf("shuffle", settings), null, false, 5000);
    client.init("bench");
    client.registerWithShuffleServer("127.0.0.1", port, "1",
        new ExecutorShuffleInfo(new String[] {args[1]}, 64, "org.apache.spark.shuffle.sort.SortShuffleManager"));
    AtomicLong blocks = new AtomicLong();
    AtomicLong bytes = new AtomicLong();
    AtomicInteger nextReduce = new AtomicInteger();
    CountDownLatch ended = new CountDownLatch(CONNECTIONS * WINDOW);
    long begin = System.nanoTime();

    class Request implements BlockFetchingListener {
      final AtomicInteger missing = new AtomicInteger();

      void send() {
        if (System.nanoTime() - begin > nanos) {
          ended.countDown();
          return;
        }
        String[] ids = new String[maps];
        int reduce = nextReduce.getAndIncrement();
        for (int map = 0; map < maps; ++map) {
          ids[map] = "shuffle_0_" + map + "_" + (reduce + map) % reduces;
        }
        missing.set(maps);
        client.fetchBlocks("127.0.0.1", port, "1", ids, this, null);
      }

      @Override
      public void onBlockFetchSuccess(String id, ManagedBuffer data) {
        blocks.incrementAndGet();
        bytes.addAndGet(data.size());
        if (missing.decrementAndGet() == 0) {
          send();
        }
      }

      @Override
      public void onBlockFetchFailure(String id, Throwable cause) {
        cause.printStackTrace();
        System.exit(1);
      }
    }

    for (int i = 0; i < CONNECTIONS * WINDOW; ++i) {
      new Request().send();
    }
    ended.await();
    double seconds = (System.nanoTime() - begin) / 1e9;
    System.out.printf("{\"blocks\":%d,\"bytes\":%d,\"seconds\":%.3f,\"blocks_per_s\":%.0f,\"gb_per_s\":%.3f}%n", blocks.get(), bytes.get(),
        seconds, blocks.get() / seconds, bytes.get() / seconds / 1e9);
    System.exit(0);
  }
}
