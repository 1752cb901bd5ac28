/** The dialog that is open, as it stands in the address: `create`, `edit:ana`; nothing: none. */
export function dialogOf<const V extends string>(
  raw: string,
  verbs: readonly V[],
): { verb: V; name: string } | { verb: 'none'; name: '' } {
  const cut = raw.indexOf(':');
  const word = cut === -1 ? raw : raw.slice(0, cut);
  const verb = verbs.find((each) => each === word);
  return verb === undefined ? { verb: 'none', name: '' } : { verb, name: cut === -1 ? '' : raw.slice(cut + 1) };
}
