/** Style sheet, which the build merges into that of the page. */
declare module '*.css';
