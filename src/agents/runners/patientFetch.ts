import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { failed } from "./turnErrors.ts";

/** Of an error's body only a code and a type are wanted: it need not be whole. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_ERROR_MS = 3_000;

/**
 * Node's fetch gives up after five minutes without a byte, which a large model on a small machine takes with ease. This one
 * waits until its signal fires, however long the other side is silent. It sends text only and follows no redirect. Of an
 * answer that is none it gives the beginning of the body, as much as comes in three seconds.
 */
export async function patientFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const { request } = url.protocol === "https:" ? https : http;
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, {
      method: init.method ?? "GET",
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(init.signal && { signal: init.signal }),
    });
    sent.once("response", resolve);
    sent.on("error", reject);
    // Routers forget a connection that is silent for long.
    sent.setSocketKeepAlive(true, 60_000);
    sent.end(init.body);
  });
  const status = incoming.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  // A Response takes no other status, and with these no body.
  const isKnown = status >= 200 && status < 600;
  if (!isKnown || [204, 205, 304].includes(status)) {
    incoming.destroy();
    if (!isKnown) throw failed(`The model server answered ${status}.`);
    return new Response(null, { status, headers });
  }
  const body = status < 300 ? (Readable.toWeb(incoming) as ReadableStream) : await beginningOf(incoming);
  return new Response(body, { status, headers });
}

async function beginningOf(body: Readable): Promise<Buffer<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const hangUp = setTimeout(() => body.destroy(), MAX_ERROR_MS);
  try {
    for await (const piece of body) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > MAX_ERROR_BYTES) break;
    }
  } catch {
    // Status and headers have come, which say the most.
  } finally {
    clearTimeout(hangUp);
  }
  return Buffer.concat(pieces);
}
