export interface StdoutSink {
  /** Resolves to true when the operating system has accepted the text, and to false when the reader has gone. */
  write(text: string): Promise<boolean>;
}

/** Writes output that is too large to be held in memory. */
export function stdoutSink(): StdoutSink {
  // Each write reports its own error to its callback, so this event can be ignored.
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
