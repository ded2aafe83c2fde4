/** What a reviewer reads before a request is made. */
import { startOfInput } from '@tutti/core'

import type { UrlTemplate } from './url-template.ts'

/** The method, the URL without its query, which may hold a key, and the start of the input. */
export function describeRequest(
  { method, template }: { readonly method: string; readonly template: UrlTemplate },
  input: unknown,
): string {
  return `HTTP ${method} ${template.shown}\n${method === 'GET' ? 'Input' : 'Body'}: ${startOfInput(input)}`
}
