import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { serviceUrl } from "../../data/commands.ts";
import { type NeededToken, setVariables, type Tutorial } from "../../data/onboarding/steps.ts";
import { Command, GuideLink, type GuidePage } from "../notice.tsx";

interface ChecklistProps {
  readonly title: string;
  /** A description of the page and of the steps. */
  readonly children: ComponentChildren;
  readonly tutorials: readonly Tutorial[];
  readonly token: NeededToken | null;
  readonly guide: GuidePage;
  /** Another way to a first record. */
  readonly end?: ComponentChildren;
}

/** Three steps to copy, in a choice of languages: the content of a list before its first record. */
export function Checklist({ title, children, tutorials, token, guide, end }: ChecklistProps) {
  const [chosen, setChosen] = useState(0);
  const { steps, needs } = tutorials[chosen] as Tutorial;
  return (
    <div class="card md">
      <h2 class="large">{title}</h2>
      {children}
      <div class="counts" role="group" aria-label="Language">
        {tutorials.map((tutorial, at) => (
          <button
            key={tutorial.title}
            type="button"
            class="count"
            aria-pressed={at === chosen}
            onClick={() => setChosen(at)}
          >
            {tutorial.title}
          </button>
        ))}
      </div>
      {needs && <p class="muted">{needs}</p>}
      <ol>
        {[setVariables(serviceUrl(), token), ...steps].map((step) => (
          <li key={step.title}>
            <h3>{step.title}</h3>
            <Command label={step.title} command={{ text: step.text, token: null }} />
          </li>
        ))}
      </ol>
      {token && (
        <p class="muted">
          Replace <code>{token.placeholder}</code> by the value of <code>{token.setting}</code> in the configuration
          file of the service. If you have no access to the file, ask the operator of the service for a token.
        </p>
      )}
      <p>
        <GuideLink page={guide} />
      </p>
      {end}
    </div>
  );
}
