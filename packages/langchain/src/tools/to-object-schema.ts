/**
 * Converts input schemas to objects at their root. OpenAI, Anthropic and Gemini all reject a tool whose schema has
 * a choice there (`anyOf`, `oneOf`, `allOf`), which is how TypeBox and zod express a union of objects. Pure.
 *
 * The object has the properties of all forms and requires those that every form requires. The tool still validates
 * its input against its own schema, so an input that mixes forms is rejected there, with the problem named.
 */

type Schema = Readonly<Record<string, unknown>>

/** A schema for the provider, and an addition to its description. */
export interface LangchainObjectSchema {
  readonly schema: object
  /** Description of the forms; absent when the schema is complete. */
  readonly note?: string
}

/** Returns the schema with an object at its root; undefined when a form is not an object. */
export function toObjectSchema(given: object): LangchainObjectSchema | undefined {
  const { anyOf, oneOf, allOf, ...rest }: Schema = { ...given }
  const choice = asList(anyOf) ?? asList(oneOf)
  if (choice === undefined && allOf === undefined) return { schema: given }
  const base = rest['type'] === 'object' || rest['properties'] !== undefined ? [rest] : []
  const parts = [...base, ...(asList(allOf) ?? [])].map(asObject)
  const forms = (choice ?? []).map(asObject)
  if (![...parts, ...forms].every((form) => form !== undefined)) return undefined
  const required = [...parts.flatMap(readRequired), ...requiredByAll(forms)]
  const { properties: _properties, required: _required, type: _type, ...others } = rest
  const schema = {
    ...others,
    type: 'object',
    properties: mergeForms([...parts, ...forms]),
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
  }
  if (forms.length < 2) return { schema }
  const words = forms.map((form) => `(${Object.keys(readProperties(form)).join(', ')})`)
  return { schema, note: `Give the properties of one of these forms: ${words.join(' or ')}.` }
}

/** Returns the object of a form, with its own choices resolved. */
function asObject(form: unknown): Schema | undefined {
  if (!isSchema(form)) return undefined
  const resolved: Schema | undefined = ['anyOf', 'oneOf', 'allOf'].some((key) => key in form)
    ? { ...toObjectSchema(form)?.schema }
    : form
  return resolved['type'] === 'object' ? resolved : undefined
}

/** Merges all properties; one that forms describe differently may have either form. */
function mergeForms(forms: readonly (Schema | undefined)[]): Schema {
  const found = new Map<string, unknown[]>()
  for (const form of forms) {
    for (const [name, schema] of Object.entries(readProperties(form))) {
      const known = found.get(name) ?? []
      const text = JSON.stringify(schema)
      if (!known.some((one) => JSON.stringify(one) === text)) known.push(schema)
      found.set(name, known)
    }
  }
  return Object.fromEntries(
    [...found].map(([name, schemas]) => [
      name,
      schemas.length === 1 ? schemas[0] : { anyOf: schemas },
    ]),
  )
}

function requiredByAll(forms: readonly (Schema | undefined)[]): readonly string[] {
  const [first, ...others] = forms
  return readRequired(first).filter((name) =>
    others.every((form) => readRequired(form).includes(name)),
  )
}

function readRequired(form: Schema | undefined): readonly string[] {
  const required = form?.['required']
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

function readProperties(form: Schema | undefined): Schema {
  const properties = form?.['properties']
  return isSchema(properties) ? properties : {}
}

function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
