import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { agentFailed } from "./turnErrors.ts";

/** Limits on reading the body of an error, of which only a code and a type are needed. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_ERROR_MS = 3_000;

/**
 * Sends a request and waits for the response until the signal is aborted, however long the server is silent. Node's own
 * fetch gives up after five minutes without a byte, which large models on small machines exceed; to change that limit it
 * needs an Agent of exactly the undici version that is built into Node.
 *
 * The body of the request must be text. Redirects are not followed. A response with a status of 300 or more has only the
 * beginning of its body, as much as arrives in three seconds.
 * @throws AppError agent_failed for a status that a Response cannot have; the errors of Node's http client
 */
export async function fetchWithoutTimeout(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
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
    // Routers drop connections that are silent for long.
    sent.setSocketKeepAlive(true, 60_000);
    sent.end(init.body);
  });
  const status = incoming.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  // The constructor of Response accepts no other status, and no body with these three.
  const isValid = status >= 200 && status < 600;
  if (!isValid || [204, 205, 304].includes(status)) {
    incoming.destroy();
    if (!isValid) throw agentFailed(`The model server answered ${status}.`);
    return new Response(null, { status, headers });
  }
  const body = status < 300 ? (Readable.toWeb(incoming) as ReadableStream) : await readBeginning(incoming);
  return new Response(body, { status, headers });
}

async function readBeginning(body: Readable): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), MAX_ERROR_MS);
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ERROR_BYTES) break;
    }
  } catch {
    // Status and headers have arrived, and they matter most.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks);
}
