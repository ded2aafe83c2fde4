/** What a reviewer reads before a request is made. */
import type { UrlTemplate } from './url-template.ts'

/** Characters of the input that are shown, as in AgentEnsemble. */
const SHOWN_INPUT_LENGTH = 200

/** The method, the URL without its query, which may hold a key, and the start of the input. */
export function describeRequest(
  { method, template }: { readonly method: string; readonly template: UrlTemplate },
  input: unknown,
): string {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  const shown =
    text.length > SHOWN_INPUT_LENGTH
      ? `${text.slice(0, SHOWN_INPUT_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}…`
      : text
  return `HTTP ${method} ${template.shown}\n${method === 'GET' ? 'Input' : 'Body'}: ${shown}`
}
