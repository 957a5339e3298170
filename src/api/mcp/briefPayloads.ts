import { lengthOf, type PayloadRef, Payloads } from "../../models/jobs/payloads/payloads.ts";
import { MAX_RESULT_BYTES, omitted } from "./brief.ts";

/**
 * Reads the payloads that a tool's result has room for, the smallest first. The others are not read: a job can have hundreds of
 * megabytes. Their placeholder says how large they are.
 */
export class BriefPayloads extends Payloads {
  override async read(
    refs: readonly { readonly jobId: string; readonly ref: PayloadRef }[],
  ): Promise<ReadonlyMap<string, string>> {
    let room = MAX_RESULT_BYTES;
    const bySize = refs.toSorted((one, other) => lengthOf(one.ref) - lengthOf(other.ref));
    const { small = [], large = [] } = Object.groupBy(bySize, ({ ref }) => {
      room -= lengthOf(ref);
      return room >= 0 ? "small" : "large";
    });
    const placeholders = large.map(
      ({ ref }) => [ref.payload.toHexString(), JSON.stringify(omitted(lengthOf(ref)))] as const,
    );
    return new Map([...(await super.read(small)), ...placeholders]);
  }
}
