import sinon from "sinon";

/** Sets the machine's clock, as far as this process asks it with `Date.now()`, while something is done. */
export async function withMachineClock<T>(aheadMs: number, act: () => T | Promise<T>): Promise<T> {
  const now = Date.now;
  const stub = sinon.stub(Date, "now").callsFake(() => now() + aheadMs);
  try {
    return await act();
  } finally {
    stub.restore();
  }
}
