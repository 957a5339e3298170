import { type ClientOptions, createClient } from "../../src/client/client.ts";

/** A request that was sent to the service. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
  readonly headers: Headers;
}

/** Returns a client and the list of the requests that it sends. */
export function recordingClient(options: ClientOptions & { readonly url: string }) {
  const sent: Sent[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { body, headers, method = "" } = init ?? {};
    const path = String(input).slice(options.url.length);
    sent.push({ method, path, body: body && JSON.parse(String(body)), headers: new Headers(headers) });
    return globalThis.fetch(input, init);
  };
  return { sent, client: createClient({ fetch, ...options }) };
}
