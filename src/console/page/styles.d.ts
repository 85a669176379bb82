/** Style sheet that the build merges into the page's style sheet. */
declare module '*.css';
