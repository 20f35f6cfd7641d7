/** Connections to Redis from an address. Passwords are in the address and never in a message. */

import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { type Pair, told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';

export interface RedisAddress {
  /** redis://host:6379 or rediss://user:password@host:6380/0. */
  url: string;
  /** A file with the certificate that signed the server's, where the system does not know it. */
  ca?: string;
}

/** Options that both our own connection and BullMQ's are made with. Commands wait while Redis is away, however long. */
export function redisOptions({ url, ca }: RedisAddress) {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new BadInput(
      told(
        '--redis is no address; give one such as redis://127.0.0.1:6379',
        '--redis 不是地址；请给出例如 redis://127.0.0.1:6379',
      ),
    );
  }
  if (parsed.protocol !== 'redis:' && parsed.protocol !== 'rediss:')
    throw new BadInput(
      told(
        `--redis begins with ${parsed.protocol}; give redis://HOST:PORT, or rediss://HOST:PORT for TLS`,
        `--redis 以 ${parsed.protocol} 开头；请给出 redis://HOST:PORT，或用 TLS 的 rediss://HOST:PORT`,
      ),
    );
  const db = Number(parsed.pathname.slice(1) || 0);
  if (!Number.isInteger(db))
    throw new BadInput(
      told(
        `--redis names the database ${parsed.pathname.slice(1)}; give a number`,
        `--redis 的数据库写作 ${parsed.pathname.slice(1)}；请给出数字`,
      ),
    );
  return {
    // Without the brackets that an IPv6 address has in a URL.
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: Number(parsed.port || 6379),
    db,
    ...(parsed.username ? { username: decodeURIComponent(parsed.username) } : {}),
    ...(parsed.password ? { password: decodeURIComponent(parsed.password) } : {}),
    ...(parsed.protocol === 'rediss:' ? { tls: ca ? { ca: readFileSync(ca) } : {} } : {}),
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(2000, 100 * times),
  };
}

/** The address without what is secret in it. */
export function shownAddress({ url }: RedisAddress): string {
  const parsed = new URL(url);
  return `${parsed.protocol}//${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}`;
}

/** The address as part of a command to be typed, with a word where the password was. */
export function typedAddress({ url }: RedisAddress): string {
  const parsed = new URL(url);
  if (parsed.password) parsed.password = 'PASSWORD';
  return parsed.href;
}

/** How long an answer may take before Redis counts as gone, in milliseconds: a network that swallows packets sends no error. */
const usualPatience = 10_000;

/** What Redis or the network says, and what it means to whoever gave the address. */
const meanings: [RegExp, Pair][] = [
  [
    /ECONNREFUSED/,
    [
      'nothing listens there; start redis-server, or give another address',
      '那里没有服务在监听；请启动 redis-server，或换一个地址',
    ],
  ],
  [/ENOTFOUND|EAI_AGAIN/, ['there is no such host; give another address', '没有这个主机；请换一个地址']],
  [/WRONGPASS/, ['the password is wrong', '密码错误']],
  [
    /NOAUTH/,
    [
      'it asks for a password; give it in the address, as in redis://:PASSWORD@HOST:PORT',
      '它要求密码；请写在地址里，例如 redis://:PASSWORD@HOST:PORT',
    ],
  ],
  [
    /ETIMEDOUT/,
    [
      'it does not answer; look at host and port, and whether both sides speak TLS (redis:// or rediss://)',
      '它没有回应；请检查主机和端口，以及两端是否都用 TLS（redis:// 或 rediss://）',
    ],
  ],
  [
    /certificate/i,
    [
      'its certificate is not trusted; give the one that signed it with --ca FILE',
      '它的证书不受信任；请用 --ca FILE 给出签发者的证书',
    ],
  ],
  [
    /\bSSL\b|wrong version number|ECONNRESET/,
    [
      'one side speaks TLS and the other does not; try the other of redis:// and rediss://',
      '一端用 TLS 而另一端不用；请改用 redis:// 或 rediss:// 中的另一个',
    ],
  ],
];

function cannotBeUsed(address: RedisAddress, error: unknown): BadInput {
  const { message, code = '' } = error as NodeJS.ErrnoException;
  const meaning =
    meanings.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1] ?? ([message, message] as const);
  return new BadInput(
    told(
      `Redis at ${shownAddress(address)} cannot be used: ${meaning[0]}`,
      `位于 ${shownAddress(address)} 的 Redis 无法使用：${meaning[1]}`,
    ),
  );
}

/**
 * Does something with a connection that never waits for a Redis that is gone: whatever is under way when the connection ends,
 * or gets no answer, fails with one sentence.
 */
export async function askOnce<T>(
  address: RedisAddress,
  ask: (client: Redis) => Promise<T>,
  patience = usualPatience,
): Promise<T> {
  const client = new Redis({
    ...redisOptions(address),
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: patience,
    commandTimeout: patience,
  });
  // Every failure is also an event, and one that nobody hears would end the program; the first says why, later ones that the connection is closed.
  let first: Error | undefined;
  client.on('error', (error: Error) => {
    first ??= error;
  });
  try {
    await client.connect();
    const version = /redis_version:(\d+)/.exec(await client.info('server'))?.[1];
    if (Number(version) < 7) throw new Error(`it is version ${version}, and 7 or later is needed`);
    return await ask(client);
  } catch (error) {
    throw cannotBeUsed(address, first ?? error);
  } finally {
    client.disconnect();
  }
}

/** A connection that outlives a restart of Redis. Says in a sentence why Redis cannot be reached, before anybody waits for it. */
export async function connect(address: RedisAddress): Promise<Redis> {
  await askOnce(address, async () => undefined);
  const lasting = new Redis(redisOptions(address));
  lasting.on('error', () => undefined);
  return lasting;
}
