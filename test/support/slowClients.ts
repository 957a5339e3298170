import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { startApp, type TestApp } from "./app.ts";
import { eventually } from "./eventually.ts";

/**
 * Shorter than in production, but long enough for the honest clients of this process: after a stall of the machine the
 * server checks its limits before it reads what they have sent.
 */
export const LIMITS = { headMs: 1_200, requestMs: 1_800, responseMs: 1_200, checkIntervalMs: 50 };
/** How many clients do the same at once. */
export const EACH = 25;
export const HEAD = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
export const PUT =
  "PUT /api/jobs/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";

/** A client that sends its request slowly. */
interface Attacker {
  readonly socket: Socket;
  answered(): string;
  /** Whether the service has closed the connection. */
  isDisconnected(): boolean;
}

interface Attack {
  /** The text that the client sends at once, and the one that it sends every 20 ms from then on. */
  readonly first?: string | Uint8Array;
  readonly drip?: string;
  readonly reads?: boolean;
  readonly url?: string;
}

/** A service with short limits for each test, and the slow clients that connect to it. */
export class SlowClients {
  app!: TestApp;
  readonly attackers: Attacker[] = [];

  constructor() {
    beforeEach(async () => {
      this.app = await startApp({ limits: LIMITS });
    });
    afterEach(async () => {
      for (const { socket } of this.attackers.splice(0)) socket.destroy();
      await this.app.close();
    });
  }

  async attack({ first = "", drip = "", reads = true, url = this.app.url }: Attack): Promise<Attacker> {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let [text, isDisconnected] = ["", false];
    socket.on("error", () => {}); // The service disconnects it during a write.
    socket.once("close", () => {
      isDisconnected = true;
    });
    if (reads) socket.on("data", (chunk) => (text += chunk));
    await once(socket, "connect");
    socket.write(first);
    const dripping = drip && setInterval(() => socket.write(drip), 20);
    socket.once("close", () => clearInterval(dripping || undefined));
    const attacker = { socket, answered: () => text, isDisconnected: () => isDisconnected };
    this.attackers.push(attacker);
    return attacker;
  }

  /** Adds a test for each way to be slow, which is answered with 408. */
  areDisconnected(ways: readonly (readonly [title: string, how: Attack])[]): void {
    for (const [title, how] of ways) {
      it(`are disconnected with 408 when they ${title}, while others are served, and leave nothing open`, async () => {
        const slow = await Promise.all(Array.from({ length: EACH }, () => this.attack(how)));

        const others = await Promise.all(
          Array.from({ length: EACH }, (_, i) => this.app.call("PUT", `/api/jobs/other-${i}`, {})),
        );
        await eventually(() => slow.every((one) => one.isDisconnected()), "all slow clients to be disconnected");

        expect(others.map(({ status }) => status)).to.deep.equal(Array(EACH).fill(201));
        for (const one of slow) expect(one.answered()).to.match(/^HTTP\/1.1 408 /);
        for (const one of this.attackers.splice(0)) one.socket.destroy();
        await eventually(async () => (await this.app.connections()) <= EACH, "their connections to be released");
      });
    }
  }
}
