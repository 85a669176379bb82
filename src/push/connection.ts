/** A connection that is opened when it is first used, and again after each failure. */
export class Connection<C> {
  private opening: Promise<C> | undefined = undefined;

  constructor(
    private readonly open: () => Promise<C>,
    private readonly end: (connection: C) => Promise<void> | void,
  ) {}

  /** Closes the connection if `run` rejects. */
  async use<T>(run: (connection: C) => Promise<T>): Promise<T> {
    this.opening ??= this.open();
    try {
      return await run(await this.opening);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const opening = this.opening;
    this.opening = undefined;
    try {
      if (opening !== undefined) await this.end(await opening);
    } catch {
      // A connection that failed or never opened need not be closed.
    }
  }
}
