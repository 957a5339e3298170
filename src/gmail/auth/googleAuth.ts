import { gaxios, JWT, OAuth2Client } from "google-auth-library";
import {
  fromNetworkError,
  fromResponse,
  fromTokenResponse,
  GoogleError,
  type GoogleResponse,
} from "../api/googleError.ts";

/** As Google's own tools write them: a user's consent, or the key of a service account. */
export type GoogleCredentials =
  | {
      readonly type: "authorized_user";
      readonly client_id: string;
      readonly client_secret: string;
      readonly refresh_token: string;
    }
  | { readonly type: "service_account"; readonly client_email: string; readonly private_key: string };

export interface GoogleAuthOptions {
  readonly credentials: GoogleCredentials;
  /** What a service account asks for; a user's consent has its scopes already. */
  readonly scopes: readonly string[];
  /** For whom a service account acts, by domain-wide delegation; without it, for itself. */
  readonly subject?: string | undefined;
  /** Where tokens come from, when not from Google. */
  readonly tokenUrl?: string | undefined;
  /** For one request of a token; half a minute unless told. */
  readonly timeoutMs?: number;
}

export interface GoogleAuth {
  /** Puts the current token on the requests of @googleapis/gmail; only within `call` is it a fresh one. */
  readonly client: OAuth2Client;
  /**
   * Lets `request` ask with a token, and once more with a new one where that answers 401.
   * @throws GoogleError; the signal's reason when it is aborted
   */
  call<T>(service: string, request: (token: string) => Promise<T>, signal: AbortSignal): Promise<T>;
}

export const GMAIL_SCOPE = "https://www.googleapis.com/auth/gmail.readonly";
export const PUBSUB_SCOPE = "https://www.googleapis.com/auth/pubsub";

const TOKEN_URL = "https://oauth2.googleapis.com/token";
const LOGIN = "Google's login";

/** Asks nothing yet. @param options.credentials as `readCredentials` has found them to be usable */
export function createGoogleAuth(options: GoogleAuthOptions): GoogleAuth {
  const client = createClient(options);
  const { refresh_token: refreshToken } = client.credentials;

  async function token(signal: AbortSignal): Promise<string> {
    try {
      const { token: value } = await unlessAborted(client.getAccessToken(), signal);
      if (typeof value === "string" && value) return value;
    } catch (thrown) {
      signal.throwIfAborted();
      throw toLoginError(thrown);
    }
    throw missingTokenError();
  }

  /** The client takes it for one that has ended. */
  function discard(value: string): void {
    if (client.credentials.access_token !== value) return;
    client.credentials = { refresh_token: refreshToken ?? null, expiry_date: 1 };
  }

  return {
    client,
    async call(service, request, signal) {
      signal.throwIfAborted();
      const first = await token(signal);
      try {
        return await request(first);
      } catch (thrown) {
        signal.throwIfAborted();
        const error = toGoogleError(service, thrown);
        if (error.status !== 401) throw error;
        discard(first);
      }
      const second = await token(signal);
      try {
        return await request(second);
      } catch (thrown) {
        signal.throwIfAborted();
        throw toGoogleError(service, thrown);
      }
    },
  };
}

function createClient({ credentials, scopes, subject, tokenUrl, timeoutMs = 30_000 }: GoogleAuthOptions): OAuth2Client {
  const shared = {
    transporter: createTransporter(tokenUrl, timeoutMs),
    // These would log tokens where the environment asks for the library's logs.
    useAuthRequestParameters: false,
  };
  if (credentials.type === "authorized_user") {
    const client = new OAuth2Client({
      ...shared,
      clientId: credentials.client_id,
      clientSecret: credentials.client_secret,
    });
    client.setCredentials({ refresh_token: credentials.refresh_token });
    return client;
  }
  const { client_email: email, private_key: key } = credentials;
  return new JWT({ ...shared, email, key, scopes: [...scopes], ...(subject !== undefined && { subject }) });
}

/** Asks once, through Node's own fetch, and nowhere but where it was told to. */
export function createTransporter(tokenUrl = TOKEN_URL, timeout = 30_000): gaxios.Gaxios {
  const transporter = new gaxios.Gaxios({ fetchImplementation: fetch, redirect: "manual", timeout });
  transporter.interceptors.request.add({
    async resolved(request) {
      request.retry = false;
      delete request.retryConfig;
      // A service account's client knows no other address than this.
      if (request.url.href === TOKEN_URL) request.url = new URL(tokenUrl);
      return request;
    },
  });
  return transporter;
}

interface GaxiosResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly data: unknown;
}

/** What was thrown by a client that asked for a token. */
export function toLoginError(thrown: unknown): GoogleError {
  const { response, config } = thrown as { response?: GaxiosResponse; config?: unknown };
  if (response) return fromTokenResponse(LOGIN, toGoogleResponse(response));
  return config ? fromNetworkError(LOGIN, thrown) : missingTokenError();
}

function toGoogleError(service: string, thrown: unknown): GoogleError {
  if (thrown instanceof GoogleError) return thrown;
  const { response } = thrown as { response?: GaxiosResponse };
  return response ? fromResponse(service, toGoogleResponse(response)) : fromNetworkError(service, thrown);
}

const toGoogleResponse = ({ status, headers, data }: GaxiosResponse): GoogleResponse => ({
  status,
  headers,
  body: data,
});

const missingTokenError = () => new GoogleError("transient", `${LOGIN} answered without a token.`);

function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop);
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
