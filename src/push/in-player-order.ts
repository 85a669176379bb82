import type { PushedEvent } from './sink.js';

/**
 * Sends the events of different players concurrently, at most `parallel` at a time, and the events of one player one
 * after the other. After a failure, no further event is sent; rejects with the first error when all sends have ended.
 */
export async function inPlayerOrder(
  events: readonly PushedEvent[],
  parallel: number,
  send: (event: PushedEvent) => Promise<void>,
): Promise<void> {
  const queues = queuesOf(events);
  let failure: { readonly error: unknown } | undefined;
  const work = async () => {
    for (let queue = queues.shift(); queue !== undefined; queue = queues.shift()) {
      for (const event of queue) {
        if (failure !== undefined) return;
        try {
          await send(event);
        } catch (error) {
          failure ??= { error };
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, queues.length) }, work));
  if (failure !== undefined) throw failure.error;
}

/** One queue per player, in the order of the players' first events. */
function queuesOf(events: readonly PushedEvent[]): PushedEvent[][] {
  const queues = new Map<string, PushedEvent[]>();
  for (const event of events) {
    const queue = queues.get(event.subject);
    if (queue === undefined) queues.set(event.subject, [event]);
    else queue.push(event);
  }
  return [...queues.values()];
}
