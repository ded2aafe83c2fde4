/** The variables in a task's text: `{name}` stands for an input, `{{name}}` is the text `{name}`. Pure. */

/** A piece of a text. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string }

const VARIABLE = /\{\{(\w+)\}\}|\{(\w+)\}/g

/** The pieces of a text, in order. */
export function templateParts(text: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = []
  let end = 0
  for (const match of text.matchAll(VARIABLE)) {
    const [whole, literal, name] = match
    if (match.index > end) parts.push({ kind: 'text', text: text.slice(end, match.index) })
    if (name === undefined) parts.push({ kind: 'text', text: `{${literal ?? ''}}` })
    else parts.push({ kind: 'variable', name })
    end = match.index + whole.length
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) })
  return parts
}

/** The names of the variables of some texts, each once, in order of appearance. */
export function variablesIn(...texts: readonly (string | undefined)[]): readonly string[] {
  const parts = texts.flatMap((text) => templateParts(text ?? ''))
  return [...new Set(parts.flatMap((part) => (part.kind === 'variable' ? part.name : [])))]
}
