/** The program's version as package.json states it. The build writes this file; change package.json. */
export const version = '0.2.0';
