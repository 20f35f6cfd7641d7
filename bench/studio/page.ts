/** Programs that run in the page under measurement, one step for each frame that the browser draws. */
import type { Page } from 'playwright-core';

export interface Frames {
  /** Milliseconds from one frame to the next. */
  intervals: number[];
  /** Work of each step, in milliseconds: what the page itself takes of a frame. */
  work: number[];
}

/** Drags a curve to and fro with Shift held, by a few pixels a frame. */
export function pan(page: Page, frames: number): Promise<Frames> {
  return page.evaluate(async (count) => {
    const over = document.querySelector<HTMLElement>('.u-over')!;
    const box = over.getBoundingClientRect();
    const at = (x: number) => ({
      clientX: x,
      clientY: box.top + box.height / 2,
      pointerId: 1,
      bubbles: true,
      shiftKey: true,
    });
    // Nothing holds a pointer that no hand moves.
    over.setPointerCapture = () => undefined;
    const middle = box.left + box.width / 2;
    over.dispatchEvent(new PointerEvent('pointerdown', at(middle)));
    const intervals: number[] = [];
    const work: number[] = [];
    let before = await new Promise<number>(requestAnimationFrame);
    for (let i = 0; i < count; i++) {
      const begun = performance.now();
      over.dispatchEvent(new PointerEvent('pointermove', at(middle + 80 * Math.sin(i / 15))));
      work.push(performance.now() - begun);
      const now = await new Promise<number>(requestAnimationFrame);
      intervals.push(now - before);
      before = now;
    }
    over.dispatchEvent(new PointerEvent('pointerup', at(middle)));
    return { intervals, work };
  }, frames);
}

/** Moves the replay's slider by one step a frame, from one end to the other and back. */
export function scrub(page: Page, frames: number): Promise<Frames> {
  return page.evaluate(async (count) => {
    const slider = document.querySelector<HTMLInputElement>('input.scrub')!;
    const last = Number(slider.max);
    const intervals: number[] = [];
    const work: number[] = [];
    let before = await new Promise<number>(requestAnimationFrame);
    for (let i = 0; i < count; i++) {
      const place = i % (2 * last);
      const begun = performance.now();
      slider.value = String(place <= last ? place : 2 * last - place);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      work.push(performance.now() - begun);
      const now = await new Promise<number>(requestAnimationFrame);
      intervals.push(now - before);
      before = now;
    }
    return { intervals, work };
  }, frames);
}

/** Collects the tasks that kept the page's own thread for more than 50 ms; ask for them with `longTasks`. */
export async function watchTasks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { longTasks: tasks });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push(entry.duration);
    }).observe({ type: 'longtask', buffered: true });
  });
}

export function longTasks(page: Page): Promise<number[]> {
  return page.evaluate(() => (globalThis as unknown as { longTasks: number[] }).longTasks.splice(0));
}
