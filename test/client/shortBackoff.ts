import { setInitialBackoff } from "../../src/client/backoff.ts";

/** Divides the backoff of the clients in this process by ten, for the tests of the calling suite. */
export function useShortBackoff(): void {
  let usual: number;
  before(() => {
    usual = setInitialBackoff(20);
  });
  after(() => {
    setInitialBackoff(usual);
  });
}
