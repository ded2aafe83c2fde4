/** Whether a value is what its JSON says. */

/**
 * The first place where a value is not JSON, such as `/when is a Date`, or nothing when it is JSON
 * throughout. A field that is undefined is as good as one that is not there.
 *
 * @throws {RangeError} for a value that is nested deeper than the stack allows, or in itself.
 */
export function jsonFault(value: unknown, path = ''): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number' && Number.isFinite(value)) return undefined
  if (!isPlain(value)) return `${path === '' ? 'the value' : path} is ${kindOf(value)}`
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined && !Array.isArray(value)) continue
    const fault = jsonFault(member, `${path}/${key}`)
    if (fault !== undefined) return fault
  }
  return undefined
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}

function kindOf(value: unknown): string {
  if (typeof value === 'number' || value === undefined) return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  const name = Object.prototype.toString.call(value).slice('[object '.length, -1)
  return name === 'Object' ? 'an object of a class' : `a ${name}`
}
