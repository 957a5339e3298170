import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { CommanderError } from "commander";
import sinon from "sinon";
import { numberFrom, seconds, timeOrAge } from "../../src/cli/arguments.ts";
import { examplesOf } from "../../src/cli/command.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { version } from "../../src/shared/process/version.ts";
import { runInProcess } from "../support/cli.ts";
import { onScreen } from "./screen.ts";
import { runCli } from "./service.ts";

type Program = Awaited<ReturnType<typeof buildProgram>>;

const all = (command: Program): Program[] => [command, ...command.commands.flatMap(all)];
/** The commands that do something by themselves. */
const acting = (program: Program) =>
  all(program).filter((one) => one.commands.length === 0 || one.registeredArguments.length > 0);
const nameOf = (command: Program): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();

/** Returns the words of a line without quotes and without a redirection by the shell. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/ >.*/, "").matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");

class Reached extends Error {}
const program = () =>
  buildProgram(() => {
    throw new Reached();
  });
const whole = await program();

describe("signalbox", () => {
  for (const command of all(whole)) {
    it(`has a description and examples for ${nameOf(command)}, its options and its arguments`, () => {
      expect(command.description()).to.match(/^[A-Z].*\.$/);
      expect(examplesOf(command)).to.not.be.empty;
      for (const { description, flags } of command.options) expect(description, flags).to.not.equal("");
      for (const argument of command.registeredArguments) {
        expect(argument.description, argument.name()).to.not.equal("");
      }
    });
  }

  const examples = acting(whole).flatMap((command) =>
    ["completion", "new"].includes(command.name())
      ? []
      : examplesOf(command).map((line) => ({ line, name: nameOf(command) })),
  );
  for (const { line, name } of examples) {
    it(`accepts its own example ${line}`, async () => {
      const [signalbox, ...args] = wordsOf(line);
      expect(signalbox).to.equal("signalbox");
      expect(line.startsWith(`${name} `) || line === name).to.equal(true);

      const end = await (await program()).parseAsync(args, { from: "user" }).then(
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
    [["jobs", "list", "--status", "done"], /Allowed choices are running, completed, failed, stale, cancelled\.$/],
    [["jobs", "list", "--stale", "--no-stale"], /^error: option '--stale' cannot be used with option '--no-stale'$/],
    [["jobs", "delete", "--no-stale", "--stale", "--yes"], /cannot be used with option '--no-stale'$/],
    [["jobs", "list", "--limit", "0"], /It must be a whole number from 1 to 1000000\.$/],
    [
      ["jobs", "list", "--created-from", "soon"],
      /It must be a date such as .*, or a duration before now such as 2h or 7d\.$/,
    ],
    [
      ["jobs", "list", "--updated-before", "45"],
      /It must be a date such as .*, or a duration before now such as 2h or 7d\.$/,
    ],
    [["jobs", "list", "--updated-before", "3600"], /It must be a date such as/],
    [["jobs", "list", "--updated-before", "2026-02-30"], /It must be a date such as/],
    [["jobs", "list", "--updated-before", "2026-13"], /It must be a date such as/],
    [
      ["jobs", "list", "--status", "stale", "--status", "failed"],
      /^--status stale cannot be used with another --status/,
    ],
    [["jobs", "list", "--status", "stale", "--no-stale"], /^--status stale cannot be used .*or with --no-stale/],
    [["jobs", "list", "--url", "http://host:99999"], /^--url is no address: check its host, and its port/],
    [["jobs", "list", "--url", "ftp://host"], /^--url must start with http:\/\/ or https:\/\/: /],
    [["jobs", "get", "--url=ftp://host", "--json", "--", "-a"], /^--url must start with http:\/\/ or https:\/\/: /],
    [["run", "--wait", "5", "--url", "ftp://host", "true"], /^--url must start with http:\/\/ or https:\/\/: /],
    [["--url", "http://host", "jobs", "list"], /^error: unknown option '--url'$/],
    [["jobs", "--url", "http://host", "list"], /^error: unknown option '--url'$/],
    [["jobs", "put", "a", "--input", "5"], /It must be a JSON object, such as '\{"rows": 500\}'\.$/],
    [["jobs", "report", "a", "b", "--to", "101"], /It must be a number from 0 to 100\.$/],
    [["jobs", "report", "a"], /^error: missing required argument 'stepKey'$/],
    [["help", "jbos"], /^error: unknown command 'jbos'\n\(Did you mean jobs\?\)$/],
    [["help", "jobs", "lst"], /^error: unknown command 'lst'\n\(Did you mean list\?\)$/],
    [["config", "check", "--url", "http://host"], /^error: unknown option '--url'$/],
    [["--url"], /^error: unknown option '--url'/],
    [["jobs", "list", "--updated-before", "tomorrow 5"], /It must be a date such as/],
    [["jobs", "list", "--metadata", "team"], /It must have the form key=value\.$/],
    [["jobs", "get", ""], /^error: .*'jobId'\. It cannot be part of a URL\.$/],
    [["jobs", "watch", ".."], /It cannot be part of a URL\.$/],
    [["jobs", "delete", "a", "."], /It cannot be part of a URL\.$/],
    [["runs", "get", ".."], /It cannot be part of a URL\.$/],
    [["deliveries", "retry", ""], /It cannot be part of a URL\.$/],
    [["sessions", "messages", ".."], /It cannot be part of a URL\.$/],
    [["hooks", "send", "ci//build", "--body", "-"], /It cannot be part of a URL\.$/],
    [["hooks", "test", "ci", "--body", "-", "--header", "nonsense"], /It must have the form "name: value"\.$/],
    [["jobs", "get"], /^error: missing required argument 'jobId'$/],
    [["hooks", "send", "agent"], /^error: required option '--message <text>' not specified$/],
    [
      ["hooks", "send", "agent", "--message", "x", "--timeout", "0"],
      /It must be a number of seconds greater than 0\.$/,
    ],
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

    const end = await (await program()).parseAsync(args, { from: "user" }).catch((error: unknown) => error);

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

    expect(stderr).to.include("/src/cli/program.ts");
    expect(stderr).to.not.match(
      /\/src\/(cli\/commands\/(?!all\.ts)|client|models|config\/)|\/node_modules\/(?!commander)/,
    );
  });

  it("loads only the file of the called command", async () => {
    const { stderr } = await runCli("jobs list --help", { NODE_OPTIONS: `--import ${SPY}` }).ended;

    const loaded = [...stderr.matchAll(/\/src\/cli\/commands\/(\S+)/g)].map(([, file]) => file);
    expect(loaded).to.have.members(["all.ts", "jobs/jobs.ts", "jobs/filter.ts", "list.ts"]);
  });

  it("wraps the help at words on a terminal of 60 columns", async () => {
    const terminal = onScreen(["jobs", "list", "--help"], {}, { columns: 60, rows: 60 });
    await terminal.ended;

    const lines = (await terminal.lines()).join("\n");
    expect(lines).to.match(/ starts with\n +this text \(case-insensitive\)\n/);
  });

  it("puts descriptions below the names on a terminal of 36 columns, and breaks no word", async () => {
    const terminal = onScreen(["jobs", "list", "--help"], {}, { columns: 36, rows: 90 });
    await terminal.ended;

    const lines = (await terminal.lines()).join("\n");
    expect(lines).to.include("\n  --name <text>\n      only jobs whose name starts\n      with this text\n");
  });

  const times: [string, () => Date][] = [
    ["2026", () => new Date(2026, 0)],
    ["2026-03", () => new Date(2026, 2)],
    ["2026-03-01", () => new Date(2026, 2, 1)],
    ["2026-03-01T12:00", () => new Date(2026, 2, 1, 12)],
    ["2026-03-01T12:00:00Z", () => new Date("2026-03-01T12:00:00Z")],
    ["today", () => new Date(new Date().setHours(0, 0, 0, 0))],
    ["2h ago", () => new Date(2026, 4, 3, 10)],
    ["yesterday", () => new Date(new Date(Date.now() - 24 * 3_600_000).setHours(0, 0, 0, 0))],
  ];
  for (const [text, time] of times) {
    it(`reads ${text} as a time in the time zone of the machine`, () => {
      const clock = sinon.useFakeTimers({ now: new Date(2026, 4, 3, 12), toFake: ["Date"] });
      try {
        expect(timeOrAge(text)).to.equal(time().toISOString());
      } finally {
        clock.restore();
      }
    });
  }

  for (const text of [
    "2026-13",
    "2026-02-30",
    "2026-11-31",
    "2026-02-30T12:00",
    "2026-02-30T12:00:00Z",
    "2025-02-29 12:00",
  ]) {
    it(`refuses ${text}, which is no day of the calendar`, () => {
      expect(() => timeOrAge(text)).to.throw("It must be a date such as");
    });
  }

  for (const text of ["0x10", "1e2", "0b11", " ", " 5", "5 ", "", "Infinity"]) {
    it(`refuses ${JSON.stringify(text)} as a number`, () => {
      expect(() => numberFrom(0, 1_000)(text)).to.throw("It must be a number from 0 to 1000.");
      expect(() => seconds(text)).to.throw("It must be a number of seconds");
    });
  }

  it("reads numbers with a fraction and a sign", () => {
    expect(["0.5", ".5", "+5", "12"].map(seconds)).to.deep.equal([0.5, 0.5, 5, 12]);
  });

  it("lists all commands and exits with 2 without a command", async () => {
    const { code, stderr } = await runInProcess([], {});

    expect(code).to.equal(2);
    expect(stderr).to.match(/^Usage: signalbox \[options\] \[command\]\n[\s\S]*\n {2}jobs /);
  });

  it("leaves the exit code to the caller", async () => {
    const quiet = await program();
    quiet.configureOutput({ writeErr: () => {} });

    const end = await quiet.parseAsync(["nothing"], { from: "user" }).catch((error: unknown) => error);

    expect(end).to.be.instanceOf(CommanderError);
  });
});

/** Prints the URL of each loaded module to standard error. */
const SPY = `data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from "node:module";
  registerHooks({ load(url, context, next) { process.stderr.write(url + "\\n"); return next(url, context); } });`,
)}`;
