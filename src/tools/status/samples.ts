export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Samples of a metrics scrape, in the Prometheus text format as walletd writes it. */
export class Samples {
  private readonly byName = new Map<string, Sample[]>();

  constructor(text: string) {
    for (const line of text.split('\n')) {
      const [, name, labels = '', value] = LINE.exec(line) ?? [];
      if (name === undefined) continue;
      const pairs = [...labels.matchAll(LABEL)].map(([, key, quoted]) => [key, unescaped(quoted as string)]);
      const samples = this.byName.get(name) ?? [];
      samples.push({ labels: Object.fromEntries(pairs), value: Number(value) });
      this.byName.set(name, samples);
    }
  }

  /** Finds the samples that have these labels. */
  of(name: string, labels: Readonly<Record<string, string | number>> = {}): readonly Sample[] {
    const wanted = Object.entries(labels);
    return (this.byName.get(name) ?? []).filter((one) =>
      wanted.every(([key, value]) => one.labels[key] === String(value)),
    );
  }

  series(name: string): readonly Sample[] {
    return this.of(name);
  }

  /** The sum of the samples with these labels; undefined if there are none. */
  find(name: string, labels: Readonly<Record<string, string | number>> = {}): number | undefined {
    const found = this.of(name, labels);
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
  }

  sum(name: string, labels: Readonly<Record<string, string | number>> = {}): number {
    return this.find(name, labels) ?? 0;
  }

  /** The largest value of the samples; undefined if there are none. */
  max(name: string): number | undefined {
    const values = this.of(name).map(({ value }) => value);
    return values.length === 0 ? undefined : Math.max(...values);
  }

  /** The smallest histogram bound that covers this share of the values; undefined if there are no values. */
  bound(name: string, share: number): number | undefined {
    const buckets = new Map<number, number>();
    for (const { labels, value } of this.of(`${name}_bucket`)) {
      const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
      buckets.set(bound, (buckets.get(bound) ?? 0) + value);
    }
    const sorted = [...buckets].sort(([a], [b]) => a - b);
    const count = sorted.at(-1)?.[1] ?? 0;
    return count === 0 ? undefined : sorted.find(([, below]) => below >= count * share)?.[0];
  }
}

function unescaped(quoted: string): string {
  return quoted.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
}
