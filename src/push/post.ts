import { type Agent, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';

export interface Post {
  readonly url: URL;
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
}

/** Sends one request and resolves to the status of its answer. Rejects if there is no complete answer in time. */
export function post({ url, agent, headers, body, timeoutMs }: Post): Promise<number> {
  const request = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const signal = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      reject(signal.aborted ? new Error(`there was no answer within ${timeoutMs / 1000} s`) : error);
    };
    const sent = request(url, { method: 'POST', agent, headers, signal }, (response) => {
      response.on('error', fail);
      response.on('end', () => resolve(response.statusCode as number));
      // The content of the body does not matter, but the connection is free only after the end of the body.
      response.resume();
    });
    sent.on('error', fail);
    sent.end(body);
  });
}
