import { useReloadEvery } from "../../data/live/useLive.ts";
import { service } from "../../data/service.ts";
import { useQuery } from "../../data/useQuery.ts";
import { withQuery } from "../../router.ts";
import { visible } from "../../text.ts";
import { When } from "../values/when.tsx";

const MAX_SHOWN = 5;
/** Maximum words of a message that its link searches for. */
const MAX_WORDS = 6;

/** The errors of the jobs that failed in the last day, one row for each cause: a link finds its jobs. */
export function JobErrors({ query }: { query: URLSearchParams }) {
  const { value, reload } = useQuery((signal) => service.jobErrors({ signal }));
  useReloadEvery(reload);
  if (!value || value.errors.length < 2) return null;
  const { errors } = value;
  const most = errors.toSorted((a, b) => b.count - a.count).slice(0, MAX_SHOWN);
  return (
    <section class="card" aria-label="Errors of the last day">
      <h2>
        {errors.length} errors in the last day{errors.length > MAX_SHOWN && `, the ${MAX_SHOWN} most frequent:`}
      </h2>
      <ul>
        {most.map(({ message, count, newest }) => (
          <li key={message} class="line">
            <b>{count}</b>
            <a class="grow cut" href={withQuery(query, { search: wordsOf(message) })} title={visible(message)}>
              <bdi>{visible(message) || "no message"}</bdi>
            </a>
            <When time={newest.at} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns words that the messages of a group share, without those that contain a sign for a number or an id; null without any. */
function wordsOf(message: string): string | null {
  const words = (message.match(/\p{L}{2,}/gu) ?? []).map((word) => word.replace(/(?<=\p{Ll})N$/u, ""));
  return (
    words
      .filter((word) => !/^(N|ID)|\p{Ll}N/u.test(word))
      .slice(0, MAX_WORDS)
      .join(" ") || null
  );
}
