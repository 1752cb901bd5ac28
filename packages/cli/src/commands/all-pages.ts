interface Page<T> {
  readonly nodes: readonly T[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** At most so many rows of a list are printed, unless a command says otherwise. */
const maxListed = 2_000;
const largestPage = 200;

/** Reads a connection page by page, up to `most` rows; `more` says that there were further ones. */
export async function allPages<T>(
  read: (first: number, after: string | null) => Promise<Page<T>>,
  most = maxListed,
): Promise<{ readonly nodes: T[]; readonly more: boolean }> {
  const nodes: T[] = [];
  let after: string | null = null;
  for (;;) {
    const page: Page<T> = await read(Math.min(largestPage, most - nodes.length), after);
    nodes.push(...page.nodes);
    after = page.pageInfo.endCursor;
    if (!page.pageInfo.hasNextPage || after === null) return { nodes, more: false };
    if (nodes.length >= most) return { nodes, more: true };
  }
}
