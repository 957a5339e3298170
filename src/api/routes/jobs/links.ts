import { AppError } from "../../../shared/errors.ts";
import type { Link } from "../../../wire/link.ts";

/** Checks that browsers accept the addresses of links, whose form the schema has checked. @throws AppError invalid_body */
export function checkLinks(links: readonly Link[] | null | undefined): void {
  for (const [i, { url }] of (links ?? []).entries()) {
    if (URL.canParse(url)) continue;
    const detail = "must be a valid address";
    const errors = [{ pointer: `/links/${i}/url`, detail }];
    throw new AppError("invalid_body", { detail: `links/${i}/url ${detail}.`, errors });
  }
}
