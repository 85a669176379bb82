import type { FeedAnswer, FeedRequest } from '../../src/feed/request.js';
import type { FromFeedProgram, ToFeedProgram } from '../../src/node/jobs/feed/feed-program.js';

/**
 * A feed program without a store. A read finds the log of the shard `limit` damaged. Other requests fail with the number
 * of loads.
 */
let loads = 0;
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToFeedProgram) => {
  if (message.type !== 'request') return;
  const { id, request } = message;
  if (request.type === 'warm-up') loads++;
  process.send?.({ id, answer: answerTo(request) } satisfies FromFeedProgram);
});

function answerTo(request: FeedRequest): FeedAnswer {
  if (request.type === 'warm-up') return { type: 'warm' };
  if (request.type !== 'read') return { type: 'failed', reason: `${loads}` };
  return { type: 'page', json: '{}', next: '', damaged: [{ shard: request.limit, reason: 'the log cannot be read' }] };
}
