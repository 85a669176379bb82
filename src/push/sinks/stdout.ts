import { type PushedEvent, type Sink, SinkClosed } from '../sink.js';

/**
 * Writes each event as one line of JSON. `write` resolves to true once the operating system has accepted the text, and
 * to false if the reader has closed the pipe. An accepted line may still be lost if the reader is killed.
 */
export class StdoutSink implements Sink {
  constructor(private readonly write: (text: string) => Promise<boolean>) {}

  async send(events: readonly PushedEvent[]): Promise<void> {
    if (!(await this.write(events.map((event) => `${JSON.stringify(event)}\n`).join('')))) throw new SinkClosed();
  }

  async close(): Promise<void> {}
}
