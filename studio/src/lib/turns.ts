/** Work that is done piece by piece, so that many pieces at once do not keep the page from answering. */
let line: Promise<unknown> = Promise.resolve();

export function inTurn(work: () => void): void {
  line = line.then(() => new Promise((resolve) => setTimeout(resolve))).then(work);
}
