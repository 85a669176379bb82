/** A started server process. */
export interface ServerProcess {
  /** Asks the process to end. It may have ended already. */
  stop(): void;
  /** Settles when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

/** Runs one server at a time, and replaces it after each successful build. */
export class DevServer {
  private server: ServerProcess | undefined = undefined;
  private isWanted = false;
  private isReplacing = false;
  private isOver = false;

  constructor(private readonly start: () => ServerProcess) {}

  /**
   * Replaces the server after a successful build. All builds that succeed while the former server stops cause one
   * replacement.
   */
  built(): void {
    if (this.isOver) return;
    this.isWanted = true;
    if (!this.isReplacing) void this.replace();
  }

  /** Stops the server for ever. */
  async stop(): Promise<void> {
    this.isOver = true;
    this.isWanted = false;
    await this.stopped();
  }

  private async replace(): Promise<void> {
    this.isReplacing = true;
    while (this.isWanted) {
      await this.stopped();
      if (this.isOver) break;
      this.isWanted = false;
      this.server = this.start();
    }
    this.isReplacing = false;
  }

  private async stopped(): Promise<void> {
    this.server?.stop();
    await this.server?.ended;
    this.server = undefined;
  }
}
