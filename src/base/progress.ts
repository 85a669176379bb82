/** Reports the progress of long work. `total` is an estimate that may still grow. */
export type OnProgress = (done: number, total: number) => void;
