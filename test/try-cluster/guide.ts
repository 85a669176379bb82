import { formatTable } from '../../src/cli/print/table.js';
import { bet } from '../support/client.js';
import { type LocalCluster, nameOf } from '../support/local-cluster.js';

const PLAYER = 'ann';

/** The table of all listening addresses. */
export function addresses(cluster: LocalCluster, folder: string): string {
  const nodes = cluster.nodes.map((node, i) => [nameOf(i), node?.callbackUrl ?? '', node?.adminUrl ?? '']);
  const rows = [['balancer', cluster.callbackUrl, cluster.adminUrl], ...nodes];
  return `\n${formatTable(['', 'callbacks', 'operator API'], rows)}\n\nall files are in ${folder}`;
}

/** Commands for another terminal. */
export function firstBet({ callbackUrl, adminUrl, token, nodes }: LocalCluster): string {
  const operator = `curl -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json'`;
  const json = (body: object) => `-d '${JSON.stringify(body)}'`;
  return [
    '\nThe first bet, from another terminal:',
    `  ${operator} -X PUT ${adminUrl}/v1/players/${PLAYER} ${json({ currency: 'THB' })}`,
    `  ${operator} ${adminUrl}/v1/players/${PLAYER}/deposits ${json({ id: 'd-1', amount: 1000 })}`,
    `  curl ${callbackUrl}/placeBets ${json(bet(PLAYER, 'bet-1', 10))}`,
    'Nodes, shards and the newest entries:',
    `  WALLETD_ADMIN_TOKEN=${token} src/cli/walletd.sh cluster status --server ${nodes[0]?.adminUrl}`,
  ].join('\n');
}
