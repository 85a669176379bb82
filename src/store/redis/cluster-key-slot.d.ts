declare module 'cluster-key-slot' {
  /** The slot of a key in a Redis Cluster: CRC16 of it, or of its hash tag, modulo 16384. */
  export default function calculateSlot(key: string): number;
}
