import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect } from "chai";
import { findAgents } from "../../../src/cli/start/findAgents.ts";
import { parseConfig } from "../../../src/config/load.ts";
import { eventually } from "../../support/eventually.ts";

const PROGRAMS = ["claude", "codex", "gemini"];

describe("findAgents", () => {
  let home: string;
  let server: Server | undefined;
  let requests: string[];
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "signalbox-found-"));
    requests = [];
  });
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
    rmSync(home, { recursive: true, force: true });
  });

  /** Starts a stand-in for Ollama. Without a body it never answers. */
  const ollama = async (body?: string, status = 200): Promise<string> => {
    server = createServer((req, res) => {
      requests.push(`${req.method} ${req.url}`);
      if (body !== undefined) res.writeHead(status, { "Content-Type": "application/json" }).end(body);
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const models = (...list: object[]) => JSON.stringify({ models: list });
  /** Creates programs that leave a trace when they run. */
  const programs = (names: readonly string[], mode = 0o755): NodeJS.ProcessEnv => {
    for (const name of names) {
      writeFileSync(join(home, name), `#!/bin/sh\necho ${name} >> ${join(home, "started")}\n`);
      chmodSync(join(home, name), mode);
    }
    return { PATH: [join(home, "missing"), home].join(delimiter) };
  };
  const nothing = { ollamaUrl: "http://127.0.0.1:9", timeoutMs: 300 };

  it("finds the latest model of Ollama that generates text, with one request", async () => {
    const embedding = { name: "nomic-embed-text:latest", details: { family: "nomic-bert" } };
    const url = await ollama(models(embedding, { name: "qwen3:8b", details: { family: "qwen3" } }, { name: "old:1b" }));

    const found = await findAgents({}, { ollamaUrl: url });

    expect(found.map(({ name }) => name)).to.deep.equal(["Ollama with qwen3:8b"]);
    expect(requests).to.deep.equal(["GET /api/tags"]);
    const { agents } = parseConfig(`{ ${found[0]?.settings} }`, {});
    expect([agents.defaults.runner, agents.defaults.model]).to.deep.equal(["openai", "qwen3:8b"]);
    expect(agents.runners.openai?.baseUrl).to.equal(`${url}/v1`);
  });

  it("finds claude, codex and gemini on PATH, and starts none of them", async () => {
    const found = await findAgents(programs(PROGRAMS), nothing);

    expect(found.map(({ name }) => name)).to.deep.equal(PROGRAMS);
    expect(() => readFileSync(join(home, "started"))).to.throw("ENOENT");
  });

  it("offers settings of three lines whose arguments the guide contains", async () => {
    const guide = readFileSync("docs/how-to/set-up-an-agent.md", "utf8");
    for (const { name, settings } of await findAgents(programs(PROGRAMS), nothing)) {
      const { agents } = parseConfig(`{ ${settings} }`, {});
      const command = agents.runners.command?.command ?? [];

      expect([agents.defaults.runner, command[0]]).to.deep.equal(["command", name]);
      expect(settings.split("\n")).to.have.length(3);
      expect(Math.max(...settings.split("\n").map(({ length }) => length))).to.be.at.most(76);
      for (const part of command) expect(guide).to.include(JSON.stringify(part));
    }
  });

  it("ignores directories and files that cannot be run", async () => {
    const env = programs(["claude"], 0o644);
    mkdirSync(join(home, "codex"));

    expect(await findAgents(env, nothing)).to.deep.equal([]);
  });

  it("finds nothing at an address that does not answer within the limit", async () => {
    const ollamaUrl = await ollama();
    // On a busy machine the limit can pass before the request arrives.
    await eventually(async () => {
      expect(await findAgents({}, { ollamaUrl, timeoutMs: 50 })).to.deep.equal([]);
      return requests.length > 0;
    }, "a request to arrive within the limit");
    expect(requests[0]).to.equal("GET /api/tags");
  });

  const ANSWERS: readonly [string, string, number?][] = [
    ["without models", models()],
    ["that is no JSON", "<html>"],
    ["of another program", "{}"],
    ["with an error", models({ name: "qwen3:8b" }), 500],
    ["with a name that a terminal or JSON5 would interpret", models({ name: 'a"\u001b[2J' }, { name: 7 })],
  ];
  for (const [title, body, status] of ANSWERS) {
    it(`finds nothing in an answer ${title}`, async () => {
      expect(await findAgents({}, { ollamaUrl: await ollama(body, status) })).to.deep.equal([]);
    });
  }
});
