/** Whether a text can match a schema, as far as the keywords at its top say. */
import type { TSchema } from '@tutti/core'

/** False only when no text can match; a `$ref` is not followed and counts as yes. */
export function allowsText(schema: TSchema | boolean): boolean {
  if (typeof schema === 'boolean') return schema
  // NOTE: what a keyword holds is looked at before it is used.
  const keywords = schema as Readonly<Record<string, unknown>>
  return (
    (!('type' in keywords) || [keywords['type']].flat().includes('string')) &&
    (!('const' in keywords) || typeof keywords['const'] === 'string') &&
    (listOf(keywords['enum'])?.some((value) => typeof value === 'string') ?? true) &&
    (listOf(keywords['anyOf'])?.some(memberAllowsText) ?? true) &&
    (listOf(keywords['oneOf'])?.some(memberAllowsText) ?? true) &&
    (listOf(keywords['allOf'])?.every(memberAllowsText) ?? true)
  )
}

function memberAllowsText(member: unknown): boolean {
  const isSchema = typeof member === 'boolean' || (typeof member === 'object' && member !== null)
  return !isSchema || allowsText(member)
}

function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}
