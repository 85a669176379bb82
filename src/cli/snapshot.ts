import type { Command } from 'commander';
import { addSnapshotList } from './snapshot-list.js';
import { addSnapshotTake } from './snapshot-take.js';

export function addSnapshot(program: Command): void {
  const group = program.command('snapshot').description('list or take the snapshots of a store');
  addSnapshotList(group);
  addSnapshotTake(group);
}
