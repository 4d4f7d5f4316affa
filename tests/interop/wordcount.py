"""Word count on Spark with a shuffle; prints words and counts, sorted."""
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("interop word count").getOrCreate()
counts = (spark.sparkContext.textFile("file://" + sys.argv[1], 4).flatMap(lambda line: line.split())
          .map(lambda word: (word, 1)).reduceByKey(lambda a, b: a + b, 4).collect())
with open(sys.argv[2], "w") as out:
    for word, count in sorted(counts):
        print(word, count, file=out)
print("APPLICATION", spark.sparkContext.applicationId)
spark.stop()
