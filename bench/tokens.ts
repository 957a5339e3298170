import { makeCookie, verifyCookie } from "../src/api/auth/loginCookie.ts";
import { TokenTable } from "../src/api/auth/tokenTable.ts";

/** The time that one search for a token takes, in microseconds. */
export interface TokenFigure {
  readonly configured: number;
  readonly given: string;
  readonly us: number;
}

/** Maximum time of a search among 1,000 tokens in microseconds. */
export const MAX_TOKEN_US = 50;
const CALLS = 20_000;
const NOW = new Date();

/** Measures what each request pays for the search of its token: the first, the last, a wrong one, and one in a cookie. */
export function measureTokens(turns: number): TokenFigure[] {
  return [1, 1_000].flatMap((configured) => {
    const token = (i: number) => `the-token-with-the-number-${i}`;
    const scopes = ["jobs:read"];
    const entries = Array.from({ length: configured }, (_, i) => ({ name: `token-${i}`, token: token(i), scopes }));
    const table = new TokenTable({ tokens: entries });
    const cookie = makeCookie(token(0), table.find(token(0), NOW), NOW);
    const searches = {
      first: () => table.find(token(0), NOW),
      last: () => table.find(token(configured - 1), NOW),
      wrong: () => table.find(token(configured), NOW),
      cookie: () => verifyCookie(table, cookie),
    };
    return Object.entries(searches).map(([name, search]) => {
      const times = Array.from({ length: turns }, () => timeOf(search)).sort((a, b) => a - b);
      return { configured, given: name, us: times[turns >> 1] as number };
    });
  });
}

function timeOf(search: () => unknown): number {
  const started = performance.now();
  for (let i = 0; i < CALLS; i++) search();
  return ((performance.now() - started) * 1_000) / CALLS;
}
