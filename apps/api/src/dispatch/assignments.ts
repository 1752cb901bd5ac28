/** An assignment of which nothing has been heard yet. */
export interface OpenAssignment {
  id: string;
  generation: number;
  revision: number;
  workerId: number;
  workerName: string;
  /** Monotonic ms. */
  at: number;
}

/** What was assigned and not claimed yet, in the order in which it was assigned. A hint with a newer revision closes it. */
export class OpenAssignments {
  readonly #open = new Map<string, OpenAssignment>();

  get size(): number {
    return this.#open.size;
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  add(assignment: OpenAssignment): void {
    this.#open.delete(assignment.id);
    this.#open.set(assignment.id, assignment);
  }

  /** Something newer has happened to it. */
  heard(id: string, revision: number): void {
    const known = this.#open.get(id);
    if (known !== undefined && revision > known.revision) this.#open.delete(id);
  }

  /** Takes out at most `limit` that are older than `before` (monotonic ms). */
  takeOlderThan(before: number, limit: number): OpenAssignment[] {
    const due: OpenAssignment[] = [];
    for (const assignment of this.#open.values()) {
      if (due.length >= limit || assignment.at > before) break;
      due.push(assignment);
    }
    for (const { id } of due) this.#open.delete(id);
    return due;
  }

  clear(): void {
    this.#open.clear();
  }
}
