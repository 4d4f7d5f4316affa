"""Structured streaming: streaming_job.py WORK. Counts the words of each file that comes into WORK/in, writes WORK/batch-N as JSON, ends at WORK/end."""
import json
import pathlib
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql.functions import explode, split

work = pathlib.Path(sys.argv[1])
spark = SparkSession.builder.getOrCreate()


def keep(rows, number):
    counts = {row["word"]: row["count"] for row in rows.groupBy("word").count().collect()}
    if counts:
        (work / f"part-{number}").write_text(json.dumps(counts))
        (work / f"part-{number}").rename(work / f"batch-{number}")


lines = spark.readStream.text(f"file://{work}/in")
query = (lines.select(explode(split("value", " ")).alias("word")).writeStream.foreachBatch(keep).trigger(processingTime="500 milliseconds")
         .option("checkpointLocation", f"file://{work}/checkpoint").start())
(work / "app").write_text(spark.sparkContext.applicationId)
while not (work / "end").exists() and query.isActive:
    time.sleep(0.2)
if query.exception() is not None:
    raise query.exception()
query.stop()
spark.stop()
