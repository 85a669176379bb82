/**
 * A queue, first in, first out, in a ring whose size is a power of two. The ring doubles when it is full and never
 * shrinks.
 *
 *      head          tail
 *        v             v
 *   [ . | a | b | c | . | . | . | . ]
 *
 * An array's `shift` moves every element once the array is long, and a queue under load is long.
 * The caller enforces a limit: only the caller knows how to answer when the limit is reached.
 */
export class Queue<T> {
  private ring: (T | undefined)[] = new Array(64).fill(undefined);
  private head = 0;
  private count = 0;

  get length(): number {
    return this.count;
  }

  push(item: T): void {
    if (this.count === this.ring.length) this.grow();
    this.ring[(this.head + this.count) & (this.ring.length - 1)] = item;
    this.count++;
  }

  peek(): T | undefined {
    return this.count === 0 ? undefined : this.ring[this.head];
  }

  shift(): T | undefined {
    if (this.count === 0) return undefined;
    const item = this.ring[this.head];
    this.ring[this.head] = undefined;
    this.head = (this.head + 1) & (this.ring.length - 1);
    this.count--;
    return item;
  }

  private grow(): void {
    const items = [...this.ring.slice(this.head), ...this.ring.slice(0, this.head)];
    this.ring = [...items, ...new Array<T | undefined>(items.length).fill(undefined)];
    this.head = 0;
  }
}
