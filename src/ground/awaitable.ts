/** A value, or a promise of it. A request that awaited values that are there already would take much longer. */
export type Awaitable<Value> = Value | Promise<Value>

/** Continues with a value: at once if it is there already. */
export function whenReady<Value, Next>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Next>,
): Awaitable<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Does something that may fail, at once or later. If it fails, `recover` decides the result. */
export function attempt<Value>(
  act: () => Awaitable<Value>,
  recover: (error: unknown) => Awaitable<Value>,
): Awaitable<Value> {
  try {
    const value = act()
    return value instanceof Promise ? value.catch(recover) : value
  } catch (error) {
    return recover(error)
  }
}
