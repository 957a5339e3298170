interface ProgressBarProps {
  readonly value: number;
  readonly label: string;
  readonly status: string;
  readonly stale?: boolean;
}

/** Progress as a bar and as a percentage. */
export function ProgressBar({ value, label, status, stale = false }: ProgressBarProps) {
  const text = percent(value);
  return (
    <span class={`progress status-${stale ? "stale" : status}`}>
      <span
        class="progress-track"
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.floor(value)}
        aria-valuetext={text}
      >
        <span class="progress-fill" style={{ transform: `scaleX(${value / 100})` }} />
      </span>
      <span class="progress-text small muted" aria-hidden="true">
        {text}
      </span>
    </span>
  );
}

/** Rounds down, so that only completed work shows 100 %. */
const percent = (value: number): string => `${Math.floor(value)} %`;
