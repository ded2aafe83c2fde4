/** Optional fields of records. */

/** Returns an object with one field, or without fields when the value is undefined. */
export function field<K extends string, V>(
  key: K,
  value: V,
): Partial<Record<K, Exclude<V, undefined>>> {
  if (value === undefined) return {}
  // NOTE: TypeScript widens a computed key to string.
  return { [key]: value } as Partial<Record<K, Exclude<V, undefined>>>
}
