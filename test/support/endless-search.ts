/**
 * In the place of the program that searches a store: says that it has begun, and then nothing. It ends with its channel; told
 * to look for `deaf` it does not.
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
