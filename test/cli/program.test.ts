import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { CommanderError } from "commander";
import { examplesOf } from "../../src/cli/program/examples.ts";
import { buildProgram } from "../../src/cli/program/program.ts";
import { version } from "../../src/shared/version.ts";
import { runInProcess } from "../support/cli.ts";
import { runCli } from "./service.ts";

type Program = ReturnType<typeof buildProgram>;

const all = (command: Program): Program[] => [command, ...command.commands.flatMap(all)];
/** Those that do something by themselves. */
const acting = (program: Program) =>
  all(program).filter((one) => one.commands.length === 0 || one.registeredArguments.length > 0);
const nameOf = (command: Program): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

/** The words of a line, without its quotes; what comes after a > is the shell's. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/ >.*/, "").matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");

describe("signalbox", () => {
  class Reached extends Error {}
  const program = () =>
    buildProgram(() => {
      throw new Reached();
    });

  for (const command of acting(program())) {
    it(`has a description and examples for ${nameOf(command)}`, () => {
      expect(command.description()).to.match(/^[A-Z].*\.$/);
      expect(examplesOf(command)).to.not.be.empty;
      for (const { description, flags } of command.options) expect(description, flags).to.not.equal("");
    });
  }

  const examples = acting(program()).flatMap((command) =>
    command.name() === "completion" ? [] : examplesOf(command).map((line) => ({ line, name: nameOf(command) })),
  );
  for (const { line, name } of examples) {
    it(`accepts its own example ${line}`, async () => {
      const [signalbox, ...args] = wordsOf(line);
      expect(signalbox).to.equal("signalbox");
      expect(line.startsWith(`${name} `) || line === name).to.equal(true);

      const end = await program()
        .parseAsync(args, { from: "user" })
        .then(
          () => "nothing was done",
          (error: unknown) => error,
        );

      expect(end, String(end)).to.be.instanceOf(Reached);
    });
  }

  const misused = [
    [["jbos", "list"], /^error: unknown command 'jbos'\n\(Did you mean jobs\?\)$/],
    [["jobs", "lst"], /^error: unknown command 'lst'\n\(Did you mean list\?\)$/],
    [["jobs", "list", "--stauts", "failed"], /^error: unknown option '--stauts'\n\(Did you mean --status\?\)$/],
    [["jobs", "list", "--status", "done"], /Allowed choices are running, completed, failed\.$/],
    [["jobs", "list", "--stale", "--no-stale"], /^error: option '--stale' cannot be used with option '--no-stale'$/],
    [["jobs", "delete", "--no-stale", "--stale", "--yes"], /cannot be used with option '--no-stale'$/],
    [["jobs", "list", "--limit", "0"], /It must be a whole number from 1 to 1000000\.$/],
    [["jobs", "list", "--created-from", "soon"], /It must be a time such as .*, or how long ago, such as 2h or 7d\.$/],
    [["jobs", "list", "--updated-before", "45"], /It must be a time such as .*, or how long ago, such as 2h or 7d\.$/],
    [["jobs", "list", "--updated-before", "3600"], /It must be a time such as/],
    [["jobs", "list", "--updated-before", "tomorrow 5"], /It must be a time such as/],
    [["jobs", "list", "--metadata", "team"], /It must be key=value\.$/],
    [["jobs", "get", ""], /^error: .*'jobId'\. No URL can carry it\.$/],
    [["jobs", "watch", ".."], /No URL can carry it\.$/],
    [["jobs", "delete", "a", "."], /No URL can carry it\.$/],
    [["runs", "get", ".."], /No URL can carry it\.$/],
    [["deliveries", "retry", ""], /No URL can carry it\.$/],
    [["sessions", "messages", ".."], /No URL can carry it\.$/],
    [["hooks", "send", "ci//build", "--body", "-"], /No URL can carry it\.$/],
    [["hooks", "test", "ci", "--body", "-", "--header", "nonsense"], /It must be "name: value"\.$/],
    [["jobs", "get"], /^error: missing required argument 'jobId'$/],
    [["hooks", "send", "agent"], /^error: required option '--message <text>' not specified$/],
    [["hooks", "send", "agent", "--message", "x", "--timeout", "0"], /It must be a number of seconds above 0\.$/],
  ] as const;
  for (const [args, words] of misused) {
    it(`exits with 2 and an explanation for ${args.join(" ")}`, async () => {
      const { code, stdout, stderr } = await runInProcess(args, {});

      expect([code, stdout]).to.deep.equal([2, ""]);
      expect(stderr.trim()).to.match(words);
    });
  }

  it("accepts options of hooks test before the name of the hook", async () => {
    const args = ["hooks", "test", "--body", "-", "--header", "a: b", "--header", "c: d", "ci"];

    const end = await program()
      .parseAsync(args, { from: "user" })
      .catch((error: unknown) => error);

    expect(end, String(end)).to.be.instanceOf(Reached);
  });

  it("exits with 1 and one sentence if the output cannot be written", async () => {
    const output = openSync("/dev/full", "w");
    const args = ["src/cli/main.ts", "completion", "bash"];
    const child = spawn(process.execPath, args, { stdio: ["ignore", output, "pipe"] });
    closeSync(output);
    const [stderr, [code]] = await Promise.all([text(child.stderr as Readable), once(child, "close")]);

    expect([code, stderr]).to.deep.equal([1, "The output cannot be written (ENOSPC).\n"]);
  });

  it("prints the version with --version", async () => {
    const { code, stdout } = await runInProcess(["--version"], {});

    expect([code, stdout]).to.deep.equal([0, `${version}\n`]);
  });

  it("exits with 0 and prints examples with --help", async () => {
    const { code, stdout } = await runInProcess(["jobs", "watch", "--help"], {});

    expect(code).to.equal(0);
    expect(stdout).to.match(/^Usage: signalbox jobs watch \[options\] \[jobId\]\n/);
    expect(stdout).to.include("\nExamples:\n  signalbox jobs watch report-7\n");
  });

  it("prints the same with help and --help, for nested commands too", async () => {
    const asked = await runInProcess(["help", "jobs", "watch"], {});
    const help = await runInProcess(["jobs", "watch", "--help"], {});

    expect(asked).to.deep.equal(help);
  });

  it("loads neither the commands nor the configuration for --help", async () => {
    const trace = { NODE_OPTIONS: `--import ${SPY}` };

    const { stderr } = await runCli("--help", trace).ended;

    expect(stderr).to.include("/src/cli/program/program.ts");
    expect(stderr).to.not.match(
      /\/src\/(cli\/commands|client|models|shared\/config\/(?!formats\/))|\/node_modules\/(?!commander)/,
    );
  });

  it("lists all commands and exits with 2 without a command", async () => {
    const { code, stderr } = await runInProcess([], {});

    expect(code).to.equal(2);
    expect(stderr).to.match(/^Usage: signalbox \[options\] \[command\]\n[\s\S]*\n {2}jobs /);
  });

  it("leaves the exit code to the caller", async () => {
    const quiet = program();
    quiet.configureOutput({ writeErr: () => {} });

    const end = await quiet.parseAsync(["nothing"], { from: "user" }).catch((error: unknown) => error);

    expect(end).to.be.instanceOf(CommanderError);
  });
});

/** Says on standard error which modules are loaded. */
const SPY = `data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from "node:module";
  registerHooks({ load(url, context, next) { process.stderr.write(url + "\\n"); return next(url, context); } });`,
)}`;
