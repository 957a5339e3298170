import Type, { type Static } from "typebox";
import { MAX_PAGE_URL, PAGE_URL_PATTERN } from "../shared/text/pageUrl.ts";
import * as s from "./blocks.ts";

/** Maximum links of a job or a step. */
const MAX_LINKS = 20;

export const Link = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200, description: "A name for people." }),
    url: Type.String({
      maxLength: MAX_PAGE_URL,
      pattern: PAGE_URL_PATTERN,
      description: "An address that begins with `https://` or `http://`.",
    }),
  },
  s.named("Link"),
);
export type Link = Static<typeof Link>;

/** Links that a client gives; they replace those before. */
export const GivenLinks = Type.Optional(
  s.nullable(Type.Array(Link, { maxItems: MAX_LINKS }), {
    description: "Links to show beside it, such as to a log or a result: at most 20. They replace the former ones.",
  }),
);

export const Links = Type.Array(Link, { description: "Links to results, logs and the like." });
