"""Where a benchmark's rows go."""
import json


def write(build, name, rows):
    """To BUILD/bench/NAME.json, whose path is printed."""
    path = build / "bench" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{len(rows)} rows in {path}")
