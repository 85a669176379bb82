/**
 * A store as bytes, in a text file. Each record is one line, with a word and hexadecimal digits.
 *
 *   meta 7b22...      the meta record
 *   entry 0102...     an entry; shard after shard, each log from its start
 *   head 0000...      the head of a shard, in the order of shards
 */
export interface StoredBytes {
  readonly meta: Buffer;
  readonly entries: readonly Buffer[];
  readonly heads: readonly Buffer[];
}

export function parseStoreFile(text: string): StoredBytes {
  const records = { meta: [] as Buffer[], entry: [] as Buffer[], head: [] as Buffer[] };
  for (const line of text.trimEnd().split('\n')) {
    const match = /^(meta|entry|head) ((?:[0-9a-f]{2})+)$/.exec(line);
    if (match === null) throw new Error(`a store file cannot say "${line.slice(0, 40)}"`);
    records[match[1] as keyof typeof records].push(Buffer.from(match[2] as string, 'hex'));
  }
  const [meta, ...others] = records.meta;
  if (meta === undefined || others.length > 0) throw new Error('a store file has one meta record');
  return { meta, entries: records.entry, heads: records.head };
}

export function formatStoreFile({ meta, entries, heads }: StoredBytes): string {
  const line = (word: string) => (bytes: Buffer) => `${word} ${bytes.toString('hex')}\n`;
  return [line('meta')(meta), ...entries.map(line('entry')), ...heads.map(line('head'))].join('');
}
