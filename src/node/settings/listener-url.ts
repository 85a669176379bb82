import type { Settings } from '../../config/schema.js';

export function urlOf(host: string, port: number, { certificateFile }: Settings['tls']): string {
  return `${certificateFile === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
