import { setInitialBackoff } from "../../src/client/backoff.ts";

/** Gives clients in this process pauses of a tenth after tries in vain, for the tests of the calling suite. */
export function useShortBackoff(): void {
  let usual: number;
  before(() => {
    usual = setInitialBackoff(20);
  });
  after(() => {
    setInitialBackoff(usual);
  });
}
