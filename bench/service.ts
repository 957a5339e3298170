/** A service under test. */
export interface Service {
  readonly name: string;
  readonly url: string;
  /** The token of its API, if it needs one. */
  readonly token?: string;
  /** Deletes the records of its hooks, and all queues. */
  clear(): Promise<void>;
}
