const HERE = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** A moment in the viewer's zone, and in UTC. */
export function Time({ ms }: { readonly ms: number }) {
  const utc = utcOf(ms);
  return (
    <time dateTime={new Date(ms).toISOString()}>
      {HERE.format(ms)} <small>{utc}</small>
    </time>
  );
}

/** To the second, as a person reads it aloud and a table sorts it. */
export function utcOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
