/** Checks whether a string can match a schema, from its top-level keywords. */
import type { TSchema } from '@tutti/core'

/** Returns false only when no string can match. A `$ref` is not followed, and counts as a match. */
export function allowsText(schema: TSchema | boolean): boolean {
  if (typeof schema === 'boolean') return schema
  // NOTE: the values of keywords are checked before use.
  const keywords = schema as Readonly<Record<string, unknown>>
  return (
    (!('type' in keywords) || [keywords['type']].flat().includes('string')) &&
    (!('const' in keywords) || typeof keywords['const'] === 'string') &&
    (asList(keywords['enum'])?.some((value) => typeof value === 'string') ?? true) &&
    (asList(keywords['anyOf'])?.some(memberAllowsText) ?? true) &&
    (asList(keywords['oneOf'])?.some(memberAllowsText) ?? true) &&
    (asList(keywords['allOf'])?.every(memberAllowsText) ?? true)
  )
}

function memberAllowsText(member: unknown): boolean {
  const isSchema = typeof member === 'boolean' || (typeof member === 'object' && member !== null)
  return !isSchema || allowsText(member)
}

function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}
