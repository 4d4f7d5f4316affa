"""Spark over Parquet: reads what the engine has saved and says what is in it; saves a table of its own. Arguments: IN OUT SAYS."""
import json
import sys

from pyspark.sql import SparkSession, functions

spark = SparkSession.builder.appName("interop parquet").config("spark.sql.session.timeZone", "UTC").getOrCreate()
made = spark.read.parquet("file://" + sys.argv[1])
rows = [json.loads(row) for row in made.orderBy("id").toJSON().collect()]
own = (spark.range(0, 2000, 1, 3)
       .select(functions.col("id"), functions.concat(functions.lit("text "), functions.col("id")).alias("text"),
               functions.timestamp_seconds(functions.col("id") * 86399 - 40000000).alias("at"),
               functions.sequence(functions.lit(0), functions.col("id") % 4).alias("numbers"),
               functions.struct(functions.when(functions.col("id") % 3 != 0, -functions.col("id")).alias("inner")).alias("outer")))
own.write.parquet("file://" + sys.argv[2])
own.write.option("compression", "zstd").parquet("file://" + sys.argv[2] + "-zstd")
with open(sys.argv[3], "w") as says:
    json.dump({"schema": made.schema.simpleString(), "rows": rows, "sum": made.agg(functions.sum("id")).first()[0]}, says)
spark.stop()
