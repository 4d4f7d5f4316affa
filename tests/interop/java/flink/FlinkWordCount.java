import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;

/** How often each word of a text occurs, as a bounded job: INPUT OUTPUT. */
public class FlinkWordCount {
  public static void main(String[] args) throws Exception {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    environment.setRuntimeMode(RuntimeExecutionMode.BATCH);
    FileSource<String> text = FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path("file://" + args[0])).build();
    environment.fromSource(text, WatermarkStrategy.noWatermarks(), "text")
        .flatMap((String line, Collector<Tuple2<String, Integer>> out) -> {
          for (String word : line.split(" ")) {
            out.collect(Tuple2.of(word, 1));
          }
        })
        .returns(Types.TUPLE(Types.STRING, Types.INT))
        .keyBy(pair -> pair.f0)
        .sum(1)
        .map(pair -> pair.f0 + " " + pair.f1)
        .sinkTo(FileSink.forRowFormat(new Path("file://" + args[1]), new SimpleStringEncoder<String>()).build());
    environment.execute("words");
  }
}
