import { invalidValue } from "../../../shared/errors.ts";
import type { Link } from "../../../wire/link.ts";

/** Checks that browsers accept the addresses of links, whose form the schema has checked. @throws AppError invalid_body */
export function checkLinks(links: readonly Link[] | null | undefined): void {
  for (const [i, { url }] of (links ?? []).entries()) {
    if (!URL.canParse(url)) throw invalidValue(`links/${i}/url`, "must be a valid address");
  }
}
