import parse, { type ParsedFamily, type ParsedSample } from 'parse-prometheus-text-format';

type Wanted = Readonly<Record<string, string>>;

/** One scrape, parsed from the Prometheus text format. */
export class Scrape {
  readonly families: readonly ParsedFamily[];
  /** Samples by the names that queries use, including histogram suffixes. */
  private readonly samples = new Map<string, ParsedSample[]>();

  constructor(readonly text: string) {
    this.families = parse(text);
    // Remove the types, because this parser would otherwise merge a histogram with labels into one series.
    for (const { name, metrics } of parse(text.replace(/^# TYPE.*\n/gm, ''))) {
      this.samples.set(name, [...(this.samples.get(name) ?? []), ...metrics]);
    }
  }

  static async of(adminUrl: string, headers: Record<string, string> = {}): Promise<Scrape> {
    const response = await fetch(`${adminUrl}/metrics`, { headers });
    if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
    return new Scrape(await response.text());
  }

  has(name: string): boolean {
    return this.samples.has(name);
  }

  /** Total of all series with these labels. */
  value(name: string, labels: Wanted = {}): number {
    return this.series(name, labels).reduce((sum, { value }) => sum + Number(value), 0);
  }

  series(name: string, labels: Wanted = {}): readonly ParsedSample[] {
    const samples = this.samples.get(name);
    if (samples === undefined) throw new Error(`there is no metric ${name}`);
    return samples.filter((one) => Object.entries(labels).every(([key, value]) => one.labels?.[key] === value));
  }
}
