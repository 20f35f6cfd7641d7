/** A Redis that goes away in the middle of an answer: whoever only looks is told so in a sentence and never waits. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { askOnce } from './connection.ts';
import { queueStatus } from './status.ts';

/** Answers so many commands as Redis 7 would, then cuts every connection and takes no other; or, where told, falls silent. */
async function shortLived(answers: number, end: 'gone' | 'silent') {
  const sockets = new Set<Socket>();
  let left = answers;
  const info = 'redis_version:7.2.0\r\nloading:0\r\n';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      // One command is one line that begins with *, whatever it asks for.
      for (const command of bytes.toString('latin1').split(/^\*/m).slice(1)) {
        if (left-- > 0) {
          const asksInfo = /^info\r?$/im.test(command);
          socket.write(asksInfo ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
        } else if (end === 'gone') {
          server.close();
          for (const each of sockets) each.destroy();
          return;
        }
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.close();
    for (const each of sockets) each.destroy();
  };
  return { address: { url }, close };
}

describe('a look at a queue', () => {
  it.each([0, 1, 2, 3, 4, 5, 6])(
    'says that Redis is gone where it goes after %i answers',
    async (answers) => {
      const { address, close } = await shortLived(answers, 'gone');
      await expect(queueStatus(address, 'seen')).rejects.toThrow(
        /^Redis at redis:\/\/127\.0\.0\.1:\d+ cannot be used: /,
      );
      close();
    },
    10_000,
  );

  it('says so where Redis holds the connection and never answers', async () => {
    const { address, close } = await shortLived(4, 'silent');
    const asked = askOnce(address, (client) => client.hgetall('machines'), 300);
    await expect(asked).rejects.toThrow(/^Redis at redis:\/\/127\.0\.0\.1:\d+ cannot be used: /);
    close();
  }, 10_000);
});
