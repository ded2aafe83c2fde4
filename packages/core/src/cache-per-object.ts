/**
 * Returns a function that computes its result once for each object and keeps it as long as the object exists. For values of
 * definitions, which never change, that every run needs.
 */
export function cachePerObject<Key extends WeakKey, Value extends object | string>(
  compute: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    const earlier = known.get(key)
    if (earlier !== undefined) return earlier
    const value = compute(key)
    known.set(key, value)
    return value
  }
}
