/** A value, or a promise of it. A request that awaited existing values would take much longer. */
export type Awaitable<Value> = Value | Promise<Value>

/**
 * Continues with a value: at once if it already exists. `next` also gets `context`, so that one function can serve all
 * requests: functions that are made for each request are work for the garbage collector.
 */
export function whenReady<Value, Next, Context = undefined>(
  value: Awaitable<Value>,
  next: (value: Value, context: Context) => Awaitable<Next>,
  context?: Context,
): Awaitable<Next> {
  const given = context as Context
  return value instanceof Promise ? value.then((late) => next(late, given)) : next(value, given)
}
