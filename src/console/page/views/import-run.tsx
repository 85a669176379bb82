import { useEffect } from 'preact/hooks';
import { playerColumn } from '../parts/player-column.js';
import { Failed } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { type Import, REFUSED_MAX, type RefusedLine, useImport } from '../use-import.js';
import { bytes, count, NONE } from '../words.js';

interface Props {
  readonly file: File;
  readonly onRunning: (isRunning: boolean) => void;
}

const COLUMNS: readonly Column<RefusedLine>[] = [
  { title: 'Line', text: ({ line }) => String(line) },
  { title: 'Reason', text: ({ reason }) => reason, show: ({ reason }) => <bdi class="reason">{reason}</bdi> },
  {
    ...playerColumn,
    text: ({ username }) => username || NONE,
    show: (one) => (one.username === '' ? NONE : playerColumn.show?.(one)),
  },
  { title: 'ID', text: ({ id }) => id || NONE, show: ({ id }) => <bdi class="id">{id || NONE}</bdi> },
];
const LABELS: Readonly<Record<'ready' | 'running' | 'stopped', string>> = {
  ready: 'Import this file',
  running: 'Importing…',
  stopped: 'Resume',
};

/** Imports a file and shows the progress and the refused lines. */
export function ImportRun({ file, onRunning }: Props) {
  const { progress, state, start, stop } = useImport(file);
  const isRunning = state === 'running';
  useEffect(() => {
    onRunning(isRunning);
    return () => onRunning(false);
  }, [isRunning]);
  return (
    <>
      <div class="actions">
        {state !== 'done' && (
          <button type="button" class="main" disabled={isRunning} onClick={start}>
            {state instanceof Error ? LABELS.stopped : LABELS[state]}
          </button>
        )}
        {isRunning && (
          <button type="button" onClick={stop}>
            Stop
          </button>
        )}
      </div>
      <Said state={state} file={file} />
      {state !== 'ready' && (
        <>
          <progress value={progress.bytes} max={file.size} aria-label="How much of the file has been imported" />
          <p class="hint">
            {count(progress.lines)} lines, {bytes(progress.bytes)} of {bytes(file.size)}
          </p>
          <section class="tiles" aria-label="Lines of the file">
            <Sum name="Created" value={progress.created} more="players with their balances" />
            <Sum name="Skipped" value={progress.skipped} more="imported before" />
            <Sum name="Refused" value={progress.refused} more="not imported" />
          </section>
        </>
      )}
      {progress.refusedLines.length > 0 && (
        <>
          <Table
            caption="Refused lines"
            columns={COLUMNS}
            rows={progress.refusedLines}
            keyOf={({ line }) => String(line)}
          />
          {progress.refused > REFUSED_MAX && (
            <p class="hint">
              The first {count(REFUSED_MAX)} of {count(progress.refused)}. Fix these lines and import the file again to
              see the rest.
            </p>
          )}
        </>
      )}
    </>
  );
}

function Said({ state, file }: { readonly state: Import['state']; readonly file: File }) {
  if (state instanceof Error) {
    return (
      <>
        <Failed error={state} />
        <p class="hint">
          The import is paused. “Resume” sends the unanswered lines again; players created already are skipped.
        </p>
      </>
    );
  }
  switch (state) {
    case 'ready':
      return null;
    case 'running':
      return (
        <p class="note" role="status">
          Keep this page open: leaving it stops the import.
        </p>
      );
    case 'stopped':
      return (
        <p class="note" role="status">
          Stopped. Created players stay.
        </p>
      );
    case 'done':
      return (
        <p class="note good" role="status">
          <bdi>{file.name}</bdi> has been imported completely.
        </p>
      );
  }
}

function Sum({ name, value, more }: { readonly name: string; readonly value: number; readonly more: string }) {
  return (
    <div class="card tile">
      <h2>{name}</h2>
      <p class="figure">{count(value)}</p>
      <p class="more">{more}</p>
    </div>
  );
}
