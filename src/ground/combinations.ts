/** Every way to take one item of each list. Ways with the same first items follow one another. */
export function combinationsOf<Item>(lists: readonly (readonly Item[])[]): Item[][] {
  let combinations: Item[][] = [[]]
  for (const items of lists) combinations = combinations.flatMap((some) => items.map((item) => [...some, item]))
  return combinations
}
