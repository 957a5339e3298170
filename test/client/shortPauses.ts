import { setFirstPause } from "../../src/client/backoff.ts";

/** Gives clients in this process pauses of a tenth after tries in vain, for the tests of the calling suite. */
export function useShortPauses(): void {
  let usual: number;
  before(() => {
    usual = setFirstPause(20);
  });
  after(() => {
    setFirstPause(usual);
  });
}
