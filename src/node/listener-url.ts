import type { Settings } from '../config/schema.js';

/** The URL of a listener, without a slash at its end. */
export function urlOf(host: string, port: number, { certificateFile }: Settings['tls']): string {
  return `${certificateFile === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
