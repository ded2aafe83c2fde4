"""A tool in Python. It is started for each call, reads one JSON object and writes one."""
import json
import sys

GOOD = {"good", "great", "love"}
BAD = {"bad", "leaks", "broken"}


def mood(review):
    words = set(review.lower().strip(".!").split())
    return len(words & GOOD) - len(words & BAD)


moods = [mood(review) for review in json.load(sys.stdin)["input"]["reviews"]]
counts = {
    "positive": sum(mood > 0 for mood in moods),
    "negative": sum(mood < 0 for mood in moods),
}
print(json.dumps({"output": counts}))
