import { stored } from "../stored.ts";

/** A saved view of the list of jobs: a name for the query of its address. */
export interface JobView {
  readonly name: string;
  readonly query: string;
}

const MAX_VIEWS = 50;

const isView = (one: unknown): one is JobView => {
  const { name, query } = (one ?? {}) as Partial<JobView>;
  return typeof name === "string" && typeof query === "string";
};

const views = stored<readonly JobView[]>("signalbox.jobViews", (json) =>
  Array.isArray(json) ? json.filter(isView).slice(0, MAX_VIEWS) : [],
);

export const jobViews = views.value;

/** Saves a view; one of the same name is replaced. */
export function saveJobView(view: JobView): void {
  views.set([...jobViews.value.filter(({ name }) => name !== view.name), view].slice(-MAX_VIEWS));
}

export function removeJobView(name: string): void {
  views.set(jobViews.value.filter((view) => view.name !== name));
}
