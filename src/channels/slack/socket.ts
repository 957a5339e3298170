import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, WebSocket } from "undici";
import type { Config } from "../../config/config.ts";
import { trimSlashes } from "../../shared/address.ts";
import { retryAfterMs } from "../../shared/backoff.ts";
import { sendRequest } from "../http.ts";
import { classifyStatus } from "../httpStatus.ts";
import { ABORTED, type InboundFailure, type InboundSink, type InboundSource } from "../inbound.ts";
import { classifyRefusal, refusalCode } from "./errors.ts";
import { readSlackAct } from "./inbound.ts";

const TIMEOUT_MS = 30_000;
/** Maximum size of a message, in bytes. */
const MAX_BYTES = 1024 * 1024;
/** The pause before Slack is asked for another connection, in case it replaces each one at once. */
const REOPEN_MS = 250;
/** The channel on which undici reports the pings of servers, which it answers itself. */
const PINGS = "undici:websocket:ping";

type Settings = NonNullable<Config["channels"]["slack"]> & { readonly appToken: string };

/**
 * Returns the source for an app in Socket Mode: a connection over which Slack sends what it would send to a request URL. Slack
 * repeats an envelope that was not acknowledged, and replaces each connection after some hours.
 * @param silenceMs the time without a sign of life after which a connection counts as lost. Slack sends a ping every few seconds
 */
export function slackSocket({ apiUrl, appToken }: Settings, silenceMs: number): InboundSource {
  const headers = { Authorization: `Bearer ${appToken}` };
  const request = { method: "POST", url: `${trimSlashes(apiUrl)}/apps.connections.open`, headers } as const;
  const dispatcher = new Agent({ webSocket: { maxPayloadSize: MAX_BYTES } });
  return async (sink, signal) => {
    let former: WebSocket | undefined;
    try {
      while (!signal.aborted) {
        const response = await sendRequest({ ...request, body: {}, timeoutMs: TIMEOUT_MS }, signal);
        if (response.kind !== "response") return { reason: response.reason, afterMs: null };
        const url = URL.parse(response.json?.ok === true ? String(response.json.url) : "");
        if (!url || !/^wss?:$/.test(url.protocol)) {
          const refusal = refusalCode(response);
          const { reason } = refusal ? classifyRefusal(response, refusal) : classifyStatus("Slack", response);
          return { reason, afterMs: retryAfterMs(response.headers) };
        }
        const replaced = former;
        const socket = new WebSocket(url, { dispatcher });
        former = socket;
        const onHello = () => replaced?.close();
        const failure = await receive(socket, { ...sink, onHello }, { signal, silenceMs });
        if (failure) return failure;
        // The old connection goes on receiving meanwhile.
        await pause(REOPEN_MS, undefined, { signal }).catch(() => {});
      }
      return ABORTED;
    } finally {
      former?.close();
    }
  };
}

/**
 * Receives the messages of a connection one after the other, until it ends.
 * @returns null if Slack is about to end it and asks for another one. It goes on receiving until that one is open
 */
function receive(
  socket: WebSocket,
  sink: InboundSink & { onHello(): void },
  { signal, silenceMs }: { readonly signal: AbortSignal; readonly silenceMs: number },
): Promise<InboundFailure | null> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => resolve({ reason, afterMs: null });
    const silent = setTimeout(() => {
      fail("The connection to Slack is silent.");
      socket.close();
    }, silenceMs);
    const onPing = (ping: unknown) => (ping as { websocket: unknown }).websocket === socket && silent.refresh();
    const onAbort = () => socket.close();
    subscribe(PINGS, onPing);
    signal.addEventListener("abort", onAbort);
    let handled = Promise.resolve();
    socket.addEventListener("message", ({ data }) => {
      silent.refresh();
      handled = handled.then(() => handle(String(data))).catch(reject);
    });
    socket.addEventListener("error", () => {}); // followed by "close"
    socket.addEventListener("close", ({ code }) => {
      clearTimeout(silent);
      unsubscribe(PINGS, onPing);
      signal.removeEventListener("abort", onAbort);
      fail(`The connection to Slack was closed (${code}).`);
    });

    async function handle(text: string): Promise<void> {
      const { type, envelope_id, payload, reason } = parse(text);
      if (type === "hello") {
        sink.onHello();
        await sink.works();
      }
      if (type === "disconnect") {
        if (reason === "link_disabled") fail("Socket Mode is turned off in the settings of the app.");
        else resolve(null);
      }
      if (typeof envelope_id !== "string") return;
      await sink.take([readSlackAct(payload) ?? []].flat());
      socket.send(JSON.stringify({ envelope_id }));
    }
  });
}

// biome-ignore lint/suspicious/noExplicitAny: what Slack sends; each field that is read is checked
function parse(text: string): any {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
