import { useId, useState } from "preact/hooks";
import { type Gate, type GateAction, SignalboxError } from "../../../client/client.ts";
import { contentOf, type Field, fieldsOf } from "../../data/gate/gateForm.ts";
import { service } from "../../data/service.ts";
import { showError, showToast } from "../frame/toasts.tsx";

interface GateFormProps {
  readonly gate: Gate;
  /** Receives the gate once it is answered, by this form or by somebody else. */
  readonly onAnswered: () => void;
}

const DONE = { accept: "Accepted", decline: "Declined", cancel: "Cancelled" } as const;

/** The form with which a person answers a gate, built from its schema. */
export function GateForm({ gate, onAnswered }: GateFormProps) {
  const fields = fieldsOf(gate);
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [isPending, setPending] = useState(false);
  const answer = async (action: GateAction, form: HTMLFormElement) => {
    setPending(true);
    setFaults(new Map());
    const data = new FormData(form);
    const name = String(data.get("answeredBy") ?? "").trim();
    const content = action === "accept" && gate.requestedSchema ? { content: contentOf(fields, data) } : {};
    try {
      await service.gates.answer(gate.jobId, gate.key, {
        action,
        ...content,
        revision: gate.revision,
        ...(name && { answeredBy: name }),
      });
      showToast(`${DONE[action]}: ${gate.title}`);
      onAnswered();
    } catch (error) {
      const found = faultsOf(error);
      if (found.size > 0) setFaults(found);
      else {
        showError(error);
        onAnswered(); // somebody else may have answered
      }
    }
    setPending(false);
  };
  return (
    <form
      class="gate-form"
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
      {fields.map((field) => (
        <FormField key={field.name} field={field} fault={faults.get(field.name)} />
      ))}
      <label class="gate-field">
        <span>
          Your name <span class="muted">(optional)</span>
        </span>
        <input name="answeredBy" maxLength={200} autocomplete="name" />
      </label>
      <div class="acts">
        <button type="submit" value="accept" class="primary" disabled={isPending}>
          Accept
        </button>
        <button type="submit" value="decline" formNoValidate disabled={isPending}>
          Decline
        </button>
        <button type="submit" value="cancel" formNoValidate disabled={isPending}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** Returns the fault of each field that the service has rejected. */
function faultsOf(error: unknown): ReadonlyMap<string, string> {
  if (!(error instanceof SignalboxError)) return new Map();
  return new Map(
    error.errors.flatMap(({ pointer = "", detail }): [string, string][] => {
      const [, place, name = ""] = pointer.split("/");
      return place === "content" ? [[name.replaceAll("~1", "/").replaceAll("~0", "~"), detail]] : [];
    }),
  );
}

function FormField({ field, fault }: { field: Field; fault: string | undefined }) {
  const id = useId();
  const { title, hint, kind, isRequired, options, initial } = field;
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ") || undefined;
  const notes = (
    <>
      {hint && (
        <small id={`${id}-hint`} class="muted">
          {hint}
        </small>
      )}
      {fault && (
        <small id={`${id}-fault`} class="fault">
          {title} {fault}.
        </small>
      )}
    </>
  );
  const name = (
    <>
      {title}
      {!isRequired && kind !== "yesNo" && <span class="muted"> (optional)</span>}
    </>
  );
  if (kind === "many") {
    return (
      <fieldset class="gate-field" aria-describedby={described}>
        <legend>{name}</legend>
        {options.map((option) => (
          <label key={option.value} class="gate-choice">
            <input
              type="checkbox"
              name={field.inputName}
              value={option.value}
              defaultChecked={initial.includes(option.value)}
            />
            {option.title}
          </label>
        ))}
        {notes}
      </fieldset>
    );
  }
  return (
    <div class={kind === "yesNo" ? "gate-field gate-yes" : "gate-field"}>
      <label for={id}>{name}</label>
      <Input id={id} field={field} described={described} isFaulty={fault !== undefined} />
      {notes}
    </div>
  );
}

interface InputProps {
  readonly id: string;
  readonly field: Field;
  readonly described: string | undefined;
  readonly isFaulty: boolean;
}

function Input({ id, field, described, isFaulty }: InputProps) {
  const { inputName, kind, isRequired, limits, initial, options } = field;
  const [value] = initial;
  const common = { id, name: inputName, "aria-describedby": described, "aria-invalid": isFaulty };
  switch (kind) {
    case "yesNo":
      return <input type="checkbox" {...common} value="true" defaultChecked={value === "true"} />;
    case "long":
      return <textarea rows={5} {...common} {...limits} required={isRequired} defaultValue={value} />;
    case "one":
      return (
        <select {...common} required={isRequired}>
          <option value="">Choose…</option>
          {options.map((option) => (
            <option key={option.value} value={option.value} selected={option.value === value}>
              {option.title}
            </option>
          ))}
        </select>
      );
    case "many":
      return null; // several inputs: see FormField
    default:
      return <input type={kind as "text"} {...common} {...limits} required={isRequired} defaultValue={value} />;
  }
}
