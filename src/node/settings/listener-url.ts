import type { Settings } from '../../config/schema.js';

/** URL of a listener, without a trailing slash. */
export function urlOf(host: string, port: number, { certificateFile }: Settings['tls']): string {
  return `${certificateFile === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
