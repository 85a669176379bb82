/**
 * A first-in, first-out queue in a ring buffer whose size is a power of two. The buffer doubles when it is full and
 * never shrinks.
 *
 *      head          tail
 *        v             v
 *   [ . | a | b | c | . | . | . | . ]
 *
 * An array would be slow here: its `shift` moves every element of a long array, and under load queues are long. The
 * caller must enforce a limit, because only the caller knows how to refuse an element.
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
