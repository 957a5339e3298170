import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

/** Requests on connections of their own, which a test can end. */
export class Clients {
  readonly #agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  readonly #open: { destroy(): void }[] = [];

  async get(url: string, headers: Record<string, string | string[]> = {}): Promise<IncomingMessage & { text: string }> {
    const request = get(url, { agent: this.#agent, headers: { Prefer: "wait=60", ...headers } });
    this.#open.push(request);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return Object.assign(response, { text: await text(response) });
  }

  leave(): void {
    for (const one of this.#open.splice(0)) one.destroy();
    this.#agent.destroy();
  }
}
