import type { FreeObject } from "../../../client/client.ts";
import { withSearch } from "../../data/job/jobSearch.ts";
import { metadataPairs } from "../../data/job/metadata.ts";
import { address } from "../../router.ts";
import { visible } from "../../text.ts";

interface MetadataChipsProps {
  readonly metadata: FreeObject | null | undefined;
  /** Maximum number of chips. */
  readonly max: number;
  /** The search of the list that the links narrow. */
  readonly query: URLSearchParams;
}

/** The first values of a job's metadata, each a link to the jobs that have it too. */
export function MetadataChips({ metadata, max, query }: MetadataChipsProps) {
  const pairs = metadataPairs(metadata);
  const words = query.get("search") ?? "";
  return (
    <>
      {pairs.slice(0, max).map(([key, value]) => {
        const search = withSearch(query, { words, terms: [[`metadata.${key}`, value]] });
        const text = visible(`${key} = ${value}`);
        return (
          <a key={text} class="chip" href={`${address("/")}?${search}`} title={`Show jobs with ${text}`}>
            <bdi>{text}</bdi>
          </a>
        );
      })}
      {pairs.length > max && (
        <span class="muted" title={visible(pairs.map(([key, value]) => `${key} = ${value}`).join("\n"))}>
          +{pairs.length - max}
        </span>
      )}
    </>
  );
}
