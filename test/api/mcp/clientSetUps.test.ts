import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import JSON5 from "json5";
import { parse as parseToml } from "smol-toml";
import Type, { type TSchema } from "typebox";
import { Value } from "typebox/value";
import { WAIT_SECONDS } from "../../../src/api/mcp/tools.ts";
import { parseConfig } from "../../../src/config/load.ts";
import { reportingEnv } from "../../../src/workers/runs/reportingEnv.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { runInProcess } from "../../support/cli.ts";
import { type DocumentBlock, documentBlocks } from "../../support/documentBlocks.ts";
import { agentRequest } from "../../support/factories.ts";

const PAGE = "docs/how-to/report-over-mcp.md";
const HOST = "https://signalbox.example";
const TOKEN = "the-token-of-an-agent";
const CONFIG = JSON.stringify({
  server: {
    apiToken: "an-api-token-of-length",
    tokens: [{ name: "agent", token: TOKEN, scopes: ["jobs:read", "jobs:write"] }],
  },
});
const run = promisify(execFile);

/** A client's entry of the service: where it connects to, and what it sends. */
interface Entry {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const closed = { additionalProperties: false } as const;
const servers = (server: Record<string, TSchema>) => Type.Object({ signalbox: Type.Object(server, closed) }, closed);
const text = Type.String();
const headers = Type.Object({ Authorization: text }, closed);

/** The keys that each client documents, of those that the page uses, and how it reads them. */
const FILES: readonly {
  readonly title: string;
  readonly schema: TSchema;
  /** Returns the entry, with the variables as the client replaces them. */
  entryOf(file: never, env: Readonly<Record<string, string>>): Entry;
}[] = [
  {
    title: "Codex: ~/.codex/config.toml", // https://developers.openai.com/codex/mcp
    schema: Type.Object(
      { mcp_servers: servers({ url: text, bearer_token_env_var: text, tool_timeout_sec: Type.Number() }) },
      closed,
    ),
    entryOf({ mcp_servers }: { mcp_servers: { signalbox: Record<string, string> } }, env) {
      const { url = "", bearer_token_env_var: name = "", tool_timeout_sec } = mcp_servers.signalbox;
      expect(Number(tool_timeout_sec)).to.be.above(WAIT_SECONDS);
      return { url, headers: { Authorization: `Bearer ${env[name]}` } };
    },
  },
  {
    title: "Cursor: ~/.cursor/mcp.json", // https://cursor.com/docs/context/mcp
    schema: Type.Object({ mcpServers: servers({ url: text, headers }) }, closed),
    entryOf: ({ mcpServers }: { mcpServers: { signalbox: Entry } }, env) =>
      replaced(mcpServers.signalbox, /\$\{env:(\w+)\}/g, env),
  },
  {
    title: "VS Code: .vscode/mcp.json", // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
    schema: Type.Object(
      {
        servers: servers({ type: Type.Literal("http"), url: text, headers }),
        inputs: Type.Array(
          Type.Object(
            { type: Type.Literal("promptString"), id: text, description: text, password: Type.Literal(true) },
            closed,
          ),
        ),
      },
      closed,
    ),
    entryOf: (file: { servers: { signalbox: Entry }; inputs: { id: string }[] }) =>
      replaced(file.servers.signalbox, /\$\{input:([\w-]+)\}/g, { [file.inputs[0]?.id ?? ""]: TOKEN }),
  },
  {
    title: "Claude Code: --mcp-config", // https://code.claude.com/docs/en/mcp
    schema: Type.Object({ mcpServers: servers({ type: Type.Literal("http"), url: text, headers }) }, closed),
    entryOf: ({ mcpServers }: { mcpServers: { signalbox: Entry } }, env) =>
      replaced(mcpServers.signalbox, /\$\{(\w+)\}/g, env),
  },
  {
    title: "Gemini CLI: ~/.gemini/settings.json", // https://www.geminicli.com/docs/tools/mcp-server
    schema: Type.Object({ mcpServers: servers({ httpUrl: text, headers, trust: Type.Boolean() }) }, closed),
    entryOf: ({ mcpServers }: { mcpServers: { signalbox: { httpUrl: string } & Entry } }, env) =>
      replaced({ ...mcpServers.signalbox, url: mcpServers.signalbox.httpUrl }, /\$(\w+)/g, env),
  },
];

/** Returns an entry with the values of its variables. @throws AssertionError for a variable without one */
function replaced({ url, headers: given }: Entry, variable: RegExp, values: Readonly<Record<string, string>>): Entry {
  const replace = (value: string) =>
    value.replace(variable, (_, name: string) => values[name] ?? expect.fail(`${name} has no value`));
  return { url: replace(url), headers: { Authorization: replace(given.Authorization ?? "") } };
}

/** How each language of the page is parsed. */
const PARSERS: Readonly<Record<string, (code: string) => unknown>> = {
  toml: parseToml,
  json: (code) => JSON.parse(code),
  json5: (code) => JSON5.parse(/^\s*\{/.test(code) ? code : `{${code}}`),
};

describe(PAGE, () => {
  const blocks = documentBlocks(PAGE);
  const files = blocks.filter(({ language }) => ["toml", "json"].includes(language));
  const parsed = ({ language, code }: DocumentBlock) => PARSERS[language]?.(code);
  let app: TestApp;
  let env: Record<string, string>;
  let programs: string;
  before(async () => {
    app = await startApp({ config: CONFIG });
    await app.stores.jobs.put("run-1", {});
    const seal = async () => ({ token: TOKEN, expiresAt: new Date() });
    env = await reportingEnv(
      { _id: "run-1", sessionKey: "s", request: { ...agentRequest, trackAsJob: true } },
      { seal } as never,
      app.url,
    );
    programs = mkdtempSync(join(tmpdir(), "signalbox-clients-"));
    for (const name of ["claude", "codex", "npx"])
      writeFileSync(join(programs, name), '#!/bin/sh\nprintf "%s\\n" "${0##*/}" "$@"\n', { mode: 0o755 });
  });
  after(async () => {
    rmSync(programs, { recursive: true });
    await app.close();
  });

  /** Runs a command whose programs only print their name and arguments, and returns them. */
  const argumentsOf = async (program: string, args: readonly string[]): Promise<string[]> => {
    const { stdout } = await run(program, args, { env: { ...env, PATH: `${programs}:${process.env.PATH}` } });
    return stdout.trimEnd().split("\n");
  };
  const shell = (code: string) => argumentsOf("sh", ["-euc", code]);
  const blockWith = (words: string) => blocks.find(({ code }) => code.includes(words))?.code ?? "";

  /** Lists the tools with what a client would send. */
  const connect = async ({ url, headers: sent }: Entry) => {
    const accept = { Accept: "application/json, text/event-stream", "Content-Type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    const response = await fetch(url.replace(HOST, app.url), { method: "POST", headers: { ...accept, ...sent }, body });
    return { status: response.status, text: await response.text() };
  };

  it("has only blocks that this test parses", () => {
    expect(blocks.map(({ language }) => language).filter((one) => one !== "sh" && !PARSERS[one])).to.deep.equal([]);
    expect(files).to.have.length(FILES.length);
    for (const block of blocks.filter(({ language }) => language !== "sh")) expect(parsed(block)).to.be.an("object");
  });

  for (const [i, { title, schema, entryOf }] of FILES.entries())
    it(`has only documented keys in the file of ${title}, which reaches the service`, async () => {
      const file = parsed(files[i] as DocumentBlock);

      expect([...Value.Errors(schema, file)]).to.deep.equal([]);
      const { status, text: answer } = await connect(entryOf(file as never, env));
      expect([status, answer.includes("step_report")]).to.deep.equal([200, true]);
    });

  it("has a command of Claude Code that adds the endpoint with its header", async () => {
    const [program, ...args] = await shell(blockWith("claude mcp add"));

    expect([program, ...args.slice(0, 5)]).to.deep.equal(["claude", "mcp", "add", "--transport", "http", "signalbox"]);
    const [url = "", flag, header = ""] = args.slice(5);
    const [, name = "", value = ""] = /^([\w-]+): (.*)$/.exec(header) ?? [];
    expect([url, flag]).to.deep.equal([`${HOST}/mcp`, "--header"]);
    expect((await connect({ url, headers: { [name]: value } })).status).to.equal(200);
  });

  it("has a command that prints a token, which the configuration accepts", async () => {
    const [, program, ...args] = await shell(blockWith("token new"));
    const { code, stdout } = await runInProcess(args, {});
    const [, line = ""] = /^ {2}(\{ .* \},)$/m.exec(stdout) ?? [];

    expect([program, code]).to.deep.equal(["signalbox", 0]);
    const config = `{ server: { apiToken: "an-api-token-of-length", tokens: [${line}] } }`;
    expect(parseConfig(config, {}).server.tokens).to.have.length(1);
  });

  it("has a configuration of the command runner that is valid, and allows Claude Code tools that exist", async () => {
    const values = { SIGNALBOX_HOOKS_TOKEN: "a-hook-token-of-length" };
    const { agents } = parseConfig(blockWith("--mcp-config"), values);
    const { command = [] } = agents.runners.command ?? {};
    const tools = (command[command.indexOf("--allowedTools") + 1] ?? "").split(",");
    const { text: listed } = await connect({ url: `${app.url}/mcp`, headers: { Authorization: `Bearer ${TOKEN}` } });

    expect(agents.defaults).to.include({ runner: "command", trackAsJob: true });
    expect(tools).to.have.length(4);
    for (const tool of tools) expect(listed).to.include(`"name":"${tool.replace(/^mcp__signalbox__/, "")}"`);
  });

  it("has a command line of Codex with the endpoint and the variable of the token", async () => {
    const { command } = JSON5.parse(`{${blockWith("codex exec")}}`) as { command: [string, ...string[]] };
    const [program, sub, ...args] = await argumentsOf(command[0], command.slice(1));
    const settings = args.filter((arg) => arg.startsWith("mcp_servers.")).map((arg) => arg.split(/=(.*)/s).slice(0, 2));

    expect([program, sub, args.filter((arg) => arg === "-c").length, args.at(-1)]).to.deep.equal([
      ...["codex", "exec", 2, "-"],
    ]);
    expect(settings).to.deep.equal([
      ["mcp_servers.signalbox.url", `${app.url}/mcp`],
      ["mcp_servers.signalbox.bearer_token_env_var", "SIGNALBOX_TOKEN"],
    ]);
  });

  it("shows no server that is not at /mcp, and no variable that the runner does not set", () => {
    const shown = blocks.map(({ code }) => code).join("\n");

    for (const [, path] of shown.matchAll(/https:\/\/signalbox\.example(\/\S*?)["\s]/g)) expect(path).to.equal("/mcp");
    const named = new Set([...shown.matchAll(/\$\{?(SIGNALBOX_\w+)/g)].map(([, name]) => name));
    named.delete("SIGNALBOX_HOOKS_TOKEN"); // of the service's own configuration
    expect([...named].filter((name) => !(String(name) in env))).to.deep.equal([]);
  });
});
