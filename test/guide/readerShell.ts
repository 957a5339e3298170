import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Maximum duration of a block, less than that of a test. */
const MAX_MS = 100_000;

/**
 * Programs that stand before the real ones on PATH: `npx` without its start-up time, `signalbox` as the reader has it, `curl`
 * that fails on an error status, `sleep` without the wait. What npm would start, test or install exists already.
 */
const PROGRAMS: Readonly<Record<string, string>> = {
  npx: 'exec "$@"',
  curl: `PATH=\${PATH#*:}
case " $* " in *" -f"* | *" --fail"*) exec curl "$@" ;; *) exec curl --fail-with-body "$@" ;; esac`,
  npm: `case "$*" in start | test* | install* | "run build:package") exit 0 ;; esac
PATH=\${PATH#*:} SIGNALBOX_URL=$READER_URL exec npm "$@"`,
  sleep: "exit 0",
};

/** A shell in which a reader runs the commands of one page, one block after the other. */
export class ReaderShell {
  readonly #directory: string;
  readonly #bash: ChildProcess;
  #printed = "";
  #onOutput = () => {};

  /** @param cli the module of the command line */
  constructor(directory: string, cli: string) {
    this.#directory = directory;
    const programs = join(directory, ".programs");
    mkdirSync(programs);
    const signalbox = `exec ${process.execPath} ${cli} "$@"`;
    for (const [name, body] of Object.entries({ ...PROGRAMS, signalbox })) {
      writeFileSync(join(programs, name), `#!/bin/sh\n${body}\n`);
      chmodSync(join(programs, name), 0o755);
    }
    const path = [programs, resolve("node_modules/.bin"), process.env.PATH].join(":");
    this.#bash = spawn("bash", ["--noprofile", "--norc"], {
      cwd: directory,
      env: { PATH: path, HOME: directory, LANG: "C.UTF-8", NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true, // its process group ends with it
    });
    for (const stream of [this.#bash.stdout, this.#bash.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#printed += text;
        this.#onOutput();
      });
    }
    this.#bash.stdin?.write("set -E -o pipefail; trap 'FAILED=$?' ERR\n");
  }

  /** Sets a variable for the blocks that follow. */
  export(name: string, value: string): void {
    this.#bash.stdin?.write(`export ${name}='${value}'\n`);
  }

  /** Runs commands and returns what they print. @throws if one of them fails */
  async run(commands: string): Promise<string> {
    const file = join(this.#directory, ".block.sh");
    writeFileSync(file, commands);
    this.#printed = "";
    this.#bash.stdin?.write(`FAILED=0; . ${file} < /dev/null; echo; echo "ended with $FAILED"; echo ended >&2\n`);
    await new Promise<void>((done, reject) => {
      const timer = setTimeout(() => reject(new Error(`does not end: ${commands}\n${this.#printed}`)), MAX_MS);
      this.#onOutput = () => {
        if (!/^ended with \d+$/m.test(this.#printed) || !/^ended$/m.test(this.#printed)) return;
        clearTimeout(timer);
        done();
      };
    });
    if (!/^ended with 0$/m.test(this.#printed)) throw new Error(`${commands}\n${this.#printed}`);
    return this.#printed.replace(/\n?^ended( with 0)?\n/gm, ""); // without what is printed below the output
  }

  close(): void {
    if (this.#bash.pid) process.kill(-this.#bash.pid, "SIGKILL");
  }
}
