/** Tells charts whether they are in sight or nearly so: of many charts only those that somebody is about to see are drawn. */

/** How far outside the window a chart is drawn already. */
const margin = '500px 0px';

const told = new WeakMap<Element, (near: boolean) => void>();
let watch: IntersectionObserver | undefined;

/** Calls `tell` whenever the element comes near the window or leaves it, until the returned function is called. */
export function watchNear(element: Element, tell: (near: boolean) => void): () => void {
  watch ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) told.get(target)?.(isIntersecting);
    },
    { rootMargin: margin },
  );
  told.set(element, tell);
  watch.observe(element);
  // On paper everything is in sight.
  const all = () => tell(true);
  globalThis.addEventListener('beforeprint', all);
  return () => {
    watch?.unobserve(element);
    told.delete(element);
    globalThis.removeEventListener('beforeprint', all);
  };
}
