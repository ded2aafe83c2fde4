/** Describes keywords of a schema that a provider does not accept. Pure. */

/** Returns the description with the keywords as words; undefined when there is neither. */
export function describeKeywords(
  description: unknown,
  keywords: Readonly<Record<string, unknown>>,
): string | undefined {
  const said = typeof description === 'string' ? [description] : []
  if (Object.keys(keywords).length > 0) said.push(`Must match ${JSON.stringify(keywords)}`)
  return said.length === 0 ? undefined : said.join('\n')
}
