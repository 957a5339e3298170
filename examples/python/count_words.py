"""
Counts the words of a text file, as a step that reports.

  python3 examples/python/count_words.py FILE

SIGNALBOX_URL (default http://127.0.0.1:3000) says where the service is, SIGNALBOX_TOKEN its token if it has one.
SIGNALBOX_STEP is the assignment of an orchestrator, as JSON; without it a job of one step is made.
"""

import json
import os
import sys
import uuid
from collections import Counter
from pathlib import Path

from signalbox import Refused, Signalbox, Step


def count(path, step):
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    words = Counter()
    for number, line in enumerate(lines, start=1):
        words.update(line.lower().split())
        step.progress(number / len(lines) * 100, f"{number} of {len(lines)} lines")
    return {"lines": len(lines), "words": sum(words.values()), "most": words.most_common(5)}


def assignment_for(signalbox, path):
    given = os.environ.get("SIGNALBOX_STEP")
    if given:
        return json.loads(given)
    job_id = str(uuid.uuid4())
    signalbox.create_job(job_id, name=f"Count the words of {path.name}", metadata={"example": "python"})
    return {"jobId": job_id, "stepKey": "count", "stepName": "Count the words", "jobProgressStart": 0, "jobProgressEnd": 100}


def main():
    if len(sys.argv) != 2:
        sys.exit("Usage: python3 examples/python/count_words.py FILE")
    path = Path(sys.argv[1])
    url = os.environ.get("SIGNALBOX_URL", "http://127.0.0.1:3000")
    signalbox = Signalbox(url, os.environ.get("SIGNALBOX_TOKEN"))
    try:
        assignment = assignment_for(signalbox, path)
        step = Step(signalbox, assignment)
        step.start(f"reading {path.name}")
        try:
            output = count(path, step)
        except OSError as error:
            step.fail(f"{path.name} cannot be read: {error.strerror}", fail_job=True)
            sys.exit(f"{path} cannot be read: {error.strerror}.")
        step.complete(f"{output['words']} words", output)
    except Refused as error:
        sys.exit(f"{error} ({error.code})")
    print(f"job {assignment['jobId']}: {output['words']} words in {output['lines']} lines")


if __name__ == "__main__":
    main()
