import { useEffect, useId, useState } from 'preact/hooks';
import { formatAmount } from '../../amount.js';
import { parseExact } from '../json.js';
import { pieceAt } from '../lines.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { bytes } from '../words.js';
import { ImportRun } from './import-run.js';

interface Preview {
  readonly line: number;
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

const SHOWN = 5;
const TEXT_MAX = 200;
const EXAMPLE = '{"id":"opening-ann","username":"ann","currency":"THB","balance":100.25}';

/** Creates players with their opening balances from a file. */
export function ImportView({ mayChange }: { readonly mayChange: boolean }) {
  const id = useId();
  const [file, setFile] = useState<File>();
  const [isRunning, setRunning] = useState(false);
  return (
    <>
      <h1>Import players</h1>
      <p class="hint">
        A file with one player per line as JSON; other fields are ignored. A file can be imported again: lines that were
        imported before are skipped.
      </p>
      <pre class="example">{EXAMPLE}</pre>
      {!mayChange && <Empty>The role “read” cannot import players.</Empty>}
      {mayChange && (
        <form class="search" onSubmit={(event) => event.preventDefault()}>
          <label for={id}>File</label>
          <input
            id={id}
            type="file"
            accept=".ndjson,.jsonl,.json,.txt"
            disabled={isRunning}
            onChange={({ currentTarget }) => setFile(currentTarget.files?.[0])}
          />
        </form>
      )}
      {file && <Chosen key={`${file.name} ${file.size} ${file.lastModified}`} file={file} onRunning={setRunning} />}
    </>
  );
}

/** Preview of the file, for the operator to check before the import. */
function Chosen({ file, onRunning }: { readonly file: File; readonly onRunning: (isRunning: boolean) => void }) {
  const [preview, setPreview] = useState<readonly Preview[] | Error>();
  useEffect(() => {
    previewOf(file).then(setPreview, setPreview);
  }, []);
  if (preview === undefined) return <Loading what="the file" />;
  if (preview instanceof Error) return <Failed error={new Error(`the browser cannot read ${file.name}`)} />;
  if (preview.length === 0) return <Empty>The file is empty.</Empty>;
  const isStrange = preview.some(({ fields }) => fields === undefined);
  return (
    <>
      <p>
        <bdi class="name">{file.name}</bdi>, {bytes(file.size)}
      </p>
      {isStrange && (
        <p class="note warn">
          <strong>This does not look like a file of players.</strong> Lines that cannot be read will be refused.
        </p>
      )}
      <Table
        caption="First lines"
        columns={isStrange ? [...COLUMNS, UNREADABLE] : COLUMNS}
        rows={preview}
        keyOf={({ line }) => String(line)}
      />
      <ImportRun file={file} onRunning={onRunning} />
    </>
  );
}

const column = (title: string, name: string, isNumber?: true): Column<Preview> => {
  const text = ({ fields }: Preview) => textOf(fields?.[name]);
  return { title, text, show: (one) => <bdi class="id">{text(one)}</bdi>, ...(isNumber && { isNumber }) };
};
const COLUMNS: readonly Column<Preview>[] = [
  { title: 'Line', text: ({ line }) => String(line) },
  column('ID', 'id'),
  column('Player', 'username'),
  column('Currency', 'currency'),
  {
    ...column('Balance', 'balance', true),
    show: ({ fields }) => <bdi>{formatAmount(textOf(fields?.balance), textOf(fields?.currency))}</bdi>,
  },
];

const UNREADABLE: Column<Preview> = {
  title: 'Unreadable line',
  text: ({ fields, text }) => (fields === undefined ? text : ''),
  show: ({ fields, text }) => fields === undefined && <bdi class="id">{text}</bdi>,
};

function textOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'object' && value !== null && 'exact' in value) return String(value.exact);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function previewOf(file: File): Promise<readonly Preview[]> {
  const { bytes: read } = await pieceAt(file, 0);
  const lines = new TextDecoder()
    .decode(read)
    .split('\n')
    .map((text, n) => ({ line: n + 1, text: text.trim() }));
  return lines
    .filter(({ text }) => text !== '')
    .slice(0, SHOWN)
    .map(({ line, text }) => ({ line, text: text.slice(0, TEXT_MAX), fields: tryFields(text) }));
}

function tryFields(text: string): Preview['fields'] {
  try {
    const value = parseExact(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !('exact' in value);
    return isObject ? (value as Preview['fields']) : undefined;
  } catch {
    return undefined;
  }
}
