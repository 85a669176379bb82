import { execFileSync } from 'node:child_process';
import { ROOT } from './pages.js';

const LENGTH_MAX = 72;
/** Areas, a colon, and a summary of the commit, for example "store, docs: name the archive of a backup". */
const SUBJECT = /^[a-z][\w./-]*(?:, [a-z-][\w./-]*)*: [a-z`]/;
const UPSTREAMS = ['@{upstream}', 'HEAD~20'];

/** Why a commit subject is invalid; undefined if it is valid. */
export function findFault(subject: string): string | undefined {
  if (subject.length > LENGTH_MAX) return `${subject.length} characters, and ${LENGTH_MAX} are allowed: ${subject}`;
  if (!SUBJECT.test(subject)) return `no "area: imperative summary": ${subject}`;
  return subject.endsWith('.') ? `a period at the end: ${subject}` : undefined;
}

/** Subjects of the commits that upstream lacks, or of the last twenty. Empty outside a clone. */
export function newSubjects(): string[] {
  for (const upstream of UPSTREAMS) {
    try {
      const args = ['log', '--no-merges', '--format=%s', `${upstream}..HEAD`];
      const out = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      return out.split('\n').filter((line) => line !== '');
    } catch {}
  }
  return [];
}
