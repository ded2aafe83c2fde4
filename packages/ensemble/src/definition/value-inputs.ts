/** Values as inputs of tasks: a text as it is, another value as JSON, and the fields that texts name. */
import { formatExactJson } from '@tutti/core/internal'
import { parseExactJson } from '@tutti/protocol/internal'

import type { Inputs } from './template.ts'

/** Returns the input `name` with the value, and one for each of `variables` that names a field of it, such as `item.title`. */
export function toValueInputs(name: string, value: unknown, variables: readonly string[]): Inputs {
  const inputs: Record<string, string> = { [name]: toInputText(value) }
  for (const variable of variables) {
    if (!variable.startsWith(`${name}.`)) continue
    const field = readPath(value, variable.slice(name.length + 1).split('.'))
    if (field !== undefined) inputs[variable] = toInputText(field)
  }
  return inputs
}

/** Returns the value of a JSON text; undefined for another text. */
export function readJsonText(text: string | undefined): unknown {
  try {
    return parseExactJson(text ?? '')
  } catch {
    return undefined
  }
}

/** Returns the value at a path of fields; undefined if there is none. */
export function readPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (within, name) =>
      typeof within === 'object' && within !== null && Object.hasOwn(within, name)
        ? Reflect.get(within, name)
        : undefined,
    value,
  )
}

/** Returns a copy of lists and plain objects, so that code which changes them changes nothing else; other values are the same. */
export function copyValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyValue)
  if (typeof value !== 'object' || value === null) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copyValue(one)]))
}

/** Returns a text as it is, and another value as JSON. */
export function toInputText(value: unknown): string {
  return typeof value === 'string' ? value : (formatExactJson(value) ?? '')
}
