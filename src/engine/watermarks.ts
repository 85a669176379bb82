import { assert } from '../base/assert.js';
import type { Lsn } from '../ports/lsn.js';

/**
 * The progress of a shard, as sequence numbers in its log:
 *
 *   applied >= appended >= durable
 *
 * applied   newest entry whose events are in memory, including one that is still being formed
 * appended  newest entry handed to the store
 * durable   newest durable entry; replies show nothing newer
 */
export class Watermarks {
  applied: number;
  appended: number;
  durable: number;

  constructor(recovered: Lsn) {
    this.applied = recovered.sequence;
    this.appended = recovered.sequence;
    this.durable = recovered.sequence;
  }

  check(): void {
    assert(this.applied >= this.appended && this.appended >= this.durable, 'applied >= appended >= durable');
    assert(this.applied - this.durable <= 2, 'at most one entry is being formed and one is pending');
  }
}
