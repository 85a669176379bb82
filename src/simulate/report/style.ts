/** Style sheet of the HTML report. */
export const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } small { color: #666; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top; }
details { border-bottom: 1px solid #ddd; padding: .3rem 0; } summary { cursor: pointer; }
.agrees { color: #17672e; } .differs { color: #b3261e; font-weight: 600; } .unknown { color: #8a5300; } .skipped, .known { color: #666; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; font-size: 12px; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } pre { background: #262626; } td, th, details { border-color: #444; }
small { color: #999; } .agrees { color: #7bd88f; } .differs { color: #ff8a80; } .unknown { color: #ffca6a; } .skipped, .known { color: #999; } }
`;
