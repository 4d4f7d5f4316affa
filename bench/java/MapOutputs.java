import java.util.Random;
import org.apache.spark.MapOutputTracker$;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockManagerId$;
import scala.collection.Iterator;

/**
 * What Spark's MapStatusesSerDeserBenchmark measures, by the classes that it calls: MapOutputs MAPS REDUCES EXECUTORS ROUNDS
 * Prints the best milliseconds of encoding, decoding and one reducer's list, and the encoded bytes, as one JSON object.
 */
public final class MapOutputs {
  private static MapStatus[] statuses(int maps, int reduces, int executors) {
    Random random = new Random(1);
    BlockManagerId[] places = new BlockManagerId[executors];
    for (int i = 0; i < executors; i++) {
      places[i] = BlockManagerId$.MODULE$.apply(Integer.toString(i), "host" + i, 7000, scala.Option.empty());
    }
    MapStatus[] statuses = new MapStatus[maps];
    long[] sizes = new long[reduces];
    for (int map = 0; map < maps; map++) {
      for (int i = 0; i < reduces; i++) sizes[i] = random.nextInt(1 << 20);
      statuses[map] = MapStatus$.MODULE$.apply(places[map % executors], sizes, map);
    }
    return statuses;
  }

  public static void main(String[] words) {
    int maps = Integer.parseInt(words[0]), reduces = Integer.parseInt(words[1]), rounds = Integer.parseInt(words[3]);
    MapStatus[] statuses = statuses(maps, reduces, Integer.parseInt(words[2]));
    MapOutputTracker$ tracker = MapOutputTracker$.MODULE$;
    SparkConf conf = new SparkConf(false);
    double encode = Double.MAX_VALUE, decode = Double.MAX_VALUE, list = Double.MAX_VALUE;
    byte[] bytes = null;
    long seen = 0;
    for (int round = 0; round < rounds; round++) {
      bytes = null;
      long begin = System.nanoTime();
      bytes = tracker.serializeOutputStatuses(statuses, null, false, Integer.MAX_VALUE, conf)._1();
      encode = Math.min(encode, (System.nanoTime() - begin) / 1e6);
      begin = System.nanoTime();
      seen += tracker.deserializeOutputStatuses(bytes, conf).length;
      decode = Math.min(decode, (System.nanoTime() - begin) / 1e6);
      begin = System.nanoTime();
      Iterator<?> places =
          tracker.convertMapStatuses(0, round, round + 1, statuses, 0, maps, scala.Option.empty()).iter();
      while (places.hasNext()) {
        places.next();
        seen++;
      }
      list = Math.min(list, (System.nanoTime() - begin) / 1e6);
    }
    if (seen == 0) throw new IllegalStateException("nothing was decoded");
    System.out.printf("{\"encode_ms\": %.1f, \"decode_ms\": %.1f, \"list_ms\": %.2f, \"bytes\": %d}%n", encode, decode, list,
        bytes.length);
  }
}
