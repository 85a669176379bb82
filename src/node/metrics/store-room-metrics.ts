import type { Metric } from '../../base/metric.js';
import type { StoreRoom } from '../../store/store.js';
import { gauge } from '../../telemetry/metric.js';

/** The store size and free space; empty until the store has responded once. */
export function storeRoomMetrics(room: StoreRoom | undefined): Metric[] {
  if (room === undefined) return [];
  const { usedBytes, freeBytes } = room;
  return [
    gauge('walletd_store_bytes', 'Bytes used by the store. LMDB: its data; Redis: all of its memory.', usedBytes),
    ...(freeBytes === undefined
      ? []
      : [
          gauge(
            'walletd_store_free_bytes',
            'Bytes that the store has left. LMDB: free disk space; Redis: memory up to maxmemory.',
            freeBytes,
          ),
        ]),
  ];
}
