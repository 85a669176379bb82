/** A style sheet: the build puts it into the page's. */
declare module '*.css';
