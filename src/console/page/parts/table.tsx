import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { toCsv } from '../../../csv/to-csv.js';

export interface Column<T> {
  readonly title: string;
  /** As text: for CSV, and shown where nothing else is. */
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

/** A table that can be copied as CSV; it scrolls by itself where it is too wide. */
export function Table<T>({ caption, columns, rows, keyOf }: Props<T>) {
  return (
    <section class="table">
      <header>
        <h2>{caption}</h2>
        <CopyCsv
          of={() => [columns.map(({ title }) => title), ...rows.map((row) => columns.map((one) => one.text(row)))]}
        />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
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
    setSaid(isCopied ? 'Copied' : 'The browser does not allow it');
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

/** Over plain HTTP browsers have no clipboard but that of a selection. */
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
