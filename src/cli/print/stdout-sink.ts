export interface StdoutSink {
  /** Resolves when the system has taken the text; to false when the reader has gone. */
  write(text: string): Promise<boolean>;
}

/** For what is too long to be held in memory until it is written. */
export function stdoutSink(): StdoutSink {
  // Each write is told its own error.
  process.stdout.on('error', () => {});
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => {
          if (error === null || error === undefined) resolve(true);
          // The reader has seen enough.
          else if ((error as NodeJS.ErrnoException).code === 'EPIPE') resolve(false);
          else reject(error);
        });
      }),
  };
}
