/** The view as one HTML file that needs no network and runs no script: what is on the page, with controls as text and drawings as pictures. */

/** How to draw what a clone would lose, by the element that holds it. */
const drawings = new WeakMap<Element, () => string>();

/** Says how an element's drawing is made again as SVG. */
export function drawnBy(element: Element, svg: () => string): void {
  drawings.set(element, svg);
}

export function snapshot(view: HTMLElement, title: string): string {
  const copy = view.cloneNode(true) as HTMLElement;
  const originals = [...view.querySelectorAll('*')];
  const copies = [...copy.querySelectorAll('*')];
  for (const [i, original] of originals.entries()) still(original, copies[i] as HTMLElement);
  const page = document.implementation.createHTMLDocument(title);
  const { lang, dataset } = document.documentElement;
  page.documentElement.lang = lang;
  page.documentElement.dataset.theme = dataset.theme ?? 'light';
  const add = (name: string, attributes: Record<string, string>, text = '') => {
    const made = page.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    page.head.append(made);
  };
  add('meta', {
    'http-equiv': 'Content-Security-Policy',
    content: "default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  });
  add('meta', { name: 'viewport', content: 'width=device-width,initial-scale=1' });
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText));
  add('style', {}, rules.join('\n'));
  const heading = page.createElement('h1');
  heading.textContent = title;
  copy.prepend(heading);
  page.body.append(page.adoptNode(copy));
  // The character set comes first, or a reader may guess another.
  return `<!doctype html>\n${page.documentElement.outerHTML.replace('<head>', '<head><meta charset="utf-8">')}\n`;
}

/** Makes one element of the copy show what the original shows, without anything behind it. */
function still(original: Element, copy: HTMLElement): void {
  const draw = drawings.get(original);
  if (original.getAttribute('data-export') === 'skip' || original.classList.contains('tip')) copy.remove();
  else if (draw) copy.replaceChildren(parse(draw()));
  else if (original instanceof HTMLCanvasElement) copy.replaceWith(picture(original));
  else if (original instanceof HTMLSelectElement) copy.replaceWith(text(original.selectedOptions[0]?.text ?? ''));
  else if (original instanceof HTMLInputElement) {
    if (original.type === 'checkbox') copy.replaceWith(text(original.checked ? '☑' : '☐'));
    else if (original.type === 'file' || original.value === '') copy.remove();
    else copy.replaceWith(text(original.value));
  } else if (original instanceof HTMLButtonElement) {
    // A button that says what is chosen is content; others only act.
    if (original.getAttribute('aria-pressed') === 'true') copy.replaceWith(text(original.textContent?.trim() ?? ''));
    else copy.remove();
  } else if (original instanceof HTMLDetailsElement) copy.setAttribute('open', '');
  else if (original instanceof HTMLAnchorElement) copy.removeAttribute('href');
}

function text(content: string): HTMLElement {
  const made = document.createElement('b');
  made.textContent = content;
  return made;
}

function parse(svg: string): Node {
  return document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true);
}

function picture(canvas: HTMLCanvasElement): HTMLImageElement {
  const image = document.createElement('img');
  image.src = canvas.toDataURL('image/png');
  image.alt = '';
  image.style.maxWidth = '100%';
  return image;
}
