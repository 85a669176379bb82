import type { TargetedEvent, TargetedInputEvent } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';

interface Props {
  readonly label: string;
  readonly type: 'search' | 'date';
  readonly value: string;
  /** Suggestions shown while the operator types. */
  readonly offered?: readonly string[] | undefined;
  /** Called when the field loses the focus or Enter is pressed. */
  readonly onChosen: (value: string) => void;
}

/** A filter field. An answer that arrives does not overwrite the text that is being typed. */
export function Field({ label, type, value, offered, onChosen }: Props) {
  const [id, listId] = [useId(), useId()];
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const shared = {
    id,
    value: typed,
    onInput: ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) => setTyped(currentTarget.value),
    onChange: ({ currentTarget }: TargetedEvent<HTMLInputElement>) => onChosen(currentTarget.value),
  };
  return (
    <p>
      <label for={id}>{label}</label>
      {type === 'date' ? (
        <input type="date" {...shared} />
      ) : (
        <input
          type="search"
          maxLength={256}
          autocomplete="off"
          spellcheck={false}
          list={offered && listId}
          {...shared}
        />
      )}
      {offered && (
        <datalist id={listId}>
          {offered.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </p>
  );
}
