/** A value as text: itself, or its JSON; empty when it has none. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  // Not every value has JSON.
  const text: string | undefined = JSON.stringify(value)
  return text ?? ''
}
