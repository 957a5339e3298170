import { useEffect, useRef, useState } from "preact/hooks";
import { copyText } from "../../copy.ts";
import { access } from "../../data/access.ts";
import { service } from "../../data/service.ts";
import { ActButton } from "../buttons.tsx";
import { showError, showToast } from "../frame/toasts.tsx";

/** The parts of a job that a link shows only on request. */
const PARTS = ["output", "log"] as const;
const DAY_SECONDS = 86_400;
const TIMES = { "a day": 1, "a week": 7, "a month": 30, "a year": 365 } as const;

/** The button that copies the address of a job's page. */
export function CopyLink() {
  const needsLogin = access.value?.needsToken === true;
  const copyAddress = () => {
    const what = needsLogin ? "Link, which needs a log-in," : "Link, which needs no log-in,";
    return copyText(location.origin + location.pathname, what);
  };
  return (
    <ActButton
      icon="copy"
      label="Copy link"
      title={needsLogin ? "The link needs a log-in" : "The link needs no log-in"}
      act={copyAddress}
    />
  );
}

/** The dialog that creates a link to a job which needs no log-in. */
export function ShareDialog({ jobId, onClose }: { jobId: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [days, setDays] = useState<number>(TIMES["a week"]);
  const [included, setIncluded] = useState({ output: false, log: false });
  useEffect(() => dialog.current?.showModal(), []);
  const create = async () => {
    const link = await service.share(jobId, {
      ttlSeconds: days * DAY_SECONDS,
      include: PARTS.filter((part) => included[part]),
    });
    await copyText(link.url, "Link, which needs no log-in,");
    dialog.current?.close();
  };
  const revoke = async () => {
    await service.revokeShares(jobId);
    showToast("All links without a log-in have ended");
    dialog.current?.close();
  };
  return (
    <dialog ref={dialog} aria-labelledby="share-title" aria-describedby="share-text" onClose={onClose}>
      <h2 id="share-title" class="large">
        Share without a log-in
      </h2>
      <p id="share-text">
        Whoever has the link sees the title, the state, the message, the names of the steps and the times. Input and
        metadata stay private.
      </p>
      <form method="dialog" class="line">
        <label class="field whole">
          Valid for
          <select value={days} onChange={({ currentTarget: { value } }) => setDays(Number(value))}>
            {Object.entries(TIMES).map(([text, value]) => (
              <option key={text} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {PARTS.map((part) => (
          <label key={part}>
            <input
              type="checkbox"
              checked={included[part]}
              onChange={({ currentTarget: { checked } }) => setIncluded({ ...included, [part]: checked })}
            />{" "}
            Show the {part} too
          </label>
        ))}
        <button type="button" class="danger" onClick={() => revoke().catch(showError)}>
          End all links
        </button>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
        <button type="button" class="primary" onClick={() => create().catch(showError)}>
          Create and copy link
        </button>
      </form>
    </dialog>
  );
}
