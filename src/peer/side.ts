/** The end of a link: the dialling end or the listening end. */
export type Side = 'dials' | 'listens';
