interface BadgeProps {
  readonly text: string | number;
  /** The word after the number, for screen readers. */
  readonly noun: string;
  /** Whether the number is of something that has failed. */
  readonly isFault?: boolean;
}

/** A number beside a link of the navigation. */
export function Badge({ text, noun, isFault = false }: BadgeProps) {
  return (
    <b class={isFault ? "badge badge-fault" : "badge"}>
      {text}
      <span class="unseen"> {noun}</span>
    </b>
  );
}
