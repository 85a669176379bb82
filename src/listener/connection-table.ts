/** The state of a connection: silent (no request yet), idle (last answer sent) or busy (waiting for an answer). */
export type Standing = 'silent' | 'idle' | 'busy';

export interface ConnectionLimits {
  readonly connectionsMax: number;
  readonly perAddressMax: number;
}

/** If an address has more inactive connections than this share of the limit, the next victim is one of them. */
const CROWD_PART = 1 / 8;

/** A connection's entry in the table. */
export class Place<C> {
  standing: Standing = 'silent';
  hasLeft = false;

  constructor(
    readonly connection: C,
    readonly address: string,
  ) {}
}

/**
 * Connections of one listener; selects the one to close when there are too many. A new connection is never the victim
 * while another connection is inactive. The first victim is the oldest connection without a request, then the oldest
 * idle one. If an address has more inactive connections than an eighth of the limit, the victim is the oldest of the
 * largest such address. Busy connections are never closed. A load balancer therefore loses none of its many idle
 * connections to unknown clients that only connect. Its new connections, however, are treated like those of any other
 * client.
 */
export class ConnectionTable<C> {
  private readonly resting: { readonly silent: Ranking<C>; readonly idle: Ranking<C> };
  private readonly sizes = new Map<string, number>();
  private count = 0;

  constructor(private readonly limits: ConnectionLimits) {
    const crowd = limits.connectionsMax * CROWD_PART;
    this.resting = { silent: new Ranking(crowd), idle: new Ranking(crowd) };
  }

  get size(): number {
    return this.count;
  }

  enter(connection: C, address: string): Place<C> {
    const place = new Place(connection, address);
    this.resting.silent.add(place);
    this.sizes.set(address, this.sizeOf(address) + 1);
    this.count++;
    return place;
  }

  setStanding(place: Place<C>, standing: Standing): void {
    if (place.hasLeft || place.standing === standing) return;
    if (place.standing !== 'busy') this.resting[place.standing].remove(place);
    place.standing = standing;
    if (standing !== 'busy') this.resting[standing].add(place);
  }

  leave(place: Place<C>): void {
    if (place.hasLeft) return;
    place.hasLeft = true;
    if (place.standing !== 'busy') this.resting[place.standing].remove(place);
    const size = this.sizeOf(place.address) - 1;
    if (size === 0) this.sizes.delete(place.address);
    else this.sizes.set(place.address, size);
    this.count--;
  }

  /**
   * Removes the silent connections of an address from the table but leaves them open. One of them has sent a request,
   * but the library does not report which one.
   */
  forgetSilent(address: string): void {
    for (const place of [...this.resting.silent.of(address)]) this.leave(place);
  }

  /** Removes all silent connections from the table without closing them. */
  forgetAll(): void {
    for (const address of this.resting.silent.addressesHeld()) this.forgetSilent(address);
  }

  /**
   * Selects the connection to close because this new one exceeds the limit. Returns the new one itself if all others
   * are busy. `total` is the number of open connections, for a table that does not know all of them.
   */
  findExcess(newcomer: Place<C>, total = this.count): Place<C> | undefined {
    const { silent, idle } = this.resting;
    const { address } = newcomer;
    if (this.sizeOf(address) > this.limits.perAddressMax) {
      return silent.oldestOf(address, newcomer) ?? idle.oldestOf(address, newcomer) ?? newcomer;
    }
    if (total <= this.limits.connectionsMax) return undefined;
    return silent.victim(newcomer) ?? idle.victim(newcomer) ?? newcomer;
  }

  private sizeOf(address: string): number {
    return this.sizes.get(address) ?? 0;
  }
}

/** Connections by address, oldest first, and addresses by number of connections. Each operation takes constant time. */
class Ranking<C> {
  private readonly all = new Set<Place<C>>();
  private readonly places = new Map<string, Set<Place<C>>>();
  /** Addresses with n connections, at index n. Sets beyond index `most` are empty. */
  private readonly addresses: Set<string>[] = [];
  private most = 0;

  constructor(
    /** Number of connections beyond which an address provides the victim. */
    private readonly crowd: number,
  ) {}

  add(place: Place<C>): void {
    const { address } = place;
    this.all.add(place);
    const held = this.places.get(address) ?? new Set();
    if (held.size === 0) this.places.set(address, held);
    this.rank(address, held.size, held.size + 1);
    held.add(place);
  }

  remove(place: Place<C>): void {
    const { address } = place;
    const held = this.places.get(address);
    if (held?.delete(place) !== true) return;
    this.all.delete(place);
    this.rank(address, held.size + 1, held.size);
    if (held.size === 0) this.places.delete(address);
  }

  addressesHeld(): readonly string[] {
    return [...this.places.keys()];
  }

  of(address: string): Iterable<Place<C>> {
    return this.places.get(address) ?? [];
  }

  oldestOf(address: string, except: Place<C>): Place<C> | undefined {
    return oldest(this.of(address), except);
  }

  victim(except: Place<C>): Place<C> | undefined {
    if (this.most <= this.crowd) return oldest(this.all, except);
    for (const address of this.addresses[this.most] ?? []) {
      const place = this.oldestOf(address, except);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  private rank(address: string, from: number, to: number): void {
    this.addresses[from]?.delete(address);
    if (to > 0) {
      this.addresses[to] ??= new Set();
      this.addresses[to].add(address);
      if (to > this.most) this.most = to;
    }
    // Connection counts change by one, so an address that left the highest rank is now in the rank below.
    if (this.most > 0 && (this.addresses[this.most]?.size ?? 0) === 0) this.most--;
  }
}

function oldest<C>(places: Iterable<Place<C>>, except: Place<C>): Place<C> | undefined {
  for (const place of places) if (place !== except) return place;
  return undefined;
}
