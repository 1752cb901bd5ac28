/** A binary heap that knows where its members stand, so that a member whose rank changed can be moved or taken out. */
export class IndexedHeap<T extends { heapIndex: number }> {
  readonly #items: T[] = [];
  readonly #before: (a: T, b: T) => boolean;

  /** Members not in the heap have `heapIndex` -1. */
  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  /** Puts it in, or moves it to where its rank now is. */
  place(item: T): void {
    if (item.heapIndex < 0) {
      item.heapIndex = this.#items.length;
      this.#items.push(item);
    }
    this.#up(item.heapIndex);
    this.#down(item.heapIndex);
  }

  remove(item: T): void {
    const index = item.heapIndex;
    if (index < 0) return;
    item.heapIndex = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#items[index] = last;
    last.heapIndex = index;
    this.#up(index);
    this.#down(last.heapIndex);
  }

  #up(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfBefore(index, parent)) return;
      index = parent;
    }
  }

  #down(start: number): void {
    let index = start;
    for (;;) {
      const left = 2 * index + 1;
      if (left >= this.#items.length) return;
      const right = left + 1;
      const child = right < this.#items.length && this.#before(this.#at(right), this.#at(left)) ? right : left;
      if (!this.#swapIfBefore(child, index)) return;
      index = child;
    }
  }

  #swapIfBefore(lower: number, upper: number): boolean {
    const a = this.#at(lower);
    const b = this.#at(upper);
    if (!this.#before(a, b)) return false;
    this.#items[upper] = a;
    this.#items[lower] = b;
    a.heapIndex = upper;
    b.heapIndex = lower;
    return true;
  }

  #at(index: number): T {
    return this.#items[index] as T;
  }
}
