/** End of a link: the dialling or the listening one. */
export type Side = 'dials' | 'listens';
