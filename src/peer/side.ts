/** Whether it has dialled, or has been dialled. */
export type Side = 'dials' | 'listens';
