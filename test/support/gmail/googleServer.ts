import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { answers, type Behaviour, type ChannelServer, startChannelServer } from "../servers/channelServer.ts";

type ChannelRequest = Parameters<Behaviour>[1];

/** A mail as a test writes it; the server completes its resource. */
interface TestMail {
  readonly labelIds?: readonly string[];
  readonly internalDate?: number;
  readonly snippet?: string;
  readonly payload?: object;
}

type Subscription = Record<string, unknown> & { topic: string };

/** A fake of Google's token endpoint, Gmail and Pub/Sub with one mailbox. Tests may change all its state. */
export interface GoogleServer extends Pick<ChannelServer, "url" | "requests" | "close"> {
  /** The addresses in place of Google's. */
  readonly addresses: { readonly gmail: string; readonly pubsub: string; readonly token: string };
  readonly tokenUrl: string;
  /** The consent page, which redirects the browser at once with a code that is valid once. */
  readonly consentUrl: string;
  /** Overrides of the page and of the code exchange; `error` is the parameter of the redirect. */
  readonly consent: { error?: string; scope?: string; withoutRefreshToken?: true };
  /** Sets the behaviours of the next requests that match; later ones get the usual response. */
  fail(pattern: RegExp, ...behaviours: Behaviour[]): void;
  /** Matches the requests to answer with 503, by method and path. */
  isDown: (line: string) => boolean;
  /** Returns the requests so far that match. */
  requestsTo(pattern: RegExp): ChannelRequest[];
  /**
   * Holds the request with this number, counted from now, before the server processes it, or afterwards and before its
   * response; then calls `onHeld`.
   */
  hold(hold: { at: number; when: "request" | "answer"; onHeld: () => void } | undefined): void;
  /** Whether requests are neither processed nor answered. */
  isFrozen: boolean;
  /** Revokes all issued tokens. New ones are valid, unless `authorization` is set. */
  endTokens(): void;
  /** The error of the token endpoint, such as `invalid_grant`; undefined to issue tokens. */
  deadAuthorization: string | undefined;
  readonly mailbox: {
    readonly emailAddress: string;
    historyId: number;
    /** History before this id is unavailable. */
    oldestHistoryId: number;
    pageSize: number;
    /** Adds a mail without a notice. */
    add(mail?: TestMail): string;
    remove(id: string): void;
    /** Changes a mail, as when it is read or labelled. */
    touch(id: string): void;
    /** Drops the whole history, as Gmail does after a week. */
    forgetHistory(): void;
  };
  readonly pubsub: {
    readonly topics: Set<string>;
    readonly policies: Map<string, { etag: string; version?: number; bindings?: object[] }>;
    readonly subscriptions: Map<string, Subscription>;
    /** Publishes a notice to all subscriptions, by default about the mailbox's current state. */
    publish(notice?: unknown): void;
    /** Redelivers the notices that were pulled and not acknowledged. */
    redeliver(): void;
    /** Returns the number of pulls that wait for a notice. */
    pulling(): number;
    /** Returns the number of notices that are not acknowledged. */
    outstanding(subscription: string): number;
  };
  /** The topic and labels of the watch; null without one. */
  watch: { topicName: string; labelIds: string[]; expiration: number } | null;
}

const WEEK_MS = 7 * 24 * 3_600_000;

/** Builds an error in the format of Gmail and Pub/Sub. */
export const googleError = (
  code: number,
  status: string,
  reason: string,
  headers?: Record<string, string>,
): Behaviour =>
  answers(
    code,
    { error: { code, message: "secret words", status, errors: [{ reason, message: "secret words" }] } },
    headers,
  );

const notFound = googleError(404, "NOT_FOUND", "notFound");
const exists = googleError(409, "ALREADY_EXISTS", "alreadyExists");

