import type { FromFeedProgram, ToFeedProgram } from '../../src/node/jobs/feed/feed-program.js';

/** A feed program without a store. Fails other requests with the number of its loads. */
let loads = 0;
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToFeedProgram) => {
  if (message.type !== 'request') return;
  const { id, request } = message;
  if (request.type === 'warm-up') loads++;
  const answer: FromFeedProgram['answer'] =
    request.type === 'warm-up' ? { type: 'warm' } : { type: 'failed', reason: `${loads}` };
  process.send?.({ id, answer } satisfies FromFeedProgram);
});
