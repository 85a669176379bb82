/** Called while long work goes on; `total` is an estimate that may still grow. */
export type OnProgress = (done: number, total: number) => void;