export async function startGoogleServer(): Promise<GoogleServer> {
  let faults: { pattern: RegExp; behaviour: Behaviour }[] = [];
  let tokens = new Set<string>();
  let issued = 0;
  const mails = new Map<string, Record<string, unknown>>();
  const records: { id: number; messageId: string; labelIds: readonly string[] }[] = [];
  const queues = new Map<string, { ackId: string; data: string; isOut: boolean }[]>();
  const waiting: { name: string; max: number; response: ServerResponse }[] = [];
  let acks = 0;
  const codes = new Map<string, Record<string, string>>();

  let hold: Parameters<GoogleServer["hold"]>[0];
  let counted = 0;

  const usual: Behaviour = (response, request) => {
    if (google.isFrozen) return;
    if (hold && ++counted === hold.at) {
      const { when, onHeld } = hold;
      if (when === "request") return onHeld();
      response.end = () => {
        onHeld();
        return response;
      };
    }
    const line = `${request.method} ${request.path}`;
    if (google.isDown(line)) return googleError(503, "UNAVAILABLE", "backendError")(response, request);
    const fault = faults.find(({ pattern }) => pattern.test(line));
    if (fault) {
      faults = faults.filter((one) => one !== fault);
      return fault.behaviour(response, request);
    }
    if (line === "POST /token") return issueToken(response, request);
    if (line.startsWith("GET /consent?")) return redirectWithCode(response, request);
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    if (!tokens.has(token)) return googleError(401, "UNAUTHENTICATED", "authError")(response, request);
    const url = new URL(request.path, "http://localhost");
    const path = decodeURIComponent(url.pathname);
    const gmail = /^\/gmail\/v1\/users\/me\/(\w+)(?:\/([^/]+))?$/.exec(path);
    if (gmail) return answerGmail(gmail[1]!, gmail[2], url.searchParams, response, request);
    const resource = /^\/v1\/(projects\/[^/]+\/(topics|subscriptions)\/[^/:]+)(?::(\w+))?$/.exec(path);
    if (!resource) return notFound(response, request);
    const [, name = "", kind, verb] = resource;
    return (kind === "topics" ? answerTopic : answerSubscription)(name, verb ?? request.method, response, request);
  };

  const issueToken: Behaviour = (response, request) => {
    const { deadAuthorization: error } = google;
    if (error) return answers(400, { error, error_description: "secret words" })(response, request);
    const isExchange = request.body.grant_type === "authorization_code";
    const consented = isExchange && exchange(request.body);
    if (isExchange && !consented) return answers(400, { error: "invalid_grant" })(response, request);
    const token = `token-${++issued}`;
    tokens.add(token);
    answers(200, { access_token: token, expires_in: 3599, token_type: "Bearer", ...consented })(response, request);
  };

  const redirectWithCode: Behaviour = (response, request) => {
    const query = Object.fromEntries(new URL(request.path, "http://localhost").searchParams);
    const code = `code-${codes.size + 1}`;
    codes.set(code, query);
    const { error } = google.consent;
    const back = new URLSearchParams({
      state: query.state ?? "",
      ...(error ? { error } : { code, scope: query.scope ?? "" }),
    });
    response.writeHead(302, { Location: `${query.redirect_uri}?${back}` }).end();
  };

  /** A code is valid once, for the client, redirect and verifier of its request. */
  function exchange({ code, code_verifier = "", client_id, redirect_uri }: Record<string, string>): object | null {
    const requested = codes.get(code ?? "");
    codes.set(code ?? "", {});
    const challenge = createHash("sha256").update(code_verifier).digest("base64url");
    if (requested?.code_challenge_method !== "S256" || requested.code_challenge !== challenge) return null;
    if (requested.client_id !== client_id || requested.redirect_uri !== redirect_uri) return null;
    const { scope = requested.scope, withoutRefreshToken } = google.consent;
    const isOffline = requested.access_type === "offline" && !withoutRefreshToken;
    return { scope, ...(isOffline && { refresh_token: `refresh-of-${code}` }) };
  }

  function answerGmail(
    kind: string,
    id: string | undefined,
    query: URLSearchParams,
    response: ServerResponse,
    request: ChannelRequest,
  ): unknown {
    const { mailbox } = google;
    const ok = (body: unknown) => answers(200, body)(response, request);
    const historyId = String(mailbox.historyId);
    const page = <T>(all: readonly T[]) => {
      const from = Number(query.get("pageToken") ?? 0);
      const to = from + Math.min(mailbox.pageSize, Number(query.get("maxResults") ?? 100));
      return { items: all.slice(from, to), ...(to < all.length && { nextPageToken: String(to) }) };
    };
    if (kind === "profile") return ok({ emailAddress: mailbox.emailAddress, messagesTotal: mails.size, historyId });
    if (kind === "watch") {
      google.watch = { ...request.body, expiration: Date.now() + WEEK_MS };
      return ok({ historyId, expiration: String(google.watch!.expiration) });
    }
    if (kind === "stop") {
      google.watch = null;
      return response.writeHead(204).end();
    }
    if (kind === "history") {
      const start = Number(query.get("startHistoryId"));
      if (start < mailbox.oldestHistoryId) return notFound(response, request);
      const labelId = query.get("labelId");
      const after = records.filter(({ id, labelIds }) => id > start && (!labelId || labelIds.includes(labelId)));
      const { items, ...more } = page(after);
      const history = items.map(({ id: recordId, messageId, labelIds }) => ({
        id: String(recordId),
        messages: [{ id: messageId, threadId: messageId }],
        messagesAdded: [{ message: { id: messageId, threadId: messageId, labelIds } }],
      }));
      return ok({ ...(history.length > 0 && { history }), historyId, ...more });
    }
    if (id) {
      const mail = mails.get(id);
      if (!mail) return notFound(response, request);
      const { parts: _, body: __, ...head } = (mail.payload ?? {}) as { parts?: unknown; body?: unknown };
      return ok(query.get("format") === "metadata" ? { ...mail, payload: head } : mail);
    }
    const labels = query.getAll("labelIds");
    const bound = (word: string) =>
      Number(new RegExp(`\\b${word}:(\\d+)`).exec(query.get("q") ?? "")?.[1] ?? Number.NaN);
    const seconds = ({ internalDate }: Record<string, unknown>) => Number(internalDate) / 1_000;
    const listed = [...mails.values()]
      .reverse()
      .filter((mail) => labels.every((l) => (mail.labelIds as string[]).includes(l)))
      .filter((mail) => !(seconds(mail) < bound("after")) && !(seconds(mail) >= bound("before")))
      .sort((a, b) => seconds(b) - seconds(a));
    const { items, ...more } = page(listed.map((mail) => ({ id: mail.id, threadId: mail.threadId })));
    return ok({ ...(items.length > 0 && { messages: items }), ...more, resultSizeEstimate: listed.length });
  }

  function answerTopic(name: string, verb: string, response: ServerResponse, request: ChannelRequest): unknown {
    const { topics, policies } = google.pubsub;
    const ok = (body: unknown) => answers(200, body)(response, request);
    if (verb === "PUT" && topics.has(name)) return exists(response, request);
    if (verb === "PUT") topics.add(name);
    if (!topics.has(name)) return notFound(response, request);
    const policy = policies.get(name) ?? { etag: "ACAB" };
    if (verb === "getIamPolicy") return ok(policy);
    if (verb !== "setIamPolicy") return ok({ name });
    const written = request.body.policy;
    if (written.etag !== policy.etag) return googleError(409, "ABORTED", "aborted")(response, request);
    policies.set(name, { ...written, etag: `${policy.etag}+` });
    return ok(policies.get(name));
  }

  function answerSubscription(name: string, verb: string, response: ServerResponse, request: ChannelRequest): unknown {
    const { subscriptions } = google.pubsub;
    const ok = (body: unknown) => answers(200, body)(response, request);
    if (verb === "PUT" && subscriptions.has(name)) return exists(response, request);
    if (verb === "PUT" && !google.pubsub.topics.has(request.body.topic)) return notFound(response, request);
    if (verb === "PUT") subscriptions.set(name, request.body);
    const subscription = subscriptions.get(name);
    if (!subscription) return notFound(response, request);
    if (verb === "PATCH") Object.assign(subscription, request.body.subscription);
    if (verb === "acknowledge") {
      const left = (queues.get(name) ?? []).filter(({ ackId }) => !request.body.ackIds.includes(ackId));
      queues.set(name, left);
      return ok({});
    }
    if (verb !== "pull") return ok({ name, ...subscription });
    waiting.push({ name, max: request.body.maxMessages, response });
    serve();
  }

  /** Answers the pulls for which there is a notice; the others keep waiting. */
  function serve(): void {
    for (const pull of waiting.splice(0)) {
      if (pull.response.destroyed) continue;
      const ready = (queues.get(pull.name) ?? []).filter(({ isOut }) => !isOut).slice(0, pull.max);
      for (const notice of ready) Object.assign(notice, { isOut: true, ackId: `ack-${++acks}` });
      const receivedMessages = ready.map(({ ackId, data }) => ({
        ackId,
        message: { data, messageId: ackId, publishTime: new Date().toISOString() },
      }));
      if (ready.length === 0) waiting.push(pull);
      else answers(200, { receivedMessages })(pull.response, {} as ChannelRequest);
    }
  }

  const server = await startChannelServer(usual);
  const google: GoogleServer = {
    ...server,
    addresses: { gmail: server.url, pubsub: server.url, token: `${server.url}/token` },
    tokenUrl: `${server.url}/token`,
    consentUrl: `${server.url}/consent`,
    consent: {},
    deadAuthorization: undefined,
    isDown: () => false,
    isFrozen: false,
    watch: null,
    fail(pattern, ...behaviours) {
      faults.push(...behaviours.map((behaviour) => ({ pattern, behaviour })));
    },
    requestsTo: (pattern) => server.requests.filter(({ method, path }) => pattern.test(`${method} ${path}`)),
    hold(wanted) {
      hold = wanted;
      counted = 0;
    },
    endTokens() {
      tokens = new Set();
    },
    mailbox: {
      emailAddress: "ada@example.org",
      historyId: 1_000,
      oldestHistoryId: 0,
      pageSize: 500,
      add({ labelIds = ["INBOX", "UNREAD"], internalDate = Date.now(), ...rest } = {}) {
        const id = `mail-${records.length + 1}`;
        const historyId = ++google.mailbox.historyId;
        records.push({ id: historyId, messageId: id, labelIds });
        const text = { id, threadId: id, labelIds, internalDate: String(internalDate), historyId: String(historyId) };
        mails.set(id, {
          ...text,
          snippet: "",
          payload: { mimeType: "text/plain", headers: [], body: { size: 0 } },
          ...rest,
        });
        return id;
      },
      touch(id) {
        Object.assign(mails.get(id) ?? {}, { historyId: String(++google.mailbox.historyId) });
      },
      forgetHistory() {
        google.mailbox.oldestHistoryId = google.mailbox.historyId;
      },
      remove(id) {
        mails.delete(id);
        google.mailbox.historyId++;
      },
    },
    pubsub: {
      topics: new Set(),
      policies: new Map(),
      subscriptions: new Map(),
      publish(notice) {
        const { emailAddress, historyId } = google.mailbox;
        const data = Buffer.from(JSON.stringify(notice ?? { emailAddress, historyId })).toString("base64");
        for (const name of google.pubsub.subscriptions.keys()) {
          queues.set(name, [...(queues.get(name) ?? []), { ackId: "", data, isOut: false }]);
        }
        serve();
      },
      redeliver() {
        for (const notice of [...queues.values()].flat()) notice.isOut = false;
        serve();
      },
      pulling: () => waiting.filter(({ response }) => !response.destroyed).length,
      outstanding: (subscription) => queues.get(subscription)?.length ?? 0,
    },
  };
  return google;
}
