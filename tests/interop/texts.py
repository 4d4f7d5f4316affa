"""Inputs by seed, with their answers made by plain Python."""
import collections
import random


def text_file(path, words=60000):
    """Writes seeded text; gives its word counts."""
    rng = random.Random(7)
    counts = collections.Counter()
    with open(path, "w") as out:
        for _ in range(words // 10):
            line = [f"w{int(rng.paretovariate(0.8)) % 5000}" for _ in range(10)]
            counts.update(line)
            print(" ".join(line), file=out)
    return counts
