type OptionalKey<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T]

/** An object type in which a member is optional instead of undefined. */
type WithoutUndefined<T> = Omit<T, OptionalKey<T>> & {
  [K in OptionalKey<T>]?: Exclude<T[K], undefined>
}

/** Returns an object without its undefined members. */
export function omitUndefined<T extends object>(value: T): WithoutUndefined<T> {
  const known = Object.entries(value).filter(([, member]) => member !== undefined)
  // NOTE: the type omits what the filter omits.
  return Object.fromEntries(known) as WithoutUndefined<T>
}
