/** What is there already, or will be. To wait for what is there costs a request more than most of what it waits for. */
export type Awaitable<Value> = Value | Promise<Value>

/** Goes on with a value: at once, where it is there. */
export function whenReady<Value, Next>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Next>,
): Awaitable<Next> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Does something that may fail, now or later, and goes on with `recover` if it does. */
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
