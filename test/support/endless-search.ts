/**
 * Replacement for the program that searches a store. Sends one hit and then goes silent. Exits when its IPC channel
 * closes, unless the query is `deaf`.
 */
// Without a listener, the channel would not keep the process alive.
process.once('disconnect', () => {});
process.once('message', ({ query }: { query: { id: string } }) => {
  if (query.id === 'deaf') {
    process.on('disconnect', () => setInterval(() => {}, 1000));
  } else if (query.id === 'broken') {
    process.exit(1);
  }
  process.send?.({ type: 'hit', hit: { username: String(process.pid), kind: 'round', what: 'round' } });
});
