const MAX_LENGTH = 2_000;
/** Nothing that could be read as another address by some browser: no backslash, no control character, and not two slashes first. */
const PATH = /^\/(?![/\\])[^\\\p{Cc}]*$/u;
const BASE = 'http://self.invalid';

/** The path where a browser goes after a login: one of this server, as far as it is one; else the first page. */
export function returnPath(wanted: string | null): string {
  if (wanted === null || wanted.length > MAX_LENGTH || !PATH.test(wanted) || !URL.canParse(wanted, BASE)) return '/';
  const { origin, pathname, search } = new URL(wanted, BASE);
  // What dots in it came to counts too. The login itself is no place to return to.
  if (origin !== BASE || !PATH.test(pathname) || /^\/(login|session)(\/|$)/.test(pathname)) return '/';
  return `${pathname}${search}`;
}
