import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.util.GenericOptionsParser;

/**
 * A MapReduce job whose maps stand still until they are told to go on. Usage: WaitingMaps [-Dkey=value...] COUNT DIR.
 * Each map makes DIR/begun-ATTEMPT, waits for DIR/gate and makes DIR/done-NUMBER.
 */
public class WaitingMaps {
  static final String COUNT = "waiting.maps.count";
  static final String DIRECTORY = "waiting.maps.directory";

  /** One map's part: its number. */
  public static class Part extends InputSplit implements Writable {
    int number;

    @Override
    public long getLength() {
      return 1;
    }

    @Override
    public String[] getLocations() {
      return new String[0];
    }

    @Override
    public void write(DataOutput out) throws IOException {
      out.writeInt(number);
    }

    @Override
    public void readFields(DataInput in) throws IOException {
      number = in.readInt();
    }
  }

  /** Gives a part's number once. */
  public static class Reader extends RecordReader<IntWritable, NullWritable> {
    private int number;
    private boolean read;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {
      number = ((Part) split).number;
    }

    @Override
    public boolean nextKeyValue() {
      boolean first = !read;
      read = true;
      return first;
    }

    @Override
    public IntWritable getCurrentKey() {
      return new IntWritable(number);
    }

    @Override
    public NullWritable getCurrentValue() {
      return NullWritable.get();
    }

    @Override
    public float getProgress() {
      return read ? 1 : 0;
    }

    @Override
    public void close() {}
  }

  /** So many parts. */
  public static class Parts extends InputFormat<IntWritable, NullWritable> {
    @Override
    public List<InputSplit> getSplits(JobContext context) {
      List<InputSplit> parts = new ArrayList<>();
      for (int number = 0; number < context.getConfiguration().getInt(COUNT, 1); ++number) {
        Part part = new Part();
        part.number = number;
        parts.add(part);
      }
      return parts;
    }

    @Override
    public RecordReader<IntWritable, NullWritable> createRecordReader(InputSplit split, TaskAttemptContext context) {
      return new Reader();
    }
  }

  /** Stands still until there is a gate. */
  public static class Waiter extends Mapper<IntWritable, NullWritable, NullWritable, NullWritable> {
    @Override
    protected void map(IntWritable number, NullWritable none, Context context) throws IOException, InterruptedException {
      Path directory = Path.of(context.getConfiguration().get(DIRECTORY));
      Files.writeString(directory.resolve("begun-" + context.getTaskAttemptID()), "");
      while (!Files.exists(directory.resolve("gate"))) {
        Thread.sleep(50);
        context.progress();
      }
      Files.writeString(directory.resolve("done-" + number.get()), "");
    }
  }

  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    String[] own = new GenericOptionsParser(configuration, arguments).getRemainingArgs();
    configuration.set(COUNT, own[0]);
    configuration.set(DIRECTORY, own[1]);
    Job job = Job.getInstance(configuration, "waiting maps");
    job.setJarByClass(WaitingMaps.class);
    job.setInputFormatClass(Parts.class);
    job.setMapperClass(Waiter.class);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(NullOutputFormat.class);
    job.setOutputKeyClass(NullWritable.class);
    job.setOutputValueClass(NullWritable.class);
    System.exit(job.waitForCompletion(true) ? 0 : 1);
  }
}
