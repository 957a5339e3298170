import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

/**
 * Node's fetch gives up after five minutes without a byte, which a large model on a small machine takes with ease. This one
 * waits until its signal fires, however long the other side is silent. It sends text only and follows no redirect.
 */
export async function patientFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: init.method ?? "GET",
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(init.signal && { signal: init.signal }),
    });
    sent.once("response", (incoming) => {
      const status = incoming.statusCode ?? 0;
      const headers = new Headers();
      for (const [name, values] of Object.entries(incoming.headersDistinct)) {
        for (const value of values ?? []) headers.append(name, value);
      }
      const hasBody = status !== 204 && status !== 304;
      if (!hasBody) incoming.resume();
      resolve(new Response(hasBody ? (Readable.toWeb(incoming) as ReadableStream) : null, { status, headers }));
    });
    sent.on("error", reject);
    // Routers forget a connection that is silent for long.
    sent.setSocketKeepAlive(true, 60_000);
    sent.end(init.body);
  });
}
