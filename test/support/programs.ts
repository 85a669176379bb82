import { accessSync, constants } from 'node:fs';
import { delimiter } from 'node:path';

/** The first of the folders that contains all of the programs; undefined if they are not installed. */
export function findFolderOf(programs: readonly string[], folders = onPath()): string | undefined {
  return folders.find((folder) => programs.every((program) => isExecutable(`${folder}/${program}`)));
}

export function onPath(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
