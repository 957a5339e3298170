import { useId, useMemo, useRef, useState } from "preact/hooks";
import { type Gate, type GateAction, SignalboxError } from "../../../client/client.ts";
import { contentOf, formFields, nameAt, type Times } from "../../../shared/form/form.ts";
import type { FormSchema } from "../../../shared/form/formSchema.ts";
import { service } from "../../data/service.ts";
import { showError, showToast } from "../frame/toasts.tsx";

interface GateFormProps {
  readonly gate: Gate;
  /** Receives the gate once it is answered, by this form or by somebody else. */
  readonly onAnswered: () => void;
}

const DONE = { accept: "Accepted", decline: "Declined", cancel: "Dismissed" } as const;

/** Times in the time zone of the browser. */
const LOCAL: Times = {
  toInput: (time) => new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16),
  fromInput: (text) => new Date(text).toISOString(),
};

/** The form with which a person answers a gate, built from its schema. */
export function GateForm({ gate, onAnswered }: GateFormProps) {
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const schema = gate.requestedSchema as unknown as FormSchema | null;
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [isPending, setPending] = useState(false);
  const fields = useMemo(() => {
    // Entered values stay when faults are shown, or the question changes.
    const entered = form.current ? submittedBy(form.current) : undefined;
    const controls = schema ? formFields(schema, { times: LOCAL, id: `${id}-`, entered, faults }) : [];
    return controls.map(({ text }) => text).join("");
  }, [JSON.stringify(schema), faults]);
  const answer = async (action: GateAction, form: HTMLFormElement) => {
    setPending(true);
    const submitted = submittedBy(form);
    const name = submitted.get("answeredBy")?.trim();
    try {
      await service.gates.answer(gate.jobId, gate.key, {
        action,
        ...(action === "accept" && schema && { content: contentOf(schema, submitted, LOCAL) }),
        revision: gate.revision,
        ...(name && { answeredBy: name }),
      });
      showToast(`${DONE[action]}: ${gate.title}`);
      onAnswered();
    } catch (error) {
      const found = faultsOf(error);
      setFaults(found);
      if (found.size === 0) {
        showError(error);
        onAnswered(); // somebody else may have answered
      }
    }
    setPending(false);
  };
  return (
    <form
      ref={form}
      class="gate-form stack"
      onSubmit={(event) => {
        event.preventDefault();
        const pressed = (event as SubmitEvent).submitter as HTMLButtonElement | null;
        void answer((pressed?.value || "accept") as GateAction, event.currentTarget);
      }}
    >
      {faults.size > 0 && (
        <p class="fault" role="alert">
          The answer was not recorded. Correct the marked fields.
        </p>
      )}
      {fields && <div class="stack" dangerouslySetInnerHTML={{ __html: fields }} />}
      <label class="field">
        <span>
          Your name <span class="muted">(optional)</span>
        </span>
        <input name="answeredBy" maxLength={200} autocomplete="name" />
      </label>
      <div class="acts line">
        <button type="submit" value="accept" class="primary" disabled={isPending}>
          Accept
        </button>
        <button type="submit" value="decline" formNoValidate disabled={isPending}>
          Decline
        </button>
        <button type="submit" value="cancel" formNoValidate disabled={isPending}>
          Dismiss
        </button>
      </div>
    </form>
  );
}

const submittedBy = (form: HTMLFormElement): URLSearchParams =>
  new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));

/** Returns the fault of each field that the service has rejected. */
function faultsOf(error: unknown): ReadonlyMap<string, string> {
  if (!(error instanceof SignalboxError)) return new Map();
  const ofContent = error.errors.filter(({ pointer }) => pointer?.startsWith("/content/"));
  return new Map(ofContent.map(({ pointer = "", detail }) => [nameAt(pointer), detail]));
}
