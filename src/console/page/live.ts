import { useEffect, useState } from 'preact/hooks';
import type { Moment, Overview } from '../../admin/console/overview.js';
import { readVisitor } from './api.js';

/** The live state of walletd, and of the connection to it. */
export interface Live {
  readonly overview: Overview | undefined;
  readonly hour: readonly Moment[];
  /** `lost` means that walletd does not answer and the page shows the last known state. */
  readonly connection: 'waiting' | 'live' | 'lost';
}

const RETRY_MS = 3000;
/** After this silence the connection counts as lost: walletd sends an event every second. */
const SILENCE_MAX_MS = 5000;

/** Listens to walletd while the view is open and the page is visible. Calls `onSignedOut` if the session has ended. */
export function useLive(onSignedOut: () => void): Live {
  const [overview, setOverview] = useState<Overview>();
  const [hour, setHour] = useState<readonly Moment[]>([]);
  const [connection, setConnection] = useState<Live['connection']>('waiting');
  // Run this effect only once, so that one stream lasts as long as the view.
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
      // A stream does not report why it was refused, so check whether the session has ended.
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
