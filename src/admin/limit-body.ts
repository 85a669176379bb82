import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Ends the connection if the body is incomplete after `withinMs`. Otherwise a sender that sends its data in small
 * pieces could occupy the connection forever.
 */
export function limitBody(request: IncomingMessage, response: ServerResponse, withinMs: number): void {
  const timer = setTimeout(() => !request.complete && request.socket.destroy(), withinMs).unref();
  for (const over of ['end', 'close']) request.once(over, () => clearTimeout(timer));
  response.once('close', () => clearTimeout(timer));
}
