import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { toCsv } from '../../../csv/to-csv.js';

export interface Column<T> {
  readonly title: string;
  /** The text for CSV. The cell shows it as well unless `show` is given. */
  readonly text: (row: T) => string;
  readonly show?: (row: T) => ComponentChildren;
  readonly isNumber?: true;
}

interface Props<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}

const SHOWN_MS = 2000;

/** A table with a button that copies it as CSV. A table that is too wide scrolls on its own. */
export function Table<T>({ caption, columns, rows, keyOf }: Props<T>) {
  return (
    <section class="table">
      <header>
        <h2>{caption}</h2>
        <CopyCsv
          of={() => [columns.map(({ title }) => title), ...rows.map((row) => columns.map((one) => one.text(row)))]}
        />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={caption}>
        <table>
          <thead>
            <tr>
              {columns.map(({ title, isNumber }) => (
                <th key={title} scope="col" class={isNumber && 'number'}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)}>
                {columns.map(({ title, text, show, isNumber }) => (
                  <td key={title} class={isNumber && 'number'}>
                    {(show ?? text)(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function CopyCsv({ of }: { readonly of: () => readonly (readonly string[])[] }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    const isCopied = await copyText(toCsv(of()));
    setSaid(isCopied ? 'Copied' : 'The browser does not allow copying');
    setTimeout(() => setSaid(''), SHOWN_MS);
  };
  return (
    <span class="copy">
      <span role="status">{said}</span>
      <button type="button" class="quiet" onClick={copy}>
        Copy CSV
      </button>
    </span>
  );
}

/** Over plain HTTP, browsers offer no clipboard API; the only way is to copy a selection. */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied;
}
