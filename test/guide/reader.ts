import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { startShell } from "../cli/service.ts";
import type { DocumentBlock } from "../support/documentBlocks.ts";
import { startProcess } from "../support/process.ts";
import { type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";
import { acquireDatabase } from "../support/servers/databases.ts";
import { answers, type ModelServer, startModelServer } from "../support/servers/modelServer.ts";
import { freePort, redisUrl } from "../support/servers/servers.ts";
import { asConfiguration, checkConfiguration, type Settings, type Stores, withServers } from "./configuration.ts";
import { ReaderShell } from "./readerShell.ts";

/** The files of a clone that a reader's own clone does not share, because the pages write them. */
const OWN = [".signalbox", ".env", ".git", "signalbox.json5", "hooks"];

const TOKEN = "the-token-that-the-first-start-makes";
const DEFAULT: Settings = { hooks: { enabled: true, token: TOKEN } };

/** An answer with which Telegram and ntfy accept a message. */
const CHAT_ANSWER = { ok: true, result: { message_id: 1, username: "bot" }, id: "1", event: "message" };

const PROGRAMS: Readonly<Record<string, { readonly ending: string; readonly command: string }>> = {
  js: { ending: ".mjs", command: "npx node" },
  ts: { ending: ".ts", command: "npx node" },
  py: { ending: ".py", command: "PYTHONPATH=clients/python/src python3" },
};

/** The differences between a clone and an installed package. */
interface Installation {
  /** The module of the command line. */
  readonly cli: string;
  /** The settings without a configuration; undefined for no file. */
  readonly settings: Settings | undefined;
  /** The databases of the service; undefined for the embedded ones. */
  readonly stores: (Stores & { release(): Promise<void> }) | undefined;
  /** Starts the service, and resolves when it is ready. */
  start(env: Record<string, string>): Promise<{ stop(): Promise<unknown> }>;
}

interface Servers {
  readonly port: number;
  readonly model: ModelServer;
  readonly chat: ChannelServer;
}

/**
 * Somebody who follows a page: runs its commands and programs, and restarts the service with each configuration that the
 * page shows. The service, the model server and the chats have other addresses than in the page.
 */
export class Reader {
  readonly #directory: string;
  readonly #installation: Installation;
  readonly #servers: Servers;
  readonly #shell: ReaderShell;
  #service: { stop(): Promise<unknown> } | undefined;
  #settings: Settings | undefined;
  /** The settings and the environment of the running service, as text. */
  #running = "";

  private constructor(directory: string, installation: Installation, servers: Servers) {
    this.#directory = directory;
    this.#installation = installation;
    this.#servers = servers;
    this.#settings = installation.settings;
    this.#shell = new ReaderShell(directory, installation.cli);
  }

  /** Makes a clone out of links in a new directory, with an empty database. */
  static async inClone(): Promise<Reader> {
    const directory = mkdtempSync(join(tmpdir(), "signalbox-reader-"));
    for (const name of readdirSync(".").filter((one) => !OWN.includes(one))) {
      symlinkSync(resolve(name), join(directory, name));
    }
    mkdirSync(join(directory, ".signalbox"));
    writeFileSync(join(directory, ".signalbox", "hooks-token"), TOKEN);
    const [{ uri, release }, redis] = await Promise.all([acquireDatabase(), redisUrl()]);
    const installation = {
      cli: resolve("src/cli/main.ts"),
      settings: DEFAULT,
      stores: { mongodb: uri, redis, prefix: basename(directory), release },
      async start(env: Record<string, string>) {
        const service = startProcess("test/support/processes/both.ts", env);
        await service.ready;
        return service;
      },
    };
    return new Reader(directory, installation, await startServers());
  }

  /** Makes a directory with the packages of another and a port of its own. `signalbox start` uses its embedded servers there. */
  static async withPackages(packages: string): Promise<Reader> {
    const directory = mkdtempSync(join(tmpdir(), "signalbox-reader-"));
    symlinkSync(packages, join(directory, "node_modules"));
    const cli = join(directory, "node_modules/signalbox/lib/cli/main.js");
    const path = [resolve(".tools/bin"), process.env.PATH].join(delimiter);
    const servers = await startServers();
    writeFileSync(join(directory, ".env"), `PORT=${servers.port}\n`);
    const installation = {
      cli,
      settings: undefined,
      stores: undefined,
      async start(env: Record<string, string>) {
        const line = `${process.execPath} ${cli} start`;
        const service = startShell(line, { ...env, PATH: path, HOME: directory }, directory);
        await service.ready();
        const stop = () => {
          service.kill("SIGTERM");
          return service.ended;
        };
        return { stop };
      },
    };
    return new Reader(directory, installation, servers);
  }

  /** The paths of the requests that the chats have received. */
  chatRequests(): string[] {
    return this.#servers.chat.requests.map(({ path }) => path);
  }

  /** The texts that the chats have received at a path, with the service's address as in the page. */
  chatTexts(path: string): string[] {
    const { chat, port } = this.#servers;
    const sent = chat.requests.filter((request) => request.path === path);
    return sent.map(({ text }) => text.replaceAll(`http://127.0.0.1:${port}`, "http://127.0.0.1:3000"));
  }

  /**
   * Follows a block and returns what it prints. Blocks of other languages, and those with `no-run`, are for reading.
   * @throws if it does not work
   */
  async follow({ language, info, code, line }: DocumentBlock): Promise<string> {
    if (info.includes("no-run")) return "";
    if (language === "json") JSON.parse(code);
    if (language === "json5") this.#configure(code);
    const program = PROGRAMS[language];
    if (language !== "sh" && !program) return "";
    if (!this.#installation.settings && code.startsWith("npm run")) return ""; // the scripts of a clone
    await this.#start();
    const text = this.#withAddresses(code);
    if (!program) return this.#shell.run(text);
    const file = join(this.#directory, `block${line}${program.ending}`);
    writeFileSync(file, text);
    return this.#shell.run(`${program.command} ${file}`);
  }

  async close(): Promise<void> {
    this.#shell.close();
    await this.#service?.stop();
    const { model, chat } = this.#servers;
    await Promise.all([model.close(), chat.close(), this.#installation.stores?.release()]);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Checks a configuration, and takes it for the service. Secrets that the page does not set get values in .env. */
  #configure(code: string): void {
    const env = this.#readEnv();
    for (const [, name = ""] of code.matchAll(/\$\{(\w+)\}/g)) {
      env[name] ??= `${name.toLowerCase()}-of-the-reader`;
    }
    writeFileSync(
      join(this.#directory, ".env"),
      Object.entries(env)
        .map(([key, value]) => `${key}=${value}\n`)
        .join(""),
    );
    const settings = asConfiguration(code);
    checkConfiguration(settings, env, this.#file);
    this.#settings = settings;
  }

  /** Starts the service, or restarts it if the configuration or .env has changed. */
  async #start(): Promise<void> {
    const { port, chat, model } = this.#servers;
    const env = this.#readEnv();
    const { stores } = this.#installation;
    const settings = this.#settings && withServers(this.#settings, { port, chatUrl: chat.url, stores });
    const text = settings ? this.#withAddresses(JSON.stringify(settings)) : "";
    const wanted = text + JSON.stringify(env);
    if (this.#service && wanted === this.#running) return;
    await this.#service?.stop();
    model.script();
    if (settings) writeFileSync(this.#file, text);
    const ofFile = settings && { SIGNALBOX_CONFIG: this.#file };
    this.#service = await this.#installation.start({ ...env, ...ofFile, PORT: String(port) });
    this.#shell.export("READER_URL", `http://127.0.0.1:${port}`);
    this.#running = wanted;
  }

  get #file(): string {
    return join(this.#directory, "signalbox.json5");
  }

  #readEnv(): Record<string, string> {
    const file = join(this.#directory, ".env");
    return existsSync(file) ? { ...(parseEnv(readFileSync(file, "utf8")) as Record<string, string>) } : {};
  }

  #withAddresses(text: string): string {
    return text
      .replace(/http:\/\/(127\.0\.0\.1|localhost):3000/g, `http://127.0.0.1:${this.#servers.port}`)
      .replace(/http:\/\/(127\.0\.0\.1|localhost):11434\/v1/g, this.#servers.model.url);
  }
}

async function startServers(): Promise<Servers> {
  const chat = await startChannelServer(answers(200, CHAT_ANSWER));
  const [port, model] = await Promise.all([freePort(), startModelServer()]);
  return { port, model, chat };
}
