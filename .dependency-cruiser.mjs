/**
 * Which folder of src may import which, checked by `npm run check`. Every folder is listed with the folders and files that
 * it may import besides itself; every other import is refused, and so is every import of a folder that is not listed.
 */
import "@swc/core"; // Fails where the parser is missing; dependency-cruiser would skip TypeScript and pass.

/** @type {Record<string, [allowed: string[], why: string]>} */
const FOLDERS = {
  shared: [[], "shared is a leaf, so that everything can use it."],
  wire: [["shared"], "wire declares the shape of each resource, for whoever sends, returns or documents it."],
  config: [["shared"], "config reads the file of the operator, before anything else is started."],
  models: [
    ["shared", "wire", "config"],
    "models hold the documents and their queries; they work without HTTP and queues.",
  ],
  hooks: [["shared", "config"], "hooks match and render requests; whoever calls them reads and writes the documents."],
  agents: [["shared", "config"], "agents carry out one turn; workers read and write the documents around it."],
  channels: [["shared", "config"], "channels send one message; workers read and write the documents around it."],
  gmail: [
    ["shared", "wire", "config", "models", "hooks"],
    "gmail makes runs of mails as the API makes them of requests, without the API.",
  ],
  api: [
    [
      "shared",
      "wire",
      "config",
      "models",
      "hooks",
      "channels/.*inbound.ts",
      "gmail/.*mailboxStatus.ts",
      "dashboard/(.*paths|firstReads|firstContent).ts",
    ],
    "api and workers never import each other: their contract is the documents and the queue definitions.",
  ],
  workers: [
    ["shared", "wire", "config", "models", "hooks", "agents", "channels"],
    "workers and api never import each other: their contract is the documents and the queue definitions.",
  ],
  cli: [
    ["shared", "wire", "config", "models", "hooks", "agents", "gmail", "client"],
    "cli starts api and workers as processes and imports neither.",
  ],
  client: [["wire"], "client is published alone, so it cannot use the rest of the service."],
  dashboard: [
    ["client", "wire", "shared/form", "shared/timeLeft.ts", "shared/text/html.ts", "shared/text/decimal.ts"],
    "dashboard runs in a browser and uses only the public API; it shares the form of a question with the page behind a link, and the time left with chats.",
  ],
};

/**
 * The subjects of src/models from the lowest to the highest, each with the subjects that it may import, which stand above it in
 * this list. Whoever concerns several subjects comes after them: `retention` deletes across them, and `stores.ts` opens all.
 *
 * @type {Record<string, string[]>}
 */
const SUBJECTS = {
  db: [],
  "audit.ts": ["db"],
  "idempotencyKey.ts": ["db"],
  "endedLogin.ts": ["db"],
  "gmailMailbox.ts": ["db"],
  chat: ["db"],
  notes: ["db"],
  jobs: ["db", "idempotencyKey.ts", "notes"],
  gates: ["db", "audit.ts", "idempotencyKey.ts", "notes", "jobs"],
  sessions: ["db", "notes"],
  deliveries: ["db", "notes", "sessions"],
  runs: ["db", "idempotencyKey.ts", "notes", "jobs", "sessions", "deliveries"],
  budgets: ["db"],
  intake: ["db", "idempotencyKey.ts", "notes", "sessions", "runs"],
  notifications: ["db", "notes", "jobs", "deliveries", "runs"],
  figures: ["db", "jobs", "runs"],
};
const all = Object.keys(SUBJECTS);
Object.assign(SUBJECTS, {
  "database.ts": all,
  "backup.ts": ["db", "jobs", "database.ts"],
  "connectServers.ts": ["database.ts"],
  "stores.ts": [...all, "database.ts"],
  retention: ["db", "jobs", "deliveries", "runs", "intake", "stores.ts"],
});

const pathOf = (name) => (name.includes(".") ? `^src/${name}$` : `^src/${name}/`);

const directions = Object.entries(FOLDERS).map(([folder, [allowed, comment]]) => ({
  name: `${folder}-imports`,
  comment,
  from: { path: pathOf(folder) },
  to: {
    pathNot: [...[folder, ...allowed].map(pathOf), "^node_modules/", "^package\\.json$"],
    dependencyTypesNot: ["core"],
    couldNotResolve: false,
  },
}));

const subjectDirections = Object.entries(SUBJECTS).map(([subject, allowed]) => ({
  name: `models-${subject}-imports`,
  comment: "A subject of models imports only subjects below it, so that none must be understood together with another.",
  from: { path: pathOf(`models/${subject}`) },
  to: { path: "^src/models/", pathNot: [subject, ...allowed].map((name) => pathOf(`models/${name}`)) },
}));

const refuse = (name, comment, from, to) => ({ name, comment, from, to });

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    ...directions,
    ...subjectDirections,
    refuse(
      "unlisted-subject",
      "A subject of models imports nothing until SUBJECTS lists it.",
      { path: "^src/models/", pathNot: Object.keys(SUBJECTS).map((name) => pathOf(`models/${name}`)) },
      {},
    ),
    refuse(
      "unlisted-folder",
      "A folder of src imports nothing until FOLDERS lists it.",
      { path: "^src/", pathNot: Object.keys(FOLDERS).map(pathOf) },
      {},
    ),
    refuse(
      "client-without-wire",
      "The client is published with the types generated of wire. Only calls, which are for the page and the command line, import it.",
      { path: "^src/client/", pathNot: "^src/client/calls/" },
      { path: "^src/wire/" },
    ),
    refuse(
      "wire-types-only",
      "The page, the command line and their calls need the types of the wire shapes, not their schemas.",
      { path: "^src/(client|cli|dashboard)/" },
      { path: "^src/wire/", dependencyTypesNot: ["type-only"] },
    ),
    refuse(
      "client-without-packages",
      "The client runs in browsers and in other people's projects, so it uses neither packages nor Node.",
      { path: "^src/client/" },
      { pathNot: "^src/" },
    ),
    refuse(
      "mongoose-in-models",
      "Whoever else needs documents calls a query or a command of models.",
      { path: "^src/", pathNot: "^src/models/" },
      { path: "^node_modules/(mongoose|mongodb)/" },
    ),
    refuse(
      "koa-in-api",
      "HTTP ends in api: everything below works without a request.",
      { path: "^src/", pathNot: "^src/api/" },
      { path: "^node_modules/@?koa\\b" },
    ),
    refuse(
      "bullmq-in-queue",
      "Only the queue definitions, the producer and the two files that run processors depend on how BullMQ works.",
      { path: "^src/", pathNot: "^src/(shared/queue/.*|workers/(runWorkers|outcome))\\.ts$" },
      { path: "^node_modules/bullmq/" },
    ),
    refuse("no-cycles", "Files of a cycle, of types too, cannot be understood one by one.", {}, { circular: true }),
    refuse("no-unresolved", "Rules cannot judge an import that leads nowhere.", {}, { couldNotResolve: true }),
  ].map((rule) => ({ severity: "error", ...rule })),
  options: {
    // The parser reads type imports too. TypeScript's own API, the default, ends with TypeScript 6.
    parser: "swc",
    doNotFollow: { path: "^node_modules/" },
    // These tests have packages of their own, which only the slow tier installs and type-checks.
    exclude: { path: "^test/slow/sdks/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
