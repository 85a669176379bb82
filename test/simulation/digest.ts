/**
 * 64-bit hash of a run, equal for two identical runs. Used only for comparison; it does not protect against forgery.
 */
export class Digest {
  private readonly number = new Float64Array(1);
  private readonly halves = new Uint32Array(this.number.buffer);
  private one = 0x811c9dc5;
  private other = 0x2545f491;

  note(atMs: number, what: string): void {
    this.number[0] = atMs;
    this.mix(this.halves[0] as number);
    this.mix(this.halves[1] as number);
    for (let i = 0; i < what.length; i++) this.mix(what.charCodeAt(i));
  }

  toString(): string {
    return [this.one, this.other].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }

  private mix(bits: number): void {
    this.one = Math.imul(this.one ^ bits, 0x01000193);
    this.other = Math.imul((this.other ^ bits ^ (this.one >>> 15)) + 0x9e3779b9, 0x85ebca6b);
  }
}
