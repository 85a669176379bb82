import { assert } from '../../base/assert.js';

/** Numbers recurring texts (products, currencies, operators) from 1. Texts that are no longer used are removed. */
export class Dictionary {
  private readonly numbers = new Map<string, number>();
  private readonly texts: string[] = [''];
  private readonly uses: number[] = [0];
  private readonly free: number[] = [];

  /** The text's number; 0 if the text is not in use. */
  find(text: string): number {
    return this.numbers.get(text) ?? 0;
  }

  /** Adds a reference to the text; returns its number. */
  take(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return this.takeAgain(known);
    const number = this.free.pop() ?? this.texts.length;
    this.texts[number] = text;
    this.uses[number] = 1;
    this.numbers.set(text, number);
    return number;
  }

  takeAgain(number: number): number {
    this.uses[number] = (this.uses[number] as number) + 1;
    return number;
  }

  release(number: number): void {
    const uses = (this.uses[number] as number) - 1;
    assert(uses >= 0, 'what is released was taken');
    this.uses[number] = uses;
    if (uses > 0) return;
    this.numbers.delete(this.text(number));
    this.texts[number] = '';
    this.free.push(number);
  }

  text(number: number): string {
    return this.texts[number] as string;
  }

  clear(): void {
    this.numbers.clear();
    this.free.length = 0;
    this.texts.length = 1;
    this.uses.length = 1;
  }
}
