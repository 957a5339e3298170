import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** An entry of package-lock.json. */
interface LockEntry {
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, LockEntry>>;

/** The use of each dependency of the service. Names that are used together are one entry. */
const PURPOSES: Readonly<Record<string, string>> = {
  "@bull-board/api, @bull-board/koa": "the queue board at `/queues`; not in the npm package",
  "@googleapis/gmail, google-auth-library": "the Gmail listener; not in the npm package",
  "@koa/router, koa, koa-bodyparser, raw-body": "the HTTP server",
  "@modelcontextprotocol/server": "the endpoint of the Model Context Protocol; the npm package contains a part of it",
  acorn: "edits the configuration file, and finds keys that are written twice",
  "ajv, ajv-formats": "validates requests and the configuration",
  "bullmq, ioredis": "the queues, and the driver of Redis",
  "commander, leven": "the command line, and the nearest name or word for a mistyped one",
  "eventsource-parser": "streams of model servers",
  htmlparser2: "reads the text of mails in HTML",
  "ipaddr.js": "ranges of IP addresses, for `callbackUrl`",
  json5: "the format of the configuration file",
  "markdown-it, markdown-it-cjk-friendly": "reads the Markdown of replies, and renders the guide",
  mongoose: "MongoDB: the driver, connections, indexes",
  nodemailer: "the channel `email`",
  openai: "model servers; the npm package contains a part of it",
  "p-limit, rate-limiter-flexible": "limits of concurrency, and of failed log-ins",
  "pino, pino-pretty": "the log",
  "prom-client": "metrics",
  "string-width": "columns of a terminal",
  typebox: "schemas with static types; the npm package contains a part of it",
  undici: "webhooks, and requests without a time limit to model servers",
};

/** Generates docs/reference/dependencies.md: what each dependency of the service weighs, with what only it needs. */
export function dependencyDocs(): string {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Packages };
  const groups = Object.entries(PURPOSES).map(([names, purpose]) => ({ names: names.split(", "), purpose }));
  const named = groups.flatMap(({ names }) => names).sort();
  if (named.join() !== Object.keys(dependencies).sort().join())
    throw new Error("PURPOSES in script/dependencyDocs.ts does not name the dependencies of package.json");

  const all = installed(packages, named);
  const rows = groups.map(({ names, purpose }) => {
    const others = installed(
      packages,
      named.filter((name) => !names.includes(name)),
    );
    const own = [...all].filter((path) => !others.has(path));
    return { names, purpose, count: own.length, bytes: sum(own), own };
  });
  const shared = [...all].filter((path) => !rows.some(({ own }) => own.includes(path)));
  const lines = rows
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ names, purpose, count, bytes }) =>
      row(names.map((name) => `\`${name}\``).join(", "), purpose, count, bytes),
    );
  return `# Dependencies

<!-- Made by \`npm run docs\` from package.json and node_modules. -->

Every package that the service needs in production, with those that only it needs. A megabyte (MB) is a million bytes of files;
on disk they take about a third more, in blocks of 4 KiB. [Deploy](../how-to/deploy.md#the-npm-package) states the size of a whole
installation.

| dependency | used for | packages | MB |
|---|---|---|---|
${lines.join("\n")}
${row("needed by several of them", "", shared.length, sum(shared))}
${row("all", "", all.size, sum([...all]))}

Packages that npm may leave out because they are built for another system are not counted.
`;
}

const row = (name: string, purpose: string, count: number, bytes: number): string =>
  `| ${name} | ${purpose} | ${count} | ${(bytes / 1e6).toFixed(2)} |`;

/** Returns the paths of packages and of everything that they need, without optional packages. */
function installed(packages: Packages, names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const add = (from: string, name: string) => {
    const path = resolvePackage(packages, from, name);
    if (path === undefined || found.has(path) || packages[path]?.optional) return;
    found.add(path);
    for (const needed of Object.keys(packages[path]?.dependencies ?? {})) add(path, needed);
  };
  for (const name of names) add("", name);
  return found;
}

/** Finds a package as Node does: in the folder of the package that needs it, then in those above. */
function resolvePackage(packages: Packages, from: string, name: string): string | undefined {
  const path = join(from, "node_modules", name);
  if (path in packages) return path;
  return from === ""
    ? undefined
    : resolvePackage(packages, from.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, ""), name);
}

const sum = (paths: readonly string[]): number => paths.reduce((total, path) => total + sizeOf(path), 0);

/** Returns the size of the files in a folder, without the packages that are installed in it. */
function sizeOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += entry.name === "node_modules" ? 0 : sizeOf(path);
    else bytes += statSync(path).size;
  }
  return bytes;
}
