/** A text to copy, below a heading. */
export interface OnboardingStep {
  readonly title: string;
  readonly text: string;
}

/** Steps in one language, which lead to the first record once the variables of the shell are set. */
export interface Tutorial {
  readonly title: string;
  readonly steps: readonly OnboardingStep[];
  /** The requirements besides the language itself. */
  readonly needs?: string;
}

/** A token that the steps use: its variable, and the setting that contains it. */
export interface NeededToken {
  readonly variable: string;
  readonly setting: string;
  readonly placeholder: string;
}

export const API_TOKEN: NeededToken = {
  variable: "SIGNALBOX_API_TOKEN",
  setting: "server.apiToken",
  placeholder: "YOUR_API_TOKEN",
};
export const HOOKS_TOKEN: NeededToken = {
  variable: "SIGNALBOX_HOOKS_TOKEN",
  setting: "hooks.token",
  placeholder: "YOUR_HOOK_TOKEN",
};

/** Returns the step that sets variables of the shell. The page knows no token, so that a placeholder takes its place. */
export const setVariables = (url: string, token: NeededToken | null): OnboardingStep => ({
  title: token ? "Set the address and the token" : "Set the address",
  text: `export SIGNALBOX_URL="${url}"${token ? `\nexport ${token.variable}="${token.placeholder}"` : ""}`,
});

/** Returns a curl command with a JSON body, in lines. */
export function curl(method: string, url: string, body: object | null, token: NeededToken | null): string {
  const lines = [
    `curl -X ${method} "${url}"`,
    ...(token ? [`-H "Authorization: Bearer $${token.variable}"`] : []),
    ...(body ? ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`] : []),
  ];
  return lines.join(" \\\n  ");
}
