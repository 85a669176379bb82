export interface StdoutSink {
  /**
   * Resolves to true once the operating system has accepted the text, and to false if the reader has closed the pipe.
   */
  write(text: string): Promise<boolean>;
}

/** Writes output that is too large to be held in memory. */
export function stdoutSink(): StdoutSink {
  // Ignore this event, because each write reports its error to its own callback.
  process.stdout.on('error', () => {});
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => {
          if (error === null || error === undefined) resolve(true);
          // The reader closed the pipe.
          else if ((error as NodeJS.ErrnoException).code === 'EPIPE') resolve(false);
          else reject(error);
        });
      }),
  };
}
