export type Print = (stepKey: string, text: string) => void;

/** A fetch that prints each accepted report of a step: the client sends fewer reports than the steps make. */
export const loudFetch =
  (print: Print): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const stepKey = /\/steps\/([^/?]+)$/.exec(String(input))?.[1];
    if (init?.method === "PUT" && stepKey && response.ok) {
      const { status = "running", progress, message } = JSON.parse(String(init.body));
      const points = progress === undefined ? "" : `${Math.round(progress)} %`;
      print(decodeURIComponent(stepKey), `${status.padEnd(9)} ${points.padStart(5)}  ${message}`);
    }
    return response;
  };
