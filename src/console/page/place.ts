import { useEffect, useState } from 'preact/hooks';

/** A view and its parameters. The address contains all of them, so that it can be shared. */
export interface Place {
  readonly view: string;
  readonly about: URLSearchParams;
}

const ROOT = '/console/';
const listeners = new Set<() => void>();

export function hrefOf(view: string, about: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(Object.entries(about).filter(([, value]) => value !== '')).toString();
  return `${ROOT}${view}${query === '' ? '' : `?${query}`}`;
}

export function goTo(href: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', href);
  else history.replaceState(null, '', href);
  for (const hear of listeners) hear();
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const hear = () => setPlace(here());
    listeners.add(hear);
    addEventListener('popstate', hear);
    return () => {
      listeners.delete(hear);
      removeEventListener('popstate', hear);
    };
  }, []);
  return place;
}

/** Handles clicks on links within the console, so that they change the view without reloading the page. */
export function followLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (
    link === null ||
    link.hasAttribute('download') ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey
  )
    return;
  if (link.origin !== location.origin || !link.pathname.startsWith(ROOT) || link.target !== '' || link.hash !== '')
    return;
  event.preventDefault();
  goTo(link.href);
}

function here(): Place {
  return { view: location.pathname.slice(ROOT.length), about: new URLSearchParams(location.search) };
}
