/** Whether a value has to be waited for; what is there already is not, which saves a turn. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return value instanceof Promise
}
