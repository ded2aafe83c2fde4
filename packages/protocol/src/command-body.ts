/** Reads the body of a command that a person typed. */
import { commandEntry, type CommandBody, type RunCommandKind } from './commands.ts'
import { decode, type Decoded } from './decode.ts'

/**
 * Reads the body of a command from texts by field: a text field as it is, every other field from its JSON. Fields that
 * the command does not have are ignored, as are empty texts.
 */
export function readCommandBody<K extends RunCommandKind>(
  kind: K,
  texts: Readonly<Record<string, unknown>>,
): Decoded<CommandBody<K>> {
  const { body } = commandEntry(kind).route
  const fields: Readonly<Record<string, object>> = body.properties
  const values = Object.entries(fields).flatMap(([name, schema]) => {
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined
    return text === undefined || text === '' ? [] : [[name, readField(schema, text)] as const]
  })
  return decode(body, Object.fromEntries(values))
}

function readField(schema: object, text: unknown): unknown {
  const isText = 'enum' in schema || ('type' in schema && schema.type === 'string')
  if (isText || typeof text !== 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    // The schema reports it.
    return text
  }
}
