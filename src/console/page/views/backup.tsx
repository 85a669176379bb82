import type { Backup } from '../../../admin/console/overview.js';
import { Time } from '../parts/time.js';
import { bytes, count, duration } from '../words.js';

/** The progress of the followed backup, as far as this node knows it. */
export function BackupState({ backup }: { readonly backup: Backup }) {
  return (
    <section class="card" aria-label="Followed backup">
      <h2>FollowedLog backup</h2>
      {backup.state === 'seen' && (
        <p>
          Complete up to <Time ms={backup.coveredMs} />, {duration(Date.now() - backup.coveredMs)} ago;{' '}
          {count(backup.lagEntries)} entries behind. The current file has {bytes(backup.fileBytes)} and is{' '}
          {duration(Date.now() - backup.fileBegunMs)} old.
          {backup.thenFailures > 0 && ` The command of --then has failed ${count(backup.thenFailures)} times.`}
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
          walletd cannot see backups by itself: <code>walletd backup --follow</code> is a separate process that only
          reads the store, perhaps on another machine. If it runs on this machine with <code>--metrics FILE</code>, set{' '}
          <code>backup.metricsFile</code> to that file to see its progress here. Only <code>walletd verify FILE</code>{' '}
          proves that a backup can be restored.
        </p>
      )}
      {backup.state !== 'unseen' && (
        <p class="hint">
          walletd sees only this backup. Only <code>walletd verify FILE</code> proves that a backup can be restored.
        </p>
      )}
    </section>
  );
}
