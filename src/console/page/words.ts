/** Human-readable number formats. Amounts of money stay exact text; see amount.ts. */
const COUNT = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const SECONDS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
];

export const NONE = '–';

export function count(value: number): string {
  return COUNT.format(value);
}

export function bytes(value: number | null): string {
  if (value === null) return NONE;
  let [rest, unit] = [value, 0];
  while (rest >= 1024 && unit < UNITS.length - 1) {
    rest /= 1024;
    unit++;
  }
  return `${rest.toFixed(rest < 10 && unit > 0 ? 1 : 0)} ${UNITS[unit]}`;
}

export function millis(value: number | null): string {
  if (value === null) return NONE;
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ms`;
}

/** Formats a duration in its largest unit only. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [unit, name] = SECONDS.find(([one]) => seconds >= one) ?? [1, 's'];
  return `${Math.floor(seconds / unit)} ${name}`;
}

/** Converts an API word to human-readable text: `OPEN` to `Open`, `bet-placed` to `Bet placed`. */
export function inWords(state: string): string {
  return (
    state.charAt(0).toUpperCase() +
    state
      .slice(1)
      .toLowerCase()
      .replace(/(?<=[a-z])[-_]/g, ' ')
  );
}
