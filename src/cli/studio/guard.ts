/** Who may talk to the studio: pages of its own address, and on an address that others can reach only those who hold the token. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

const cookie = 'trueline-token';

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Everything that a page may load comes from here; pictures may also be made on the spot, workers and styles too, scripts never. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function securityHeaders(): MiddlewareHandler {
  return async (context, next) => {
    await next();
    const { headers } = context.res;
    headers.set('Content-Security-Policy', contentSecurityPolicy);
    headers.set('Cross-Origin-Opener-Policy', 'same-origin');
    headers.set('Cross-Origin-Embedder-Policy', 'require-corp');
    headers.set('Cross-Origin-Resource-Policy', 'same-origin');
    headers.set('X-Content-Type-Options', 'nosniff');
    headers.set('Referrer-Policy', 'no-referrer');
  };
}

/**
 * Without a token only loopback names are answered, so that a page that points its own name at this address (DNS rebinding) is not.
 * A request from another origin is refused always.
 */
export function onlyOwnPages(token: string | undefined): MiddlewareHandler {
  return async (context, next) => {
    const host = context.req.header('host') ?? '';
    const name = host.replace(/:\d+$/, '');
    if (token === undefined && !isLoopback(name))
      return context.text(`The studio answers to 127.0.0.1 and localhost, and was asked for as ${name}.\n`, 403);
    const origin = context.req.header('origin');
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
      return context.text('The studio answers to its own pages alone.\n', 403);
    const site = context.req.header('sec-fetch-site');
    if (site === 'cross-site' && context.req.header('sec-fetch-mode') !== 'navigate')
      return context.text('The studio answers to its own pages alone.\n', 403);
    await next();
  };
}

/** The token comes once in the address and is kept in a cookie from then on. */
export function requireToken(token: string | undefined): MiddlewareHandler {
  return async (context, next) => {
    if (token === undefined) return next();
    const asked = context.req.query('token');
    if (asked !== undefined && same(asked, token)) {
      setCookie(context, cookie, token, { httpOnly: true, sameSite: 'Strict', path: '/' });
      const address = new URL(context.req.url);
      address.searchParams.delete('token');
      // Two slashes at the front would name another host.
      return context.redirect(`/${address.pathname.replace(/^[/\\]+/, '')}${address.search}`);
    }
    const held = getCookie(context, cookie);
    if (held !== undefined && same(held, token)) return next();
    return context.text('The studio wants its token: open the address that it printed when it started.\n', 401);
  };
}

function same(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
