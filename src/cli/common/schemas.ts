/** What the schemas say of a wrong setting, in Chinese. Asked for by name: an import of all of zod on demand would bring all of it into the bundle, and what a page cannot load with it. */
import { config } from 'zod';
import chinese from 'zod/v4/locales/zh-CN.js';

export function speakChinese(): void {
  config(chinese());
}
