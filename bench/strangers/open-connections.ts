import { connect, type Socket } from 'node:net';

/*
 * Opens connections to a loopback port from many loopback addresses, sends nothing on them, and keeps the newest ones
 * open. Clients without a key can do no more than this. Arguments: port, connections per second, number of connections
 * to keep. On Linux, all addresses in 127.0.0.0/8 are local.
 */

const TICK_MS = 10;
const ADDRESSES = 250;

const [port = 0, perSecond = 0, heldMax = 0] = process.argv.slice(2).map(Number);
const held: Socket[] = [];
let opened = 0;

const beganMs = performance.now();
setInterval(() => {
  const dueCount = ((performance.now() - beganMs) * perSecond) / 1000;
  for (; opened < dueCount; opened++) open();
}, TICK_MS);

function open(): void {
  const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${1 + (opened % ADDRESSES)}` });
  socket.on('error', () => {});
  held.push(socket);
  if (held.length > heldMax) held.shift()?.destroy();
}
