/** The behaviour of hostile clients. */
export interface Attack {
  readonly title: string;
  /** Number of connections of the full attack. */
  readonly connections: number;
  /** The first bytes of each connection. */
  readonly first: string;
  /** The bytes that each connection sends every second afterwards. */
  readonly drip?: string;
  /** Whether it never reads the response. */
  readonly deaf?: true;
  /** The delay of a new connection after the service closed one. */
  readonly againAfterMs?: number;
}

/** The job whose response at this path has several MiB. */
export const LARGE = { jobId: "large", path: "/api/jobs/large?include=steps" };

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}`;
const body = "Content-Type: application/json\r\nContent-Length: 4000000\r\n";

export const attacks = {
  silent: { title: "connections that send nothing", connections: 5_000, first: "" },
  kept: { title: "connections kept after a request", connections: 5_000, first: get("/healthz", "\r\n") },
  heads: { title: "heads byte by byte", connections: 1_000, first: get("/healthz", "X-A: "), drip: "a" },
  bodies: {
    ...{ title: "bodies byte by byte", connections: 1_000, drip: " " },
    first: `PUT /api/jobs/slow HTTP/1.1\r\nHost: localhost\r\n${body}\r\n{${" ".repeat(16_000)}`,
  },
  held: {
    ...{ title: "bodies of 4 MB but for the end", connections: 100 },
    first: `PUT /api/jobs/slow HTTP/1.1\r\nHost: localhost\r\n${body}\r\n{${" ".repeat(3_900_000)}`,
  },
  answers: { title: "answers of 9 MB not taken", connections: 20, first: get(LARGE.path, "\r\n"), deaf: true },
  streams: { title: "live events not taken", connections: 500, first: get("/api/events", "\r\n"), deaf: true },
  large: {
    ...{ title: "heads of 64 KiB, again and again", connections: 50, againAfterMs: 200 },
    first: get("/healthz", `X-A: ${"a".repeat(65_536)}\r\n\r\n`),
  },
} satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;
