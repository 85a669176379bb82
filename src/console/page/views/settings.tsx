import { Fragment } from 'preact';
import { toJson } from '../json.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { hrefOf } from '../place.js';
import { useGet } from '../use-call.js';

interface Setting {
  readonly setting: string;
  /** Null if the setting has no value. */
  readonly value: unknown;
  readonly from: string;
  readonly meaning: string;
}

interface InForce {
  readonly node: string | null;
  readonly settings: readonly Setting[];
}

const DEFAULT = 'default';

const COLUMNS: readonly Column<Setting>[] = [
  { title: 'Setting', text: ({ setting }) => setting, show: ({ setting }) => <code>{withBreaks(setting)}</code> },
  { title: 'Value', text: shownValue, show: (one) => <bdi class="id">{shownValue(one)}</bdi> },
  {
    title: 'Source',
    text: ({ from }) => from,
    show: ({ from }) => (from === DEFAULT ? <small>{from}</small> : <bdi class="id">{from}</bdi>),
  },
  {
    title: 'Meaning',
    text: ({ meaning }) => meaning,
    show: ({ meaning }) => <span class="prose">{withCode(meaning)}</span>,
  },
];

/** Settings of the node that answers this request. */
export function SettingsView({ show }: { readonly show: string }) {
  const { answer, error, isWaiting, again } = useGet<InForce>(() => '/v1/settings');
  const showsAll = show === 'all';
  const wanted = answer?.settings.filter(({ from }) => showsAll || from !== DEFAULT) ?? [];
  return (
    <>
      <header class="title">
        <h1>
          Settings{' '}
          {answer?.node && (
            <small>
              <bdi>{answer.node}</bdi>
            </small>
          )}
        </h1>
        <button type="button" class="quiet" onClick={again}>
          Refresh
        </button>
      </header>
      <p class="hint">
        Settings of the node that answers. Change them in its environment or file; most need a restart. Secrets are
        never shown.
      </p>
      <nav class="tabs" aria-label="Which settings">
        <a href={hrefOf('settings')} aria-current={showsAll ? undefined : 'page'}>
          Changed
        </a>
        <a href={hrefOf('settings', { show: 'all' })} aria-current={showsAll ? 'page' : undefined}>
          All
        </a>
      </nav>
      {error && <Failed error={error} again={again} />}
      {!answer && isWaiting && <Loading what="settings" />}
      {answer && wanted.length === 0 && <Empty>All settings have their default values.</Empty>}
      {wanted.length > 0 && (
        <Table
          caption={showsAll ? 'All settings' : 'Changed settings'}
          columns={COLUMNS}
          rows={wanted}
          keyOf={({ setting }) => setting}
        />
      )}
    </>
  );
}

function shownValue({ value }: Setting): string {
  if (value === null) return 'unset';
  return typeof value === 'string' ? value : toJson(value);
}

/** Allows line breaks after the dots of a long path. */
function withBreaks(path: string) {
  return path.split('.').map((key, n) => (
    <Fragment key={key}>
      {n > 0 && '.'}
      {n > 0 && <wbr />}
      {key}
    </Fragment>
  ));
}

/** Renders text between backticks as code. */
function withCode(text: string) {
  return text.split('`').map((part, n) => {
    const key = `${n} ${part}`;
    return n % 2 === 1 ? <code key={key}>{part}</code> : <Fragment key={key}>{part}</Fragment>;
  });
}
