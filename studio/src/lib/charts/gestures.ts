/** What hands do on a chart: a dragged box zooms, with Shift it pans, a double click shows everything, Ctrl and the wheel zoom, a click points at a moment. The plain wheel is the page's own. */

export interface Gestures {
  /** A stretch of the plot in pixels, from its upper left corner; the heights are left out where the box is flat. */
  box(left: number, right: number, heights?: [number, number]): void;
  pan(share: number, done: boolean): void;
  zoom(at: number, factor: number): void;
  reset(): void;
  pick(at: number): void;
}

/** Pixels that a hand moves without meaning to. */
const slack = 4;
/** A box flatter than this is a stretch of the axis alone. */
const flat = 24;

export function listen(over: HTMLElement, on: Gestures): void {
  const shown = document.createElement('div');
  shown.className = 'zoom-box';
  over.append(shown);
  let from: { x: number; y: number; pan: boolean; moved: boolean; last: number } | undefined;
  let clicked: ReturnType<typeof setTimeout> | undefined;
  over.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      on.zoom(event.offsetX, event.deltaY > 0 ? 1.25 : 0.8);
    },
    { passive: false },
  );
  const place = (event: PointerEvent) => {
    const box = over.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  over.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    const { x, y } = place(event);
    from = { x, y, pan: event.shiftKey, moved: false, last: x };
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener('pointermove', (event) => {
    if (!from) return;
    const { x, y } = place(event);
    if (Math.abs(x - from.x) > slack || (event.pointerType === 'mouse' && Math.abs(y - from.y) > flat))
      from.moved = true;
    if (!from.moved) return;
    if (from.pan) {
      on.pan((from.last - x) / over.clientWidth, false);
      from.last = x;
      return;
    }
    const tall = Math.abs(y - from.y) > flat;
    Object.assign(shown.style, {
      display: 'block',
      left: `${Math.min(x, from.x)}px`,
      width: `${Math.abs(x - from.x)}px`,
      top: tall ? `${Math.min(y, from.y)}px` : '0',
      height: tall ? `${Math.abs(y - from.y)}px` : '100%',
    });
  });
  const end = (event: PointerEvent) => {
    const begun = from;
    from = undefined;
    shown.style.display = 'none';
    if (!begun || event.type === 'pointercancel') return;
    const { x, y } = place(event);
    if (!begun.moved) {
      // A second click soon after makes it a double one.
      clearTimeout(clicked);
      clicked = setTimeout(() => on.pick(begun.x), 250);
      return;
    }
    if (begun.pan) on.pan(0, true);
    else if (Math.abs(x - begun.x) > slack)
      on.box(
        Math.max(0, Math.min(x, begun.x)),
        Math.min(over.clientWidth, Math.max(x, begun.x)),
        Math.abs(y - begun.y) > flat
          ? [Math.max(0, Math.min(y, begun.y)), Math.min(over.clientHeight, Math.max(y, begun.y))]
          : undefined,
      );
  };
  over.addEventListener('pointerup', end);
  over.addEventListener('pointercancel', end);
  over.addEventListener('dblclick', () => {
    clearTimeout(clicked);
    on.reset();
  });
}
