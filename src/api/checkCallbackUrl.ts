import { invalidField } from "../shared/errors.ts";
import { readCallbackUrl } from "../shared/outbound/callbackUrl.ts";

/**
 * Checks that the operator allows the host of a `callbackUrl`. The address to which its name resolves is checked when the
 * callback is sent.
 * @param allowedHosts `outbound.allowedHosts`; undefined without `outbound`
 * @throws AppError invalid_body
 */
export function checkCallbackUrl(url: string | null | undefined, allowedHosts: readonly string[] | undefined): void {
  if (url === undefined || url === null) return;
  const read = readCallbackUrl(url, allowedHosts);
  if ("fault" in read) throw invalidField("callbackUrl", read.fault);
}
