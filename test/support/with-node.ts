import { importPlayers } from './client.js';
import { TestNode } from './test-node.js';

/** Runs a function with a node on which ann has a balance of 100. */
export async function withNode(
  settings: Record<string, unknown>,
  run: (node: TestNode) => Promise<void>,
): Promise<void> {
  const node = await TestNode.start(settings);
  try {
    await importPlayers(node.adminUrl, ['ann'], 100);
    await run(node);
  } finally {
    await node.close();
  }
}
