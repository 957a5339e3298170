"""Runs a line of bash that contains `signalbox run`, at a terminal of its own or without one, and signals it as a test says.

Arguments: the line, then pairs of a text and a signal. Each signal is sent once its text has been printed: `^C` by the
terminal, `hangup` by closing the terminal, and any other to the process whose id the program has printed as "wrapper ID";
`twice` sends SIGTERM to it and to its group, as `timeout` does. Without `^C`, `hangup` and `terminal`, which sends nothing,
there is no terminal. Prints what was printed, and exits with the exit code of the line.
"""

import os
import pty
import re
import signal
import subprocess
import sys

line, *steps = sys.argv[1:]
command = ["bash", "-c", line]
pairs = list(zip(steps[::2], steps[1::2]))
if {"^C", "hangup", "terminal"} & set(steps):
    pid, output = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
else:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    pid, output = process.pid, process.stdout.fileno()

printed = b""
while True:
    try:
        data = os.read(output, 4096)
    except OSError:  # Linux reports the end of a terminal as an error
        break
    if not data:
        break
    printed += data
    while pairs and all(re.search(text.encode(), printed) for text in pairs[0][0].split("&")):
        _, name = pairs.pop(0)
        if name == "^C":
            os.write(output, b"\x03")
        elif name == "hangup":
            os.close(output)
            print("closed", flush=True)
        elif name != "terminal":
            wrapper = int(re.search(rb"wrapper (\d+)", printed)[1])
            os.kill(wrapper, signal.SIGTERM if name == "twice" else signal.Signals[name])
            if name == "twice":
                os.killpg(wrapper, signal.SIGTERM)
sys.stdout.buffer.write(printed)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xFF)
