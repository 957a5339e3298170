import { useEffect, useRef, useState } from "preact/hooks";
import { copyText } from "../../copy.ts";
import { access } from "../../data/access.ts";
import { share } from "../../data/service.ts";
import { showError, showToast } from "../frame/toasts.tsx";
import { Icon } from "../icon.tsx";

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
    <button
      type="button"
      onClick={copyAddress}
      title={needsLogin ? "The link needs a log-in" : "The link needs no log-in"}
    >
      <Icon name="copy" /> Copy link
    </button>
  );
}

/** The dialog that creates a link to a job which needs no log-in. */
export function ShareDialog({ jobId, onClose }: { jobId: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [days, setDays] = useState<number>(TIMES["a week"]);
  const [hasOutput, setOutput] = useState(false);
  const [hasLog, setLog] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const create = async () => {
    const link = await share.create(jobId, {
      ttlSeconds: days * DAY_SECONDS,
      include: [...(hasOutput ? ["output" as const] : []), ...(hasLog ? ["log" as const] : [])],
    });
    await copyText(link.url, "Link, which needs no log-in,");
    dialog.current?.close();
  };
  const revoke = async () => {
    await share.revoke(jobId);
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
        <label class="dialog-check">
          <input
            type="checkbox"
            checked={hasOutput}
            onChange={({ currentTarget: { checked } }) => setOutput(checked)}
          />{" "}
          Show the output too
        </label>
        <label class="dialog-check">
          <input type="checkbox" checked={hasLog} onChange={({ currentTarget: { checked } }) => setLog(checked)} /> Show
          the log too
        </label>
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
