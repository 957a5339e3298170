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
import { basename, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { DocumentBlock } from "../support/documentBlocks.ts";
import { type Service, startProcess } from "../support/process.ts";
import { type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";
import { acquireDatabase } from "../support/servers/databases.ts";
import { answers, type ModelServer, startModelServer } from "../support/servers/modelServer.ts";
import { freePort, redisUrl } from "../support/servers/servers.ts";
import { asConfiguration, checkConfiguration, type Settings, withServers } from "./configuration.ts";
import { ReaderShell } from "./readerShell.ts";

/** The files of a clone that a reader's own clone does not share, because the pages write them. */
const OWN = [".signalbox", ".env", ".git", "signalbox.json5", "hooks", "report.md", "report.json"];

const TOKEN = "the-token-that-the-first-start-makes";
const DEFAULT: Settings = { hooks: { enabled: true, token: TOKEN } };

const PROGRAMS: Readonly<Record<string, { readonly ending: string; readonly command: string }>> = {
  js: { ending: ".mjs", command: "npx node" },
  ts: { ending: ".ts", command: "npx node" },
  py: { ending: ".py", command: "PYTHONPATH=clients/python/src python3" },
};

interface Servers {
  readonly port: number;
  readonly model: ModelServer;
  readonly chat: ChannelServer;
  readonly mongodb: { readonly uri: string; release(): Promise<void> };
  readonly redis: string;
}

/**
 * Somebody who follows a page in a clone of their own: runs its commands and programs, and restarts the service with each
 * configuration that the page shows. The service, the model server and the chats have other addresses than in the page.
 */
export class Reader {
  readonly #directory: string;
  readonly #servers: Servers;
  readonly #shell: ReaderShell;
  #service: Service | undefined;
  #settings = DEFAULT;
  /** The settings and the environment of the running service, as text. */
  #running = "";

  private constructor(directory: string, servers: Servers) {
    this.#directory = directory;
    this.#servers = servers;
    this.#shell = new ReaderShell(directory);
  }

  /** Makes a clone out of links in a new directory, with an empty database. */
  static async inClone(): Promise<Reader> {
    const directory = mkdtempSync(join(tmpdir(), "signalbox-reader-"));
    for (const name of readdirSync(".").filter((one) => !OWN.includes(one))) {
      symlinkSync(resolve(name), join(directory, name));
    }
    mkdirSync(join(directory, ".signalbox"));
    writeFileSync(join(directory, ".signalbox", "hooks-token"), TOKEN);
    const chat = await startChannelServer(answers(200, { ok: true, result: { message_id: 1, username: "bot" } }));
    const [port, model, mongodb, redis] = await Promise.all([
      freePort(),
      startModelServer(),
      acquireDatabase(),
      redisUrl(),
    ]);
    return new Reader(directory, { port, model, chat, mongodb, redis });
  }

  /** The paths of the requests that the chats have received. */
  chatRequests(): string[] {
    return this.#servers.chat.requests.map(({ path }) => path);
  }

  /** Follows a block. Blocks of other languages, and those with `no-run`, are for reading. @throws if it does not work */
  async follow({ language, info, code, line }: DocumentBlock): Promise<void> {
    if (info.includes("no-run")) return;
    if (language === "json") JSON.parse(code);
    if (language === "json5") this.#configure(code);
    const program = PROGRAMS[language];
    if (language !== "sh" && !program) return;
    await this.#start();
    const text = this.#withAddresses(code);
    if (!program) return void (await this.#shell.run(text));
    const file = join(this.#directory, `block${line}${program.ending}`);
    writeFileSync(file, text);
    await this.#shell.run(`${program.command} ${file}`);
  }

  async close(): Promise<void> {
    this.#shell.close();
    await this.#service?.stop();
    const { model, chat, mongodb } = this.#servers;
    await Promise.all([model.close(), chat.close(), mongodb.release()]);
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
    const { port, chat, model, mongodb, redis } = this.#servers;
    const env = this.#readEnv();
    const settings = withServers(this.#settings, {
      ...{ port, chatUrl: chat.url, mongodb: mongodb.uri, redis, prefix: basename(this.#directory) },
    });
    const file = this.#file;
    const text = this.#withAddresses(JSON.stringify(settings));
    const wanted = text + JSON.stringify(env);
    if (wanted === this.#running) return;
    await this.#service?.stop();
    model.script();
    writeFileSync(file, text);
    this.#service = startProcess("test/support/processes/both.ts", {
      ...env,
      SIGNALBOX_CONFIG: file,
      PORT: String(port),
    });
    await this.#service.ready;
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
