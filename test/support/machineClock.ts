import sinon from "sinon";

/** Shifts `Date.now()` of this process while a function runs. */
export async function withMachineClock<T>(aheadMs: number, act: () => T | Promise<T>): Promise<T> {
  const now = Date.now;
  const stub = sinon.stub(Date, "now").callsFake(() => now() + aheadMs);
  try {
    return await act();
  } finally {
    stub.restore();
  }
}
