import { useEffect, useRef, useState } from 'preact/hooks';
import { postLines } from './api.js';
import { type Exact, plain } from './json.js';
import { pieceAt } from './lines.js';

/** A line that walletd refused. The id is empty if the line was unreadable. */
export interface RefusedLine {
  /** The line number in the file, from 1. */
  readonly line: number;
  readonly id: string;
  readonly username: string;
  readonly reason: string;
}

export interface ImportProgress {
  readonly bytes: number;
  readonly lines: number;
  readonly created: number;
  readonly skipped: number;
  readonly refused: number;
  /** The first refused lines, at most `REFUSED_MAX`. */
  readonly refusedLines: readonly RefusedLine[];
}

export interface Import {
  readonly progress: ImportProgress;
  /** An error pauses the import, which can resume where it stopped. */
  readonly state: 'ready' | 'running' | 'stopped' | 'done' | Error;
  /** Starts or resumes the import; does nothing while it runs. */
  readonly start: () => void;
  /** Stops the import after the lines that were already sent have been answered. */
  readonly stop: () => void;
}

interface LineAnswer {
  readonly line: Exact;
  readonly id?: string;
  readonly username?: string;
  readonly result: 'created' | 'skipped' | 'refused';
  readonly reason?: string;
}

export const REFUSED_MAX = 1000;
const NOTHING: ImportProgress = { bytes: 0, lines: 0, created: 0, skipped: 0, refused: 0, refusedLines: [] };

/**
 * Imports a file piece by piece. A piece that is sent again, after a lost answer or a double click, creates nothing
 * twice.
 */
export function useImport(file: File): Import {
  const [progress, setProgress] = useState(NOTHING);
  const [state, setState] = useState<Import['state']>('ready');
  const running = useRef<AbortController>(undefined);
  const isStopping = useRef(false);
  useEffect(() => () => running.current?.abort(), []);
  const isRunning = state === 'running';
  useEffect(() => {
    if (!isRunning) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isRunning]);
  const run = async () => {
    if (running.current !== undefined) return;
    const left = new AbortController();
    running.current = left;
    isStopping.current = false;
    setState('running');
    try {
      for (let at = progress; at.bytes < file.size && !isStopping.current; setProgress(at)) {
        at = await importPiece(file, at, left.signal);
      }
      setState(isStopping.current ? 'stopped' : 'done');
    } catch (error) {
      if (!left.signal.aborted) setState(error as Error);
    }
    running.current = undefined;
  };
  const stop = () => {
    isStopping.current = true;
  };
  return { progress, state, start: () => void run(), stop };
}

async function importPiece(file: File, at: ImportProgress, signal: AbortSignal): Promise<ImportProgress> {
  const piece = await pieceAt(file, at.bytes);
  const answers = (await postLines('/v1/players:import', piece.bytes, signal)) as readonly LineAnswer[];
  const of = (wanted: LineAnswer['result']) => answers.filter(({ result }) => result === wanted);
  const refused = of('refused').map(({ line, id = '', username = '', reason = '' }) => {
    return { line: at.lines + plain(line), id, username, reason };
  });
  return {
    bytes: piece.end,
    lines: at.lines + piece.lines,
    created: at.created + of('created').length,
    skipped: at.skipped + of('skipped').length,
    refused: at.refused + refused.length,
    refusedLines: [...at.refusedLines, ...refused].slice(0, REFUSED_MAX),
  };
}
