"""The work of bench/engine.py as Spark, DuckDB and Polars do it: command lines for the peers that this machine has.

DuckDB and Polars are looked for in Python and in build/bench/peers (`bench/run engine --fetch` puts them there by name from PyPI);
Spark in build/interop (tests/interop/setup). Every script gets its inputs and, last, its output as arguments.
"""
import importlib.util
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "build/bench/peers"
SPARK = ROOT / "build/interop/spark-3.5.5"

DUCKDB = {
    "word_count": r"""
c.execute(f"copy (select w, count(*) from (select unnest(string_split(l, ' ')) w from read_csv('{a[0]}', columns={{'l': 'varchar'}}, "
          f"delim='\x01', header=false, quote='')) group by w) to '{a[1]}' (delimiter '\t', header false)")""",
    "join": r"""
c.execute(f"copy (select cat, count(*), sum(qty), sum(cents) from read_csv('{a[0]}') f join read_csv('{a[1]}') r on f.key = r.key "
          f"group by cat) to '{a[2]}' (delimiter '\t', header false)")""",
    # A record has no ends of line, so it is read as one column of fixed width would be: from 100-byte lines made beforehand.
    "terasort": r"""
c.execute(f"copy (select l from read_csv('{a[0]}', columns={{'l': 'varchar'}}, delim='\x01', header=false, quote='') "
          f"order by l[1:10]) to '{a[1]}' (header false, quote '', escape '', delimiter '\x01')")""",
}
POLARS = {
    "word_count": r"""
(pl.scan_csv(a[0], has_header=False, separator="\x01", quote_char=None, new_columns=["l"]).select(pl.col("l").str.split(" ").explode())
 .group_by("l").len().collect(engine="streaming").write_csv(a[1], include_header=False, separator="\t"))""",
    "join": r"""
(pl.scan_csv(a[0]).select("key", "qty", "cents").join(pl.scan_csv(a[1]).select("key", "cat"), on="key").group_by("cat")
 .agg(pl.len(), pl.col("qty").sum(), pl.col("cents").sum()).collect(engine="streaming").write_csv(a[2], include_header=False, separator="\t"))""",
    "terasort": r"""
(pl.scan_csv(a[0], has_header=False, separator="\x01", quote_char=None, new_columns=["l"]).sort(pl.col("l").str.slice(0, 10))
 .sink_csv(a[1], include_header=False, separator="\x01", quote_style="never"))""",
}
SCALA = {
    "word_count": r"""
sc.textFile(a(0), 6).flatMap(_.split(" ")).map((_, 1L)).reduceByKey(_ + _).map { case (w, n) => w + "\t" + n }.saveAsTextFile(a(1))""",
    "join": r"""
import org.apache.spark.sql.functions._
val f = spark.read.option("header", true).schema("id long, key long, qty long, cents long, pad string").csv(a(0))
val r = spark.read.option("header", true).schema("key long, cat string, name string").csv(a(1))
f.join(r, "key").groupBy("cat").agg(count("*"), sum("qty"), sum("cents")).write.option("sep", "\t").csv(a(2))""",
    "terasort": r"""
sc.binaryRecords(a(0), 100).map(b => (new String(b, 0, 10, "ISO-8859-1"), b)).sortByKey(true, 6).mapPartitionsWithIndex { (i, rows) =>
  java.nio.file.Files.createDirectories(java.nio.file.Paths.get(a(1)))
  val out = new java.io.BufferedOutputStream(new java.io.FileOutputStream(f"${a(1)}/part-$i%05d"), 1 << 18)
  rows.foreach(row => out.write(row._2)); out.close(); Iterator[Int]() }.count()""",
    "page_rank": r"""
val links = sc.textFile(a(0), 6).map { l => val p = l.split("\t"); (p(0), p(1)) }.distinct().groupByKey().cache()
var ranks = links.mapValues(_ => 1.0)
for (_ <- 1 to 5) {
  ranks = links.join(ranks).values.flatMap { case (urls, rank) => urls.map(url => (url, rank / urls.size)) }
    .reduceByKey(_ + _).mapValues(0.15 + 0.85 * _)
}
ranks.sortBy(-_._2).map { case (page, rank) => page + "\t" + rank }.saveAsTextFile(a(1))""",
}


def fetch():
    """Puts DuckDB and Polars into build/bench/peers."""
    if not PEERS.is_dir():
        subprocess.run([sys.executable, "-m", "venv", PEERS], check=True)
    subprocess.run([PEERS / "bin/pip", "install", "-q", "--disable-pip-version-check", "duckdb", "polars"], check=True)


def python():
    return PEERS / "bin/python" if (PEERS / "bin/python").exists() else pathlib.Path(sys.executable)


def version(module):
    """A module's version in the peers' Python; None without it."""
    if python() == pathlib.Path(sys.executable) and not importlib.util.find_spec(module):
        return None
    run = subprocess.run([python(), "-c", f"import {module}; print({module}.__version__)"], capture_output=True, text=True)
    return run.stdout.strip() if run.returncode == 0 else None


def spark_command(script, arguments, work):
    """spark-shell on local[2] that runs the script once."""
    path = work / "job.scala"
    quoted = ", ".join('"' + str(argument) + '"' for argument in arguments)
    # One block: when it does not compile or throws, its last line is not printed.
    path.write_text(f"{{ val a = Array({quoted})\nval begin = System.nanoTime\n{script}\n"
                    'println("SECONDS " + (System.nanoTime - begin) / 1e9) }\nSystem.exit(0)\n')
    return [SPARK / "bin/spark-shell", "--master", "local[2]", "--driver-memory", "6g", "--conf", "spark.ui.enabled=false",
            "--conf", f"spark.local.dir={work}", "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.hadoop.fs.defaultFS=file:///",
            "--conf", "spark.log.level=ERROR", "-I", path]


def inside(printed):
    """Seconds that a script measured by itself, without the start of its process."""
    found = re.search(r"SECONDS ([0-9.Ee-]+)", printed)
    if not found:
        raise SystemExit("a peer's script failed:\n" + printed[-3000:])
    return float(found[1])


def peers_for(job, work):
    """{peer: (version, function of the arguments -> command)} of those that can do the job here."""
    found = {}
    for name, scripts, head in (("duckdb", DUCKDB, "import duckdb; c = duckdb.connect(); c.execute('set threads=2')"),
                                ("polars", POLARS, "import os; os.environ['POLARS_MAX_THREADS'] = '2'; import polars as pl")):
        if job in scripts and (has := version(name)):
            script = f"import sys, time; a = sys.argv[1:]; begin = time.monotonic()\n{head}\n{scripts[job]}\nprint('SECONDS', time.monotonic() - begin)"
            found[name] = (has, lambda *arguments, script=script: [python(), "-c", script, *arguments])
    if job in SCALA and (SPARK / "bin/spark-shell").exists():
        found["spark"] = ("3.5.5", lambda *arguments: spark_command(SCALA[job], arguments, work))
    return found
