/** A value, or a promise of it. A request that awaited existing values would take much longer. */
export type Awaitable<Value> = Value | Promise<Value>

/** Continues with a value: at once if it already exists. */
export function whenReady<Value, Next>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Next>,
): Awaitable<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Runs an action that may fail, at once or later. If it fails, `recover` gives the result. */
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
