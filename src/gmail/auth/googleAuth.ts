import { gaxios, JWT, OAuth2Client } from "google-auth-library";
import {
  fromNetworkError,
  fromResponse,
  fromTokenResponse,
  GoogleError,
  type GoogleResponse,
} from "../api/googleError.ts";

/** Credentials in the format of Google's own tools: a user's consent, or the key of a service account. */
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
  /** Scopes that a service account requests; those of a user's consent are fixed. */
  readonly scopes: readonly string[];
  /** The user that a service account impersonates by domain-wide delegation (default: none). */
  readonly subject?: string | undefined;
  /** Replaces Google's token endpoint. */
  readonly tokenUrl?: string | undefined;
  /** Time limit for one request for a token (default 30 s). */
  readonly timeoutMs?: number;
}

export interface GoogleAuth {
  /** Adds the token to requests of @googleapis/gmail; use it only inside `call`, which keeps the token valid. */
  readonly client: OAuth2Client;
  /**
   * Calls `request` with a token, and once more with a new token if the response is 401.
   * @throws GoogleError; the reason of an aborted signal
   */
  call<T>(service: string, request: (token: string) => Promise<T>, signal: AbortSignal): Promise<T>;
}

export const GMAIL_SCOPE = "https://www.googleapis.com/auth/gmail.readonly";
export const PUBSUB_SCOPE = "https://www.googleapis.com/auth/pubsub";

const TOKEN_URL = "https://oauth2.googleapis.com/token";
const LOGIN = "Google's login";

/** Creates the authentication without sending a request. @param options.credentials validated by `readCredentials` */
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

  /** Marks a token as expired, so that the client requests a new one. */
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
    // Otherwise the library would log tokens if the environment enables its logs.
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

/** Creates a transporter that uses Node's fetch, without retries or redirects, and sends token requests to `tokenUrl`. */
export function createTransporter(tokenUrl = TOKEN_URL, timeout = 30_000): gaxios.Gaxios {
  const transporter = new gaxios.Gaxios({ fetchImplementation: fetch, redirect: "manual", timeout });
  transporter.interceptors.request.add({
    async resolved(request) {
      request.retry = false;
      delete request.retryConfig;
      // The client of a service account has no option for another token endpoint.
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

/** Converts an error thrown by a client's request for a token. */
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

function unlessAborted<T>(response: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop);
    response.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
