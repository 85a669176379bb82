/** Types of the package, which does not include any. */
declare module 'parse-prometheus-text-format' {
  export interface ParsedSample {
    readonly labels?: Readonly<Record<string, string>>;
    readonly value: string;
  }
  export interface ParsedFamily {
    readonly name: string;
    readonly help: string;
    readonly type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM' | 'SUMMARY' | 'UNTYPED';
    readonly metrics: readonly ParsedSample[];
  }
  const parse: (text: string) => readonly ParsedFamily[];
  // biome-ignore lint/style/noDefaultExport: the package has a default export
  export default parse;
}
