import type { Metric } from '../../base/metric.js';
import type { StoreRoom } from '../../store/store.js';
import { gauge } from '../../telemetry/metric.js';

/** Store size and free space; empty until the store has responded once. */
export function storeRoomMetrics(room: StoreRoom | undefined): Metric[] {
  if (room === undefined) return [];
  const { usedBytes, freeBytes } = room;
  return [
    gauge('walletd_store_bytes', 'Bytes that the store takes: of LMDB its data, of Redis all its memory.', usedBytes),
    ...(freeBytes === undefined
      ? []
      : [
          gauge(
            'walletd_store_free_bytes',
            'Bytes that the store can still take: of LMDB the disk, of Redis up to maxmemory.',
            freeBytes,
          ),
        ]),
  ];
}
