/** What every page of a report has around it: one file, no script, no network, light and dark. */

import { told } from '../../language/language.ts';
import { safeText } from '../safe-text.ts';
import { pageStyle } from './page-style.ts';

/** `body` holds parts that are already safe. */
export function pageShell(title: string, body: readonly string[]): string {
  return [
    '<!doctype html>',
    `<html lang="${told('en', 'zh')}"><head><meta charset="utf-8">`,
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${safeText(title)}</title><style>${pageStyle}</style></head><body>`,
    ...body.filter((part) => part !== ''),
    '</body></html>',
    '',
  ].join('\n');
}
