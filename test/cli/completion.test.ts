import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { completionScript } from "../../src/cli/commands/service/completion.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { runInProcess } from "../support/cli.ts";

const run = promisify(execFile);
const isInstalled = (shell: string) => spawnSync(shell, ["-c", ":"]).status === 0;
const program = await buildProgram(async () => ({}));

describe("signalbox completion", () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-completion-"));
    for (const shell of ["bash", "zsh", "fish"] as const) {
      writeFileSync(join(dir, `signalbox.${shell}`), completionScript(program, shell));
    }
    writeFileSync(join(dir, "body one.json"), "{}");
    writeFileSync(join(dir, "body-two.json"), "{}");
  });
  after(() => rmSync(dir, { recursive: true }));

  for (const shell of ["bash", "zsh", "fish"] as const) {
    it(`prints a script that ${shell} can parse`, async () => {
      const { code, stdout } = await runInProcess(["completion", shell], {});

      expect(code).to.equal(0);
      expect(stdout).to.equal(completionScript(program, shell));
      // zsh and fish are not installed everywhere; other tests check their scripts as texts
      if (shell === "bash" || isInstalled(shell)) await run(shell, ["-n", join(dir, `signalbox.${shell}`)]);
    });
  }

  it("rejects an unknown shell", async () => {
    const { code, stderr } = await runInProcess(["completion", "csh"], {});

    expect(code).to.equal(2);
    expect(stderr).to.match(/Allowed choices are bash, zsh, fish\.\n$/);
  });

  /** Returns what bash offers with the cursor at the end of the last word. */
  async function offers(...words: string[]): Promise<string[]> {
    const script = `source signalbox.bash
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      _signalbox
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await run("bash", ["--norc", "-c", script, "bash", ...words], { cwd: dir });
    return stdout.split("\n").filter((line) => line !== "");
  }

  const cases = [
    [["signalbox", "j"], ["jobs"]],
    [
      ["signalbox", "jobs", ""],
      ["list", "get", "watch", "put", "report", "cancel", "delete"],
    ],
    [
      ["signalbox", "hooks", "send", ""],
      ["wake", "agent"],
    ],
    [
      ["signalbox", "jobs", "list", "--st"],
      ["--status", "--stale"],
    ],
    [
      ["signalbox", "jobs", "list", "--status", ""],
      ["running", "completed", "failed", "stale", "cancelled"],
    ],
    [["signalbox", "jobs", "list", "--status", "f"], ["failed"]],
    [["signalbox", "jobs", "list", "--status", "=", "f"], ["failed"]],
    [["signalbox", "jobs", "list", "--name", ""], []],
    [["signalbox", "jobs", "watch", "--name", "list", "--jso"], ["--json"]],
    [["signalbox", "hooks", "send", "--idempotency-key", "agent", "--bo"], ["--body"]],
    [["signalbox", "hooks", "send", "agent", "--bo"], []],
    [
      ["signalbox", "hooks", "send", "ci", "--body", "body"],
      ["body one.json", "body-two.json"],
    ],
    [
      ["signalbox", "completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [
      ["signalbox", "webhooks", "gmail", "setup", "--po"],
      ["--poll-only", "--port"],
    ],
    [
      ["signalbox", "-"],
      ["--version", "-V", "--help", "-h"],
    ],
  ] as const;
  for (const [words, offered] of cases) {
    it(`bash offers ${offered.join(", ") || "nothing"} after "${words.join(" ")}"`, async () => {
      expect(await offers(...words)).to.have.members(offered);
    });
  }

  // fish runs only where it is installed; elsewhere only its script is checked
  const ofFish = isInstalled("fish") ? cases.filter(([words]) => !(words as readonly string[]).includes("=")) : [];
  for (const [words, offered] of ofFish) {
    it(`fish offers ${offered.join(", ") || "nothing"} after "${words.join(" ")}"`, async () => {
      const script = `source signalbox.fish; complete -C '${words.join(" ")}'`;

      const { stdout } = await run("fish", ["--no-config", "-c", script], { cwd: dir });

      const found = stdout.split("\n").flatMap((line) => line.split("\t")[0] || []);
      expect(found).to.include.members([...offered].filter((word) => word !== "-h"));
    });
  }

  it("works in an interactive bash", async () => {
    const script = "source signalbox.bash; complete -p signalbox";

    const { stdout } = await run("bash", ["--norc", "-c", script], { cwd: dir });

    expect(stdout).to.equal("complete -F _signalbox signalbox\n");
  });

  it("lists every command and option with its description for zsh and fish", () => {
    const [zsh, fish] = [completionScript(program, "zsh"), completionScript(program, "fish")];

    expect(zsh).to.include("'list:List jobs, newest first.'");
    expect(zsh).to.include("'--steps:include the steps'");
    expect(zsh).to.include(
      "'jobs list --status'|'jobs watch --status'|'jobs delete --status') compadd -- 'running' 'completed' 'failed' 'stale' 'cancelled'; return ;;",
    );
    expect(zsh).to.include("'--hooks-path:hooks.path of the service ");
    expect(fish).to.include("-n '__signalbox_at \\'jobs\\'' -a list -d 'List jobs, newest first.'");
    expect(fish).to.include(
      "-n '__signalbox_at \\'jobs list\\'' -l status -x -a 'running completed failed stale cancelled' -d ",
    );
    expect(fish).to.include("-n '__signalbox_at \\'hooks send\\'' -l body -r -F -d ");
  });
});
