import type { Link } from "../../../client/client.ts";
import { address } from "../../router.ts";
import { shownText } from "../../text.ts";

/** The links of a job or a step. */
export function Links({ links }: { readonly links: readonly Link[] | undefined }) {
  if (!links || links.length === 0) return null;
  return (
    <ul class="chips line" aria-label="Links">
      {links.map(({ title, url }) => (
        <li key={url + title}>
          <a class="chip cut" href={url} target="_blank" rel="noopener noreferrer nofollow" title={url}>
            <bdi>{shownText(title)}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** A link to a job. */
export const JobLink = ({ jobId, name = jobId }: { jobId: string; name?: string }) => (
  <a href={address("/jobs/:jobId", jobId)}>
    <bdi>{shownText(name)}</bdi>
  </a>
);
