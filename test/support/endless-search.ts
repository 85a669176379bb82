/**
 * Replaces the program that searches a store: reports that it has begun, and then falls silent. It ends with its
 * channel, except when it searches for `deaf`.
 */
// Without a listener the channel would keep no process alive.
process.once('disconnect', () => {});
process.once('message', ({ query }: { query: { id: string } }) => {
  if (query.id === 'deaf') {
    process.on('disconnect', () => setInterval(() => {}, 1000));
  } else if (query.id === 'broken') {
    process.exit(1);
  }
  process.send?.({ type: 'hit', hit: { username: String(process.pid), kind: 'round', what: 'round' } });
});
