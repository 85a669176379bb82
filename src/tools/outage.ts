/** Logs a warning when an outage begins and another one when it ends. */
export class Outage {
  private isOn = false;

  constructor(private readonly warn: (sentence: string) => void) {}

  begin({ message }: Error): void {
    if (!this.isOn) this.warn(`the store cannot be read, retrying: ${message}`);
    this.isOn = true;
  }

  end(): void {
    if (this.isOn) this.warn('the store can be read again');
    this.isOn = false;
  }
}
