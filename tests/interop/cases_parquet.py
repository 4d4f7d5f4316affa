"""Parquet between the engine and Spark: each reads what the other has saved."""
import datetime
import json
import subprocess

import peers
from cases_spark import SPARKS
from registry import Spec, case, require_success

ROWS = peers.ROOT / "build/tests/parquet_rows"


EPOCH = datetime.datetime(1970, 1, 1)


def moment(micros):
    """As Spark writes a timestamp in JSON."""
    at = EPOCH + datetime.timedelta(microseconds=micros)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z"


def printed(work, *arguments):
    run = subprocess.run([ROWS, "--local[2]", *map(str, arguments)], cwd=work, capture_output=True, text=True, timeout=120, check=False)
    require_success(run, "parquet_rows")
    return run.stdout.splitlines()


def parquet(cluster, work):
    # The engine's component is there where Arrow is.
    subprocess.run([peers.ROOT / "tools/setup", "--parquet"], check=True)
    subprocess.run([peers.ROOT / "tools/build", "release", "parquet_rows"], check=True)
    printed(work, "make", 3000, 3, "zstd", "made")
    run = cluster.spark_submit("--deploy-mode", "client", "--num-executors", "2", peers.HERE / "parquet_job.py", work / "made", work / "own", work / "says",
                               timeout=300)
    require_success(run, "spark-submit")
    says = json.loads((work / "says").read_text())
    assert says["schema"] == ("struct<id:bigint,i8:tinyint,u16:int,u32:bigint,u64:decimal(20,0),f:float,d:double,even:boolean,text:string,maybe:int,day:date,"
                              "at:timestamp,numbers:array<bigint>,words:array<string>>"), says["schema"]
    assert says["sum"] == sum(range(3000)) and len(says["rows"]) == 3000, says["sum"]
    for i, row in enumerate(says["rows"]):
        words = [] if i % 5 == 0 else ["a", None, str(i)] if i % 2 == 0 else None
        wanted = {"id": i, "i8": (i + 128) % 256 - 128, "u16": i * 7 % 2**16, "u32": i * 1000003 % 2**32, "u64": 2**64 - 1 - i, "f": i / 4, "d": i * 1e100,
                  "even": i % 2 == 0, "text": f"text {i % 1000}", "maybe": None if i % 3 == 0 else -i, "day": str(EPOCH.date() + datetime.timedelta(days=i - 1000)),
                  "at": None if i % 7 == 0 else moment((i - 1000) * 86399123457), "numbers": [i * n for n in range(i % 4)], "words": words}
        assert row == {name: value for name, value in wanted.items() if value is not None}, (row, wanted)
    for folder in ("own", "own-zstd"):
        assert sorted(map(int, printed(work, "numbers", folder, "id"))) == list(range(2000))
        assert sorted(printed(work, "texts", folder, "text")) == sorted(f"text {i}" for i in range(2000))
        assert sorted(map(int, printed(work, "numbers", folder, "at"))) == [(i * 86399 - 40000000) * 10**6 for i in range(2000)]
        assert sorted(printed(work, "lists", folder, "numbers")) == sorted(",".join(map(str, range(i % 4 + 1))) for i in range(2000))
    run = subprocess.run([ROWS, "--local[2]", "numbers", "own", "outer.inner"], cwd=work, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 1 and "column outer.inner has a null, which a field of type int64_t does not take" in run.stderr, run.stderr


for _version in SPARKS:
    case("all", Spec(spark=_version), name=f"engine-parquet-with-spark-{_version}")(parquet)
