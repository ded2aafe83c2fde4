/** Pure: the forms in which secrets are looked for. */

/** Shortest secret that is looked for. */
export const MIN_SECRET_LENGTH = 8

/** Every form of the secrets that are long enough, each once, the longest first. */
export function secretForms(secrets: Iterable<string>): readonly string[] {
  const forms = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue
    forms.add(secret)
    forms.add(JSON.stringify(secret).slice(1, -1))
    forms.add(secret.isWellFormed() ? encodeURIComponent(secret) : secret)
    for (const form of base64Forms(secret)) forms.add(form)
  }
  return [...forms].toSorted((a, b) => b.length - a.length)
}

/**
 * The characters that are the same whatever stands before and after the secret, for each of the three
 * places where it can begin within 3 bytes, in both alphabets.
 */
function base64Forms(secret: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
    const wholeBits = Math.floor((bytes.length * 8) / 6)
    const from = Math.ceil((offset * 8) / 6)
    return [
      bytes.toString('base64').slice(from, wholeBits),
      bytes.toString('base64url').slice(from, wholeBits),
    ]
  })
}
