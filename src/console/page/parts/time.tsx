const HERE = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** Shows a moment in the viewer's time zone and in UTC. */
export function Time({ ms }: { readonly ms: number }) {
  const utc = utcOf(ms);
  return (
    <time dateTime={new Date(ms).toISOString()}>
      {HERE.format(ms)} <small>{utc}</small>
    </time>
  );
}

/** Formats a moment to the second, in a form that screen readers can read and tables can sort. */
export function utcOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
