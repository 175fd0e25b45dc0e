import fc, { type Arbitrary } from 'fast-check'

type Choice<Value> = readonly [weight: number, arbitrary: Arbitrary<Value>]

/** One of these, each as often as its weight says. A value of a later one can shrink to one of the first. */
export function weighted<Value>(...choices: readonly Choice<Value>[]): Arbitrary<Value> {
  const parts = choices.map(([weight, arbitrary]) => ({ weight, arbitrary }))
  return fc.oneof({ withCrossShrink: true }, ...parts)
}
