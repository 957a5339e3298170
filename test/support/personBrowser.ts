import type { TestApp } from "./app.ts";

/** The address under which the tests of log-ins reach a service, as if through a proxy that terminates TLS. */
export const PUBLIC_URL = "https://jobs.example.com/signalbox";

export interface Visit {
  readonly status: number;
  readonly text: string;
  readonly location: string;
  readonly setCookies: readonly string[];
}

/** A browser without scripts: it keeps cookies by path, and follows redirects only when the test says so. */
export class PersonBrowser {
  readonly cookies = new Map<string, { readonly value: string; readonly path: string }>();
  readonly #app: Pick<TestApp, "url">;

  constructor(app: Pick<TestApp, "url">) {
    this.#app = app;
  }

  /** Opens an address of the service. */
  async visit(url: string, headers: Record<string, string> = {}, method = "GET"): Promise<Visit> {
    const { pathname, search } = new URL(url, PUBLIC_URL);
    const address = new URL(this.#app.url).origin + pathname + search;
    const response = await fetch(address, {
      method,
      redirect: "manual",
      headers: { Cookie: this.#cookiesFor(pathname), ...headers },
    });
    const setCookies = response.headers.getSetCookie();
    for (const line of setCookies) this.#store(line);
    return {
      status: response.status,
      text: await response.text(),
      location: response.headers.get("Location") ?? "",
      setCookies,
    };
  }

  /** Begins a log-in. @returns the address of the callback with which the provider answers */
  async begin(to = "/signalbox/"): Promise<string> {
    const { location } = await this.visit(`${PUBLIC_URL}/login/oidc?to=${encodeURIComponent(to)}`);
    const response = await fetch(location, { redirect: "manual" });
    return response.headers.get("Location") ?? "";
  }

  /** Logs in. @returns the answer to the callback */
  logIn = async (to?: string): Promise<Visit> => this.visit(await this.begin(to));

  /** Returns the header with the cookies for the API. */
  get headers(): Record<string, string> {
    return { Cookie: this.#cookiesFor("/signalbox/api") };
  }

  #cookiesFor(pathname: string): string {
    const matching = [...this.cookies].filter(([, { path }]) => pathname.startsWith(path));
    return matching.map(([name, { value }]) => `${name}=${value}`).join("; ");
  }

  #store(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const [, path = "/"] = /; Path=([^;]*)/.exec(line) ?? [];
    if (/; Max-Age=0/.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, { value, path });
  }
}
