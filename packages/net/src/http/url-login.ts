/** Separates a URL from its user name and password, which become the value of the header `authorization`. Pure. */
export function separateLogin(given: URL): {
  readonly url: URL
  readonly login: string | undefined
} {
  const url = new URL(given)
  url.username = ''
  url.password = ''
  if (given.username === '' && given.password === '') return { url, login: undefined }
  const pair = `${decodePart(given.username)}:${decodePart(given.password)}`
  return { url, login: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** Decodes the percent escapes of a part of a URL; a part with invalid escapes is returned unchanged. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
