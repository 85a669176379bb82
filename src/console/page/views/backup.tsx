import type { Backup } from '../../../admin/console/overview.js';
import { Time } from '../parts/time.js';
import { bytes, count, duration } from '../words.js';

/** Progress of the followed backup, as far as this node knows. */
export function BackupState({ backup }: { readonly backup: Backup }) {
  return (
    <section class="card" aria-label="The followed backup">
      <h2>Followed backup</h2>
      {backup.state === 'seen' && (
        <p>
          It has all that the store had {duration(Date.now() - backup.coveredMs)} ago, at <Time ms={backup.coveredMs} />
          . {count(backup.lagEntries)} entries behind; {bytes(backup.fileBytes)} in the file that was begun{' '}
          {duration(Date.now() - backup.fileBegunMs)} ago
          {backup.thenFailures > 0 && `; the command of --then has failed ${count(backup.thenFailures)} times`}.
        </p>
      )}
      {backup.state === 'unreadable' && (
        <p class="note warn">
          <strong>
            <bdi>{backup.path}</bdi> cannot be read:
          </strong>{' '}
          {backup.reason}. Is <code>walletd backup --follow --metrics</code> running on this machine?
        </p>
      )}
      {backup.state === 'unseen' && (
        <p class="hint">
          walletd cannot see backups: <code>walletd backup --follow</code> is a process of its own, which only reads the
          store, perhaps on another machine. Where one runs on this machine with <code>--metrics FILE</code>, name that
          file in the setting <code>backup.metricsFile</code>, and it is told here. Whether a backup can be restored,
          only <code>walletd verify FILE</code> proves.
        </p>
      )}
      {backup.state !== 'unseen' && (
        <p class="hint">
          Of other backups walletd knows nothing, and whether this one can be restored, only{' '}
          <code>walletd verify FILE</code> proves.
        </p>
      )}
    </section>
  );
}
