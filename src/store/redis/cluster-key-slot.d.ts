/** The package has no types of its own. */
declare module 'cluster-key-slot' {
  /** A key's slot in a Redis Cluster: CRC16 of the key or of its hash tag, modulo 16384. */
  function calculateSlot(key: string): number;
  export = calculateSlot;
}
