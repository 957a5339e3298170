/** One of the programs that are compared. */
export interface Service {
  readonly name: string;
  readonly url: string;
  /** Of its API, where it asks for one. */
  readonly token?: string;
  /** Takes away what its hooks have written down, and what waits on any queue. */
  clear(): Promise<void>;
}
