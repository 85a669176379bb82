/**
 * A transcript: commands and the expected answers, in one text file.
 *
 *   # a comment, often the sentence that the next steps prove
 *   place alice t1 r1 10
 *   ----
 *   200 0 100 -> 90
 *
 * A step is one or more lines of input, a line of dashes, and the output up to the next blank line.
 */
export interface Step {
  readonly input: string[];
  readonly expected: string;
  readonly line: number;
}

const SEPARATOR = '----';

export function parseTranscript(text: string): Step[] {
  const steps: Step[] = [];
  const lines = text.split('\n');
  let input: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    if (line === SEPARATOR) {
      const output: string[] = [];
      while (i + 1 < lines.length && lines[i + 1] !== '') output.push(lines[++i] as string);
      steps.push({ input, expected: output.join('\n'), line: i });
      input = [];
    } else if (line !== '' && !line.startsWith('#')) {
      input.push(line);
    }
  }
  if (input.length > 0) throw new Error(`the transcript ends in a step without output: ${input[0]}`);
  return steps;
}

/** The same text with the outputs replaced. */
export function rewriteTranscript(text: string, outputs: readonly string[]): string {
  const result: string[] = [];
  const lines = text.split('\n');
  let step = 0;
  for (let i = 0; i < lines.length; i++) {
    result.push(lines[i] as string);
    if (lines[i] !== SEPARATOR) continue;
    while (i + 1 < lines.length && lines[i + 1] !== '') i++;
    const output = outputs[step++] as string;
    if (output !== '') result.push(output);
  }
  return result.join('\n');
}
