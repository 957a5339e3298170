import { Agent, fetch } from "undici";
import { agentFailed } from "./turnErrors.ts";

/** Limits on reading the body of an error, of which only a code and a type are needed. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_ERROR_MS = 3_000;

/** Node's own fetch gives up after five minutes without a byte, which large models on small machines exceed. */
const withoutTimeout = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/**
 * Sends a request and waits for the response until the signal is aborted, however long the server is silent. Redirects are
 * not followed. A response with a status of 300 or more has only the beginning of its body, as much as arrives in three
 * seconds.
 * @throws AppError agent_failed for a status that a Response cannot have; the errors of the connection
 */
export async function fetchWithoutTimeout(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const url = input instanceof Request ? input.url : input;
  // The types of the package and of the platform differ in details that do not matter here.
  const options = { ...init, redirect: "manual", dispatcher: withoutTimeout } as Parameters<typeof fetch>[1];
  const response = (await fetch(url, options).catch(throwCause)) as unknown as Response;
  const { status, headers } = response;
  if (status < 300 || !response.body) return response;
  // The constructor of Response accepts no other status.
  if (status > 599) throw agentFailed(`The model server answered ${status}.`);
  return new Response(await readBeginning(response.body), { status, headers });
}

/** Throws the cause of an error of fetch, which has the code of a failed connection. */
function throwCause(error: Error): never {
  throw error.cause ?? error;
}

async function readBeginning(body: ReadableStream<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body.getReader();
  const timer = setTimeout(() => reader.cancel(), MAX_ERROR_MS);
  try {
    while (bytes <= MAX_ERROR_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      bytes += value.length;
    }
  } catch {
    // Status and headers have arrived, and they matter most.
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => {});
  }
  return Buffer.concat(chunks);
}
