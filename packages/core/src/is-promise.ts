/** Whether a value has to be awaited. Not awaiting an available value saves a microtask. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return value instanceof Promise
}
