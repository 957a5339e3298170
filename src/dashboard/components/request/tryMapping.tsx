import { useState } from "preact/hooks";
import type { DryRun } from "../../../wire/hookRequest.ts";
import { explain } from "../../data/errors.ts";
import { service } from "../../data/service.ts";
import { DryRunView } from "./dryRun.tsx";

interface TryProps {
  readonly hook: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A form that shows what the mappings make of a request. Nothing is stored or sent. */
export function TryMapping(initial: TryProps) {
  const [hook, setHook] = useState(initial.hook);
  const [mapping, setMapping] = useState("");
  const [headers, setHeaders] = useState(linesOf(initial.headers));
  const [body, setBody] = useState(initial.body);
  const [result, setResult] = useState<DryRun | null>(null);
  const [fault, setFault] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    setFault("");
    setResult(null);
    try {
      const chosen = mapping.trim() === "" ? {} : { mapping: mapping.trim() };
      setResult(await service.hookRequests.try({ hook, body, headers: headersOf(headers), ...chosen }));
    } catch (error) {
      setFault(explain(error).join(": "));
    }
  };
  return (
    <>
      <form class="try card stack" onSubmit={submit} aria-label="Try a mapping">
        <label class="field">
          Hook
          <input required value={hook} onInput={({ currentTarget }) => setHook(currentTarget.value)} />
        </label>
        <label class="field">
          Mapping, if it should not be selected by the request
          <input value={mapping} onInput={({ currentTarget }) => setMapping(currentTarget.value)} />
        </label>
        <label class="field">
          Headers, one on each line
          <textarea rows={3} value={headers} onInput={({ currentTarget }) => setHeaders(currentTarget.value)} />
        </label>
        <label class="field">
          Body
          <textarea required rows={10} value={body} onInput={({ currentTarget }) => setBody(currentTarget.value)} />
        </label>
        {fault && (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        <button type="submit" class="primary">
          Try
        </button>
      </form>
      {result && <DryRunView result={result} />}
    </>
  );
}

const linesOf = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

/** Returns the headers of lines such as `x-event: push`; lines without a colon are left out. */
function headersOf(lines: string): Record<string, string> {
  const pairs = lines.split("\n").flatMap((line) => {
    const at = line.indexOf(":");
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
  });
  return Object.fromEntries(pairs);
}
