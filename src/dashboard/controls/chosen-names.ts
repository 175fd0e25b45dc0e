/** Adds the name to the set, or removes it if the set has it. */
export function toggleName(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names)
  if (!next.delete(name)) next.add(name)
  return next
}
