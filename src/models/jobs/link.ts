import { invalidValue } from "../../shared/errors.ts";
import type { Link as LinkView } from "../../wire/link.ts";
import * as f from "../db/fields.ts";

/** The links of a job or a step; missing if it has none. */
export const Links = f.optional(f.listOf(f.object({ title: f.string, url: f.string })));

/** Returns the links as clients read them. */
export const viewLinks = (links: readonly LinkView[] | undefined): LinkView[] =>
  (links ?? []).map(({ title, url }) => ({ title, url }));

/** Returns the characters of links, for limits on memory. */
export const linksLength = (links: readonly LinkView[] = []): number =>
  links.reduce((sum, { title, url }) => sum + title.length + url.length, 0);

/** Checks that browsers accept the addresses of links, whose form the schema has checked. @throws AppError invalid_body */
export function checkLinks(links: readonly LinkView[] | null | undefined): void {
  for (const [i, { url }] of (links ?? []).entries()) {
    if (!URL.canParse(url)) throw invalidValue(`links/${i}/url`, "must be a valid address");
  }
}
