"""
Counts the words of a text file, as a step that reports.

  pip install ./clients/python
  python3 examples/python/count_words.py FILE

SIGNALBOX_URL (default http://127.0.0.1:3000) says where the service is, SIGNALBOX_API_TOKEN its token if it has one.
SIGNALBOX_STEP is the assignment of an orchestrator, as JSON; without it a job of one step is created.
"""

import json
import os
import sys
import uuid
from collections import Counter
from pathlib import Path

from signalbox_client import Client, SignalboxError


def count(path, step):
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    words = Counter()
    for number, line in enumerate(lines, start=1):
        words.update(line.lower().split())
        step.progress(number / len(lines) * 100, f"{number} of {len(lines)} lines")
    return {"lines": len(lines), "words": sum(words.values()), "most": words.most_common(5)}


def step_for(client, path):
    given = os.environ.get("SIGNALBOX_STEP")
    if given:
        return client.step(json.loads(given))
    job = client.job(str(uuid.uuid4()))
    job.create(name=f"Count the words of {path.name}", metadata={"example": "python"})
    return job.step("count", name="Count the words", start=0, end=100)


def main():
    if len(sys.argv) != 2:
        sys.exit("Usage: python3 examples/python/count_words.py FILE")
    path = Path(sys.argv[1])
    try:
        with Client(os.environ.get("SIGNALBOX_URL", "http://127.0.0.1:3000")) as client, step_for(client, path) as step:
            try:
                output = count(path, step)
            except OSError as error:
                step.fail(f"{path.name} cannot be read: {error.strerror}", fail_job=True)
                sys.exit(f"{path} cannot be read: {error.strerror}.")
            step.complete(output, message=f"{output['words']} words")
    except SignalboxError as error:
        sys.exit(str(error))
    print(f"job {step.job_id}: {output['words']} words in {output['lines']} lines")


if __name__ == "__main__":
    main()
