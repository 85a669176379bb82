import { useEffect, useState } from 'preact/hooks';
import type { Moment, Overview } from '../../admin/console/overview.js';
import { readVisitor } from './api.js';

/** How things are, as far as walletd tells. */
export interface Live {
  readonly overview: Overview | undefined;
  readonly hour: readonly Moment[];
  /** `lost`: it does not answer, and what is shown is how it was. */
  readonly connection: 'waiting' | 'live' | 'lost';
}

const RETRY_MS = 3000;
/** walletd tells something every second. */
const SILENCE_MAX_MS = 5000;

/** Listens to walletd while the view is open and the page is looked at. `onSignedOut` is called when it asks who this is. */
export function useLive(onSignedOut: () => void): Live {
  const [overview, setOverview] = useState<Overview>();
  const [hour, setHour] = useState<readonly Moment[]>([]);
  const [connection, setConnection] = useState<Live['connection']>('waiting');
  // One stream for as long as the view is there.
  useEffect(() => {
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const expect = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(connect, ms);
    };
    const lost = () => {
      source?.close();
      setConnection('lost');
      expect(RETRY_MS);
      // A stream does not say why it is refused.
      readVisitor()
        .then((visitor) => visitor === undefined && onSignedOut())
        .catch(() => {});
    };
    function connect(): void {
      source?.close();
      if (document.hidden) return;
      source = new EventSource('/console/live');
      source.addEventListener('hour', ({ data }: MessageEvent<string>) => setHour(JSON.parse(data) as Moment[]));
      source.addEventListener('overview', ({ data }: MessageEvent<string>) => {
        setOverview(JSON.parse(data) as Overview);
        setConnection('live');
        clearTimeout(timer);
        timer = setTimeout(lost, SILENCE_MAX_MS);
      });
      source.addEventListener('error', lost);
    }
    const look = () => {
      if (!document.hidden) return connect();
      clearTimeout(timer);
      source?.close();
    };
    connect();
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      source?.close();
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
  return { overview, hour, connection };
}
