/** Something that is found by a product and an id. */
interface Named {
  readonly productId: string;
  readonly id: string;
}

/**
 * Finds by (product, id). A Map per product, so that no key has to be glued together and kept; the first product, which
 * is the only one of most players, is found without a Map of products.
 */
export class Directory<T> {
  private firstProduct: string | undefined = undefined;
  private readonly first = new Map<string, T>();
  private others: Map<string, Map<string, T>> | undefined = undefined;

  get(productId: string, id: string): T | undefined {
    if (productId === this.firstProduct) return this.first.get(id);
    return this.others?.get(productId)?.get(id);
  }

  set({ productId, id }: Named, item: T): void {
    this.firstProduct ??= productId;
    if (productId === this.firstProduct) this.first.set(id, item);
    else this.ofOther(productId).set(id, item);
  }

  delete({ productId, id }: Named): void {
    if (productId === this.firstProduct) {
      this.first.delete(id);
      return;
    }
    const items = this.others?.get(productId);
    items?.delete(id);
    if (items?.size === 0) this.others?.delete(productId);
  }

  private ofOther(productId: string): Map<string, T> {
    this.others ??= new Map();
    let items = this.others.get(productId);
    if (items === undefined) {
      items = new Map();
      this.others.set(productId, items);
    }
    return items;
  }
}
